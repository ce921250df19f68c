// SPDX-License-Identifier: Apache-2.0
//
// What libnvidia-ml-sim.so exports: each function of driver.h under the driver's name. Here alone
// is known what a call's arguments are, so this is where a fault leaves its garbage in them.
#include <cstddef>
#include <tuple>

#include "device/sim/library/driver.h"
#include "device/sim/library/garbled_arguments.h"
#include "device/sim/library/library.h"

using everywatt::nvml::abi::Return;
namespace driver = everywatt::sim::driver;

namespace {

template <typename Function>
struct Arguments;
template <typename... Args>
struct Arguments<Return(Args...)> {
  using Tuple = std::tuple<Args...>;
};
template <typename Function, std::size_t kPlace>
using Argument = std::tuple_element_t<kPlace, typename Arguments<Function>::Tuple>;

template <typename... Args>
Return run(Return (*function)(Args...), Args... arguments) {
  const Return code = function(arguments...);
  if (const auto pending = everywatt::sim::take_pending_garbage()) {
    everywatt::sim::garble(*pending, arguments...);
  }
  return code;
}

}  // namespace

#define ARGUMENT(name, place) Argument<decltype(driver::name), place>
#define EXPORT_0(name)        \
  Return name() {             \
    return run(driver::name); \
  }
#define EXPORT_1(name)               \
  Return name(ARGUMENT(name, 0) a) { \
    return run(driver::name, a);     \
  }
#define EXPORT_2(name)                                    \
  Return name(ARGUMENT(name, 0) a, ARGUMENT(name, 1) b) { \
    return run(driver::name, a, b);                       \
  }
#define EXPORT_3(name)                                                         \
  Return name(ARGUMENT(name, 0) a, ARGUMENT(name, 1) b, ARGUMENT(name, 2) c) { \
    return run(driver::name, a, b, c);                                         \
  }
#define EXPORT_4(name)                                                       \
  Return name(ARGUMENT(name, 0) a, ARGUMENT(name, 1) b, ARGUMENT(name, 2) c, \
              ARGUMENT(name, 3) d) {                                         \
    return run(driver::name, a, b, c, d);                                    \
  }
#define EXPORT_5(name)                                                                            \
  Return name(ARGUMENT(name, 0) a, ARGUMENT(name, 1) b, ARGUMENT(name, 2) c, ARGUMENT(name, 3) d, \
              ARGUMENT(name, 4) e) {                                                              \
    return run(driver::name, a, b, c, d, e);                                                      \
  }
#define EXPORT_6(name)                                                                            \
  Return name(ARGUMENT(name, 0) a, ARGUMENT(name, 1) b, ARGUMENT(name, 2) c, ARGUMENT(name, 3) d, \
              ARGUMENT(name, 4) e, ARGUMENT(name, 5) f) {                                         \
    return run(driver::name, a, b, c, d, e, f);                                                   \
  }

