// SPDX-License-Identifier: Apache-2.0
//
// The functions of the NVML interface that Everywatt loads and the simulation exports. Included by
// abi.h.
//
// Lists (processes, samples, pages) take their room in *count and return kInsufficientSize with the
// number needed; a null array or *count = 0 asks for the number alone.
#pragma once

#include "device/nvml/abi.h"

namespace everywatt::nvml::abi {

using TextOf = Return(Device, char* text, unsigned length);
using NumberOf = Return(Device, unsigned*);
using MaskOf = Return(Device, unsigned long long*);
using PercentAndPeriodOf = Return(Device, unsigned* percent, unsigned* sampling_period_us);
using ProcessListOf = Return(Device, unsigned* count, ProcessInfo*);
using ProcessListV1Of = Return(Device, unsigned* count, ProcessInfoV1*);
using SystemText = Return(char* text, unsigned length);

// The library and the system.
inline constexpr Function<Return()> kInit{{"nvmlInit_v2", "nvmlInit"}};
inline constexpr Function<Return(unsigned flags)> kInitWithFlags{{"nvmlInitWithFlags"}};
inline constexpr Function<Return()> kShutdown{{"nvmlShutdown"}};
inline constexpr Function<const char*(Return)> kErrorString{{"nvmlErrorString"}};
inline constexpr Function<SystemText> kSystemGetDriverVersion{{"nvmlSystemGetDriverVersion"}};
inline constexpr Function<SystemText> kSystemGetNvmlVersion{{"nvmlSystemGetNVMLVersion"}};
inline constexpr Function<Return(int*)> kSystemGetCudaDriverVersion{
    {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}};
inline constexpr Function<Return(unsigned pid, char* name, unsigned length)> kSystemGetProcessName{
    {"nvmlSystemGetProcessName"}};

// Handles.
inline constexpr Function<Return(unsigned*)> kDeviceGetCount{
    {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}};
inline constexpr Function<Return(unsigned, Device*)> kDeviceGetHandleByIndex{
    {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}};
inline constexpr Function<Return(const char*, Device*)> kDeviceGetHandleByPciBusId{
    {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"}};
inline constexpr Function<Return(const char*, Device*)> kDeviceGetHandleByUuid{
    {"nvmlDeviceGetHandleByUUID"}};
inline constexpr Function<Return(const char*, Device*)> kDeviceGetHandleBySerial{
    {"nvmlDeviceGetHandleBySerial"}};

// Identity.
inline constexpr Function<TextOf> kDeviceGetName{{"nvmlDeviceGetName"}};
inline constexpr Function<TextOf> kDeviceGetUuid{{"nvmlDeviceGetUUID"}};
inline constexpr Function<TextOf> kDeviceGetSerial{{"nvmlDeviceGetSerial"}};
inline constexpr Function<TextOf> kDeviceGetVbiosVersion{{"nvmlDeviceGetVbiosVersion"}};
inline constexpr Function<TextOf> kDeviceGetBoardPartNumber{{"nvmlDeviceGetBoardPartNumber"}};
inline constexpr Function<TextOf> kDeviceGetInforomImageVersion{
    {"nvmlDeviceGetInforomImageVersion"}};
inline constexpr Function<Return(Device, char*)> kDeviceGetGspFirmwareVersion{
    {"nvmlDeviceGetGspFirmwareVersion"}};
inline constexpr Function<Return(Device, PciInfo*)> kDeviceGetPciInfo{
    {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}};
inline constexpr Function<NumberOf> kDeviceGetIndex{{"nvmlDeviceGetIndex"}};
inline constexpr Function<NumberOf> kDeviceGetMinorNumber{{"nvmlDeviceGetMinorNumber"}};
inline constexpr Function<NumberOf> kDeviceGetBoardId{{"nvmlDeviceGetBoardId"}};
inline constexpr Function<NumberOf> kDeviceGetMultiGpuBoard{{"nvmlDeviceGetMultiGpuBoard"}};
inline constexpr Function<NumberOf> kDeviceGetModuleId{{"nvmlDeviceGetModuleId"}};
inline constexpr Function<NumberOf> kDeviceGetBrand{{"nvmlDeviceGetBrand"}};
inline constexpr Function<NumberOf> kDeviceGetArchitecture{{"nvmlDeviceGetArchitecture"}};
inline constexpr Function<Return(Device, int* major, int* minor)> kDeviceGetCudaComputeCapability{
    {"nvmlDeviceGetCudaComputeCapability"}};
inline constexpr Function<NumberOf> kDeviceGetNumGpuCores{{"nvmlDeviceGetNumGpuCores"}};
inline constexpr Function<NumberOf> kDeviceGetMemoryBusWidth{{"nvmlDeviceGetMemoryBusWidth"}};
inline constexpr Function<NumberOf> kDeviceGetNumaNodeId{{"nvmlDeviceGetNumaNodeId"}};
inline constexpr Function<NumberOf> kDeviceGetPersistenceMode{{"nvmlDeviceGetPersistenceMode"}};
inline constexpr Function<NumberOf> kDeviceGetComputeMode{{"nvmlDeviceGetComputeMode"}};
inline constexpr Function<NumberOf> kDeviceGetDisplayMode{{"nvmlDeviceGetDisplayMode"}};
inline constexpr Function<NumberOf> kDeviceGetDisplayActive{{"nvmlDeviceGetDisplayActive"}};
inline constexpr Function<NumberOf> kDeviceGetVirtualizationMode{
    {"nvmlDeviceGetVirtualizationMode"}};
inline constexpr Function<Return(Device, unsigned* current, unsigned* pending)> kDeviceGetEccMode{
    {"nvmlDeviceGetEccMode"}};
inline constexpr Function<Return(Device, unsigned* current, unsigned* pending)> kDeviceGetMigMode{
    {"nvmlDeviceGetMigMode"}};

// Activity.
inline constexpr Function<Return(Device, Utilization*)> kDeviceGetUtilizationRates{
    {"nvmlDeviceGetUtilizationRates"}};
inline constexpr Function<PercentAndPeriodOf> kDeviceGetEncoderUtilization{
    {"nvmlDeviceGetEncoderUtilization"}};
inline constexpr Function<PercentAndPeriodOf> kDeviceGetDecoderUtilization{
    {"nvmlDeviceGetDecoderUtilization"}};
inline constexpr Function<PercentAndPeriodOf> kDeviceGetJpgUtilization{
    {"nvmlDeviceGetJpgUtilization"}};
inline constexpr Function<PercentAndPeriodOf> kDeviceGetOfaUtilization{
    {"nvmlDeviceGetOfaUtilization"}};
inline constexpr Function<Return(Device, Selector sampling, unsigned long long since_us, ValueType*,
                                 unsigned* count, Sample*)>
    kDeviceGetSamples{{"nvmlDeviceGetSamples"}};
inline constexpr Function<Return(Device, int count, FieldValue*)> kDeviceGetFieldValues{
    {"nvmlDeviceGetFieldValues"}};

// Memory.
inline constexpr Function<Return(Device, MemoryV2*)> kDeviceGetMemoryInfoV2{
    {"nvmlDeviceGetMemoryInfo_v2"}};
inline constexpr Function<Return(Device, Memory*)> kDeviceGetMemoryInfo{
    {"nvmlDeviceGetMemoryInfo"}};
inline constexpr Function<Return(Device, Bar1Memory*)> kDeviceGetBar1MemoryInfo{
    {"nvmlDeviceGetBAR1MemoryInfo"}};

// Power (mW) and energy (mJ).
inline constexpr Function<NumberOf> kDeviceGetPowerUsage{{"nvmlDeviceGetPowerUsage"}};
inline constexpr Function<NumberOf> kDeviceGetEnforcedPowerLimit{
    {"nvmlDeviceGetEnforcedPowerLimit"}};
inline constexpr Function<NumberOf> kDeviceGetPowerManagementMode{
    {"nvmlDeviceGetPowerManagementMode"}};
inline constexpr Function<NumberOf> kDeviceGetPowerManagementLimit{
    {"nvmlDeviceGetPowerManagementLimit"}};
inline constexpr Function<NumberOf> kDeviceGetPowerManagementDefaultLimit{
    {"nvmlDeviceGetPowerManagementDefaultLimit"}};
inline constexpr Function<Return(Device, unsigned* min, unsigned* max)>
    kDeviceGetPowerManagementLimitConstraints{{"nvmlDeviceGetPowerManagementLimitConstraints"}};
inline constexpr Function<MaskOf> kDeviceGetTotalEnergyConsumption{
    {"nvmlDeviceGetTotalEnergyConsumption"}};

// Heat.
inline constexpr Function<Return(Device, Temperature*)> kDeviceGetTemperatureV{
    {"nvmlDeviceGetTemperatureV"}};
inline constexpr Function<Return(Device, Selector sensor, unsigned*)> kDeviceGetTemperature{
    {"nvmlDeviceGetTemperature"}};
inline constexpr Function<Return(Device, Selector threshold, unsigned*)>
    kDeviceGetTemperatureThreshold{{"nvmlDeviceGetTemperatureThreshold"}};
inline constexpr Function<Return(Device, MarginTemperature*)> kDeviceGetMarginTemperature{
    {"nvmlDeviceGetMarginTemperature"}};
inline constexpr Function<NumberOf> kDeviceGetNumFans{{"nvmlDeviceGetNumFans"}};
inline constexpr Function<Return(Device, unsigned fan, unsigned*)> kDeviceGetFanSpeedV2{
    {"nvmlDeviceGetFanSpeed_v2"}};
inline constexpr Function<NumberOf> kDeviceGetFanSpeed{{"nvmlDeviceGetFanSpeed"}};

// Clocks (MHz), performance state and what holds them down.
inline constexpr Function<Return(Device, Selector clock, unsigned*)> kDeviceGetClockInfo{
    {"nvmlDeviceGetClockInfo"}};
inline constexpr Function<Return(Device, Selector clock, unsigned*)> kDeviceGetMaxClockInfo{
    {"nvmlDeviceGetMaxClockInfo"}};
inline constexpr Function<Return(Device, Selector clock, unsigned*)> kDeviceGetApplicationsClock{
    {"nvmlDeviceGetApplicationsClock"}};
inline constexpr Function<Return(Device, Selector clock, unsigned*)>
    kDeviceGetDefaultApplicationsClock{{"nvmlDeviceGetDefaultApplicationsClock"}};
inline constexpr Function<Return(Device, Selector clock, Selector clock_id, unsigned*)>
    kDeviceGetClock{{"nvmlDeviceGetClock"}};
inline constexpr Function<MaskOf> kDeviceGetCurrentClocksEventReasons{
    {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}};
inline constexpr Function<MaskOf> kDeviceGetSupportedClocksEventReasons{
    {"nvmlDeviceGetSupportedClocksEventReasons", "nvmlDeviceGetSupportedClocksThrottleReasons"}};
inline constexpr Function<Return(Device, int*)> kDeviceGetPerformanceState{
    {"nvmlDeviceGetPerformanceState", "nvmlDeviceGetPowerState"}};
inline constexpr Function<Return(Device, Selector policy, ViolationTime*)>
    kDeviceGetViolationStatus{{"nvmlDeviceGetViolationStatus"}};

// PCIe.
inline constexpr Function<NumberOf> kDeviceGetCurrPcieLinkGeneration{
    {"nvmlDeviceGetCurrPcieLinkGeneration"}};
inline constexpr Function<NumberOf> kDeviceGetMaxPcieLinkGeneration{
    {"nvmlDeviceGetMaxPcieLinkGeneration"}};
inline constexpr Function<NumberOf> kDeviceGetGpuMaxPcieLinkGeneration{
    {"nvmlDeviceGetGpuMaxPcieLinkGeneration"}};
inline constexpr Function<NumberOf> kDeviceGetCurrPcieLinkWidth{{"nvmlDeviceGetCurrPcieLinkWidth"}};
inline constexpr Function<NumberOf> kDeviceGetMaxPcieLinkWidth{{"nvmlDeviceGetMaxPcieLinkWidth"}};
inline constexpr Function<NumberOf> kDeviceGetPcieSpeed{{"nvmlDeviceGetPcieSpeed"}};
inline constexpr Function<NumberOf> kDeviceGetPcieReplayCounter{{"nvmlDeviceGetPcieReplayCounter"}};
inline constexpr Function<Return(Device, Selector counter, unsigned* kib_per_s)>
    kDeviceGetPcieThroughput{{"nvmlDeviceGetPcieThroughput"}};

// NVLink and topology.
inline constexpr Function<Return(Device, unsigned link, unsigned*)> kDeviceGetNvLinkState{
    {"nvmlDeviceGetNvLinkState"}};
inline constexpr Function<Return(Device, unsigned link, unsigned*)> kDeviceGetNvLinkVersion{
    {"nvmlDeviceGetNvLinkVersion"}};
inline constexpr Function<Return(Device, unsigned link, Selector capability, unsigned*)>
    kDeviceGetNvLinkCapability{{"nvmlDeviceGetNvLinkCapability"}};
inline constexpr Function<Return(Device, unsigned link, PciInfo*)> kDeviceGetNvLinkRemotePciInfo{
    {"nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo"}};
inline constexpr Function<Return(Device, unsigned link, unsigned*)>
    kDeviceGetNvLinkRemoteDeviceType{{"nvmlDeviceGetNvLinkRemoteDeviceType"}};
inline constexpr Function<Return(Device, unsigned link, Selector error, unsigned long long*)>
    kDeviceGetNvLinkErrorCounter{{"nvmlDeviceGetNvLinkErrorCounter"}};
inline constexpr Function<Return(Device, Device, unsigned* level)> kDeviceGetTopologyCommonAncestor{
    {"nvmlDeviceGetTopologyCommonAncestor"}};
inline constexpr Function<Return(Device, Device, Selector caps, unsigned* status)>
    kDeviceGetP2pStatus{{"nvmlDeviceGetP2PStatus"}};
inline constexpr Function<Return(Device, unsigned words, unsigned long* set)> kDeviceGetCpuAffinity{
    {"nvmlDeviceGetCpuAffinity"}};
inline constexpr Function<Return(Device, unsigned words, unsigned long* set, Selector scope)>
    kDeviceGetMemoryAffinity{{"nvmlDeviceGetMemoryAffinity"}};

// Memory errors.
inline constexpr Function<Return(Device, Selector error, Selector counter, unsigned long long*)>
    kDeviceGetTotalEccErrors{{"nvmlDeviceGetTotalEccErrors"}};
inline constexpr Function<Return(Device, Selector error, Selector counter, Selector location,
                                 unsigned long long*)>
    kDeviceGetMemoryErrorCounter{{"nvmlDeviceGetMemoryErrorCounter"}};
inline constexpr Function<Return(Device, Selector error, Selector counter, EccErrorCounts*)>
    kDeviceGetDetailedEccErrors{{"nvmlDeviceGetDetailedEccErrors"}};
inline constexpr Function<Return(Device, EccSramErrorStatus*)> kDeviceGetSramEccErrorStatus{
    {"nvmlDeviceGetSramEccErrorStatus"}};
inline constexpr Function<Return(Device, Selector cause, unsigned* count,
                                 unsigned long long* addresses, unsigned long long* stamps)>
    kDeviceGetRetiredPagesV2{{"nvmlDeviceGetRetiredPages_v2"}};
inline constexpr Function<Return(Device, Selector cause, unsigned* count,
                                 unsigned long long* addresses)>
    kDeviceGetRetiredPages{{"nvmlDeviceGetRetiredPages"}};
inline constexpr Function<NumberOf> kDeviceGetRetiredPagesPendingStatus{
    {"nvmlDeviceGetRetiredPagesPendingStatus"}};
inline constexpr Function<Return(Device, unsigned* correctable, unsigned* uncorrectable,
                                 unsigned* pending, unsigned* failure)>
    kDeviceGetRemappedRows{{"nvmlDeviceGetRemappedRows"}};
inline constexpr Function<Return(Device, RowRemapperHistogram*)> kDeviceGetRowRemapperHistogram{
    {"nvmlDeviceGetRowRemapperHistogram"}};

// GPM.
inline constexpr Function<Return(GpmSample*)> kGpmSampleAlloc{{"nvmlGpmSampleAlloc"}};
inline constexpr Function<Return(GpmSample)> kGpmSampleFree{{"nvmlGpmSampleFree"}};
inline constexpr Function<Return(Device, GpmSample)> kGpmSampleGet{{"nvmlGpmSampleGet"}};
inline constexpr Function<Return(Device, unsigned gpu_instance_id, GpmSample)> kGpmMigSampleGet{
    {"nvmlGpmMigSampleGet"}};
inline constexpr Function<Return(GpmMetricsGet*)> kGpmMetricsGet{{"nvmlGpmMetricsGet"}};
inline constexpr Function<Return(Device, GpmSupport*)> kGpmQueryDeviceSupport{
    {"nvmlGpmQueryDeviceSupport"}};

// Processes. The _v3 and _v2 lists have the same entries.
inline constexpr Function<ProcessListOf> kDeviceGetComputeRunningProcesses{
    {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}};
inline constexpr Function<ProcessListOf> kDeviceGetGraphicsRunningProcesses{
    {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2"}};
inline constexpr Function<ProcessListOf> kDeviceGetMpsComputeRunningProcesses{
    {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2"}};
inline constexpr Function<ProcessListV1Of> kDeviceGetComputeRunningProcessesV1{
    {"nvmlDeviceGetComputeRunningProcesses"}};
inline constexpr Function<ProcessListV1Of> kDeviceGetGraphicsRunningProcessesV1{
    {"nvmlDeviceGetGraphicsRunningProcesses"}};
inline constexpr Function<ProcessListV1Of> kDeviceGetMpsComputeRunningProcessesV1{
    {"nvmlDeviceGetMPSComputeRunningProcesses"}};
inline constexpr Function<Return(Device, ProcessUtilizationSample*, unsigned* count,
                                 unsigned long long since_us)>
    kDeviceGetProcessUtilization{{"nvmlDeviceGetProcessUtilization"}};
inline constexpr Function<Return(Device, ProcessesUtilizationInfo*)>
    kDeviceGetProcessesUtilizationInfo{{"nvmlDeviceGetProcessesUtilizationInfo"}};

// MIG.
inline constexpr Function<NumberOf> kDeviceGetMaxMigDeviceCount{{"nvmlDeviceGetMaxMigDeviceCount"}};
inline constexpr Function<Return(Device, unsigned, Device*)> kDeviceGetMigDeviceHandleByIndex{
    {"nvmlDeviceGetMigDeviceHandleByIndex"}};
inline constexpr Function<NumberOf> kDeviceGetGpuInstanceId{{"nvmlDeviceGetGpuInstanceId"}};
inline constexpr Function<NumberOf> kDeviceGetComputeInstanceId{{"nvmlDeviceGetComputeInstanceId"}};
inline constexpr Function<Return(Device, Device*)> kDeviceGetDeviceHandleFromMigDeviceHandle{
    {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle"}};
inline constexpr Function<Return(Device, DeviceAttributes*)> kDeviceGetAttributes{
    {"nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes"}};
inline constexpr Function<NumberOf> kDeviceIsMigDeviceHandle{{"nvmlDeviceIsMigDeviceHandle"}};

// Events.
inline constexpr Function<Return(EventSet*)> kEventSetCreate{{"nvmlEventSetCreate"}};
inline constexpr Function<Return(Device, unsigned long long types, EventSet)> kDeviceRegisterEvents{
    {"nvmlDeviceRegisterEvents"}};
inline constexpr Function<Return(EventSet, EventRecord*, unsigned timeout_ms)> kEventSetWait{
    {"nvmlEventSetWait_v2", "nvmlEventSetWait"}};
inline constexpr Function<Return(EventSet)> kEventSetFree{{"nvmlEventSetFree"}};
inline constexpr Function<MaskOf> kDeviceGetSupportedEventTypes{
    {"nvmlDeviceGetSupportedEventTypes"}};

}  // namespace everywatt::nvml::abi