#pragma GCC visibility push(default)
extern "C" {
EXPORT_3(nvmlDeviceGetApplicationsClock)
EXPORT_2(nvmlDeviceGetArchitecture)
EXPORT_2(nvmlDeviceGetAttributes)
EXPORT_2(nvmlDeviceGetAttributes_v2)
EXPORT_2(nvmlDeviceGetBAR1MemoryInfo)
EXPORT_2(nvmlDeviceGetBoardId)
EXPORT_3(nvmlDeviceGetBoardPartNumber)
EXPORT_2(nvmlDeviceGetBrand)
EXPORT_4(nvmlDeviceGetClock)
EXPORT_3(nvmlDeviceGetClockInfo)
EXPORT_2(nvmlDeviceGetComputeInstanceId)
EXPORT_2(nvmlDeviceGetComputeMode)
EXPORT_3(nvmlDeviceGetComputeRunningProcesses)
EXPORT_3(nvmlDeviceGetComputeRunningProcesses_v2)
EXPORT_3(nvmlDeviceGetComputeRunningProcesses_v3)
EXPORT_1(nvmlDeviceGetCount)
EXPORT_1(nvmlDeviceGetCount_v2)
EXPORT_3(nvmlDeviceGetCpuAffinity)
EXPORT_3(nvmlDeviceGetCudaComputeCapability)
EXPORT_2(nvmlDeviceGetCurrPcieLinkGeneration)
EXPORT_2(nvmlDeviceGetCurrPcieLinkWidth)
EXPORT_2(nvmlDeviceGetCurrentClocksEventReasons)
EXPORT_2(nvmlDeviceGetCurrentClocksThrottleReasons)
EXPORT_3(nvmlDeviceGetDecoderUtilization)
EXPORT_3(nvmlDeviceGetDefaultApplicationsClock)
EXPORT_4(nvmlDeviceGetDetailedEccErrors)
EXPORT_2(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)
EXPORT_2(nvmlDeviceGetDisplayActive)
EXPORT_2(nvmlDeviceGetDisplayMode)
EXPORT_3(nvmlDeviceGetEccMode)
EXPORT_3(nvmlDeviceGetEncoderUtilization)
EXPORT_2(nvmlDeviceGetEnforcedPowerLimit)
EXPORT_2(nvmlDeviceGetFanSpeed)
EXPORT_3(nvmlDeviceGetFanSpeed_v2)
EXPORT_3(nvmlDeviceGetFieldValues)
EXPORT_2(nvmlDeviceGetGpuInstanceId)
EXPORT_2(nvmlDeviceGetGpuMaxPcieLinkGeneration)
EXPORT_3(nvmlDeviceGetGraphicsRunningProcesses)
EXPORT_3(nvmlDeviceGetGraphicsRunningProcesses_v2)
EXPORT_3(nvmlDeviceGetGraphicsRunningProcesses_v3)
EXPORT_2(nvmlDeviceGetGspFirmwareVersion)
EXPORT_2(nvmlDeviceGetHandleByIndex)
EXPORT_2(nvmlDeviceGetHandleByIndex_v2)
EXPORT_2(nvmlDeviceGetHandleByPciBusId)
EXPORT_2(nvmlDeviceGetHandleByPciBusId_v2)
EXPORT_2(nvmlDeviceGetHandleBySerial)
EXPORT_2(nvmlDeviceGetHandleByUUID)
EXPORT_2(nvmlDeviceGetIndex)
EXPORT_3(nvmlDeviceGetInforomImageVersion)
EXPORT_3(nvmlDeviceGetJpgUtilization)
EXPORT_3(nvmlDeviceGetMPSComputeRunningProcesses)
EXPORT_3(nvmlDeviceGetMPSComputeRunningProcesses_v2)
EXPORT_3(nvmlDeviceGetMPSComputeRunningProcesses_v3)
EXPORT_2(nvmlDeviceGetMarginTemperature)
EXPORT_3(nvmlDeviceGetMaxClockInfo)
EXPORT_2(nvmlDeviceGetMaxMigDeviceCount)
EXPORT_2(nvmlDeviceGetMaxPcieLinkGeneration)
EXPORT_2(nvmlDeviceGetMaxPcieLinkWidth)
EXPORT_4(nvmlDeviceGetMemoryAffinity)
EXPORT_2(nvmlDeviceGetMemoryBusWidth)
EXPORT_5(nvmlDeviceGetMemoryErrorCounter)
EXPORT_2(nvmlDeviceGetMemoryInfo)
EXPORT_2(nvmlDeviceGetMemoryInfo_v2)
EXPORT_3(nvmlDeviceGetMigDeviceHandleByIndex)
EXPORT_3(nvmlDeviceGetMigMode)
EXPORT_2(nvmlDeviceGetMinorNumber)
EXPORT_2(nvmlDeviceGetModuleId)
EXPORT_2(nvmlDeviceGetMultiGpuBoard)
EXPORT_3(nvmlDeviceGetName)
EXPORT_2(nvmlDeviceGetNumFans)
EXPORT_2(nvmlDeviceGetNumGpuCores)
EXPORT_2(nvmlDeviceGetNumaNodeId)
EXPORT_4(nvmlDeviceGetNvLinkCapability)
EXPORT_4(nvmlDeviceGetNvLinkErrorCounter)
EXPORT_3(nvmlDeviceGetNvLinkRemoteDeviceType)
EXPORT_3(nvmlDeviceGetNvLinkRemotePciInfo)
EXPORT_3(nvmlDeviceGetNvLinkRemotePciInfo_v2)
EXPORT_3(nvmlDeviceGetNvLinkState)
EXPORT_3(nvmlDeviceGetNvLinkVersion)
EXPORT_3(nvmlDeviceGetOfaUtilization)
EXPORT_4(nvmlDeviceGetP2PStatus)
EXPORT_2(nvmlDeviceGetPciInfo)
EXPORT_2(nvmlDeviceGetPciInfo_v2)
EXPORT_2(nvmlDeviceGetPciInfo_v3)
EXPORT_2(nvmlDeviceGetPcieReplayCounter)
EXPORT_2(nvmlDeviceGetPcieSpeed)
EXPORT_3(nvmlDeviceGetPcieThroughput)
EXPORT_2(nvmlDeviceGetPerformanceState)
EXPORT_2(nvmlDeviceGetPersistenceMode)
EXPORT_2(nvmlDeviceGetPowerManagementDefaultLimit)
EXPORT_2(nvmlDeviceGetPowerManagementLimit)
EXPORT_3(nvmlDeviceGetPowerManagementLimitConstraints)
EXPORT_2(nvmlDeviceGetPowerManagementMode)
EXPORT_2(nvmlDeviceGetPowerState)
EXPORT_2(nvmlDeviceGetPowerUsage)
EXPORT_4(nvmlDeviceGetProcessUtilization)
EXPORT_2(nvmlDeviceGetProcessesUtilizationInfo)
EXPORT_5(nvmlDeviceGetRemappedRows)
EXPORT_4(nvmlDeviceGetRetiredPages)
EXPORT_2(nvmlDeviceGetRetiredPagesPendingStatus)
EXPORT_5(nvmlDeviceGetRetiredPages_v2)
EXPORT_2(nvmlDeviceGetRowRemapperHistogram)
EXPORT_6(nvmlDeviceGetSamples)
EXPORT_3(nvmlDeviceGetSerial)
EXPORT_2(nvmlDeviceGetSramEccErrorStatus)
EXPORT_2(nvmlDeviceGetSupportedClocksEventReasons)
EXPORT_2(nvmlDeviceGetSupportedClocksThrottleReasons)
EXPORT_2(nvmlDeviceGetSupportedEventTypes)
EXPORT_3(nvmlDeviceGetTemperature)
EXPORT_3(nvmlDeviceGetTemperatureThreshold)
EXPORT_2(nvmlDeviceGetTemperatureV)
EXPORT_3(nvmlDeviceGetTopologyCommonAncestor)
EXPORT_4(nvmlDeviceGetTotalEccErrors)
EXPORT_2(nvmlDeviceGetTotalEnergyConsumption)
EXPORT_3(nvmlDeviceGetUUID)
EXPORT_2(nvmlDeviceGetUtilizationRates)
EXPORT_3(nvmlDeviceGetVbiosVersion)
EXPORT_3(nvmlDeviceGetViolationStatus)
EXPORT_2(nvmlDeviceGetVirtualizationMode)
EXPORT_2(nvmlDeviceIsMigDeviceHandle)
EXPORT_3(nvmlDeviceRegisterEvents)
EXPORT_1(nvmlEventSetCreate)
EXPORT_1(nvmlEventSetFree)
EXPORT_3(nvmlEventSetWait)
EXPORT_3(nvmlEventSetWait_v2)
EXPORT_1(nvmlGpmMetricsGet)
EXPORT_3(nvmlGpmMigSampleGet)
EXPORT_2(nvmlGpmQueryDeviceSupport)
EXPORT_1(nvmlGpmSampleAlloc)
EXPORT_1(nvmlGpmSampleFree)
EXPORT_2(nvmlGpmSampleGet)
EXPORT_0(nvmlInit)
EXPORT_1(nvmlInitWithFlags)
EXPORT_0(nvmlInit_v2)
EXPORT_0(nvmlShutdown)
EXPORT_1(nvmlSystemGetCudaDriverVersion)
EXPORT_1(nvmlSystemGetCudaDriverVersion_v2)
EXPORT_2(nvmlSystemGetDriverVersion)
EXPORT_2(nvmlSystemGetNVMLVersion)
EXPORT_3(nvmlSystemGetProcessName)

const char* nvmlErrorString(Return code) {
  return driver::nvmlErrorString(code);
}
}
#pragma GCC visibility pop
