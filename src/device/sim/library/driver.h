// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/nvml/abi.h"

// The driver's functions as the simulation has them. Each name has the type that the interface
// gives it: what exports.cc makes an exported function of must have that type.
namespace everywatt::sim::driver {
decltype(everywatt::nvml::abi::kInit)::Type nvmlInit_v2;
decltype(everywatt::nvml::abi::kInit)::Type nvmlInit;
decltype(everywatt::nvml::abi::kInitWithFlags)::Type nvmlInitWithFlags;
decltype(everywatt::nvml::abi::kShutdown)::Type nvmlShutdown;
decltype(everywatt::nvml::abi::kErrorString)::Type nvmlErrorString;
decltype(everywatt::nvml::abi::kSystemGetDriverVersion)::Type nvmlSystemGetDriverVersion;
decltype(everywatt::nvml::abi::kSystemGetNvmlVersion)::Type nvmlSystemGetNVMLVersion;
decltype(everywatt::nvml::abi::kSystemGetCudaDriverVersion)::Type nvmlSystemGetCudaDriverVersion_v2;
decltype(everywatt::nvml::abi::kSystemGetCudaDriverVersion)::Type nvmlSystemGetCudaDriverVersion;
decltype(everywatt::nvml::abi::kSystemGetProcessName)::Type nvmlSystemGetProcessName;
decltype(everywatt::nvml::abi::kDeviceGetCount)::Type nvmlDeviceGetCount_v2;
decltype(everywatt::nvml::abi::kDeviceGetCount)::Type nvmlDeviceGetCount;
decltype(everywatt::nvml::abi::kDeviceGetHandleByIndex)::Type nvmlDeviceGetHandleByIndex_v2;
decltype(everywatt::nvml::abi::kDeviceGetHandleByIndex)::Type nvmlDeviceGetHandleByIndex;
decltype(everywatt::nvml::abi::kDeviceGetHandleByPciBusId)::Type nvmlDeviceGetHandleByPciBusId_v2;
decltype(everywatt::nvml::abi::kDeviceGetHandleByPciBusId)::Type nvmlDeviceGetHandleByPciBusId;
decltype(everywatt::nvml::abi::kDeviceGetHandleByUuid)::Type nvmlDeviceGetHandleByUUID;
decltype(everywatt::nvml::abi::kDeviceGetHandleBySerial)::Type nvmlDeviceGetHandleBySerial;
decltype(everywatt::nvml::abi::kDeviceGetName)::Type nvmlDeviceGetName;
decltype(everywatt::nvml::abi::kDeviceGetUuid)::Type nvmlDeviceGetUUID;
decltype(everywatt::nvml::abi::kDeviceGetSerial)::Type nvmlDeviceGetSerial;
decltype(everywatt::nvml::abi::kDeviceGetVbiosVersion)::Type nvmlDeviceGetVbiosVersion;
decltype(everywatt::nvml::abi::kDeviceGetBoardPartNumber)::Type nvmlDeviceGetBoardPartNumber;
decltype(everywatt::nvml::abi::kDeviceGetInforomImageVersion)::Type
    nvmlDeviceGetInforomImageVersion;
decltype(everywatt::nvml::abi::kDeviceGetGspFirmwareVersion)::Type nvmlDeviceGetGspFirmwareVersion;
decltype(everywatt::nvml::abi::kDeviceGetPciInfo)::Type nvmlDeviceGetPciInfo_v3;
decltype(everywatt::nvml::abi::kDeviceGetPciInfo)::Type nvmlDeviceGetPciInfo_v2;
decltype(everywatt::nvml::abi::kDeviceGetPciInfo)::Type nvmlDeviceGetPciInfo;
decltype(everywatt::nvml::abi::kDeviceGetIndex)::Type nvmlDeviceGetIndex;
decltype(everywatt::nvml::abi::kDeviceGetMinorNumber)::Type nvmlDeviceGetMinorNumber;
decltype(everywatt::nvml::abi::kDeviceGetBoardId)::Type nvmlDeviceGetBoardId;
decltype(everywatt::nvml::abi::kDeviceGetMultiGpuBoard)::Type nvmlDeviceGetMultiGpuBoard;
decltype(everywatt::nvml::abi::kDeviceGetModuleId)::Type nvmlDeviceGetModuleId;
decltype(everywatt::nvml::abi::kDeviceGetBrand)::Type nvmlDeviceGetBrand;
decltype(everywatt::nvml::abi::kDeviceGetArchitecture)::Type nvmlDeviceGetArchitecture;
decltype(everywatt::nvml::abi::kDeviceGetCudaComputeCapability)::Type
    nvmlDeviceGetCudaComputeCapability;
decltype(everywatt::nvml::abi::kDeviceGetNumGpuCores)::Type nvmlDeviceGetNumGpuCores;
decltype(everywatt::nvml::abi::kDeviceGetMemoryBusWidth)::Type nvmlDeviceGetMemoryBusWidth;
decltype(everywatt::nvml::abi::kDeviceGetNumaNodeId)::Type nvmlDeviceGetNumaNodeId;
decltype(everywatt::nvml::abi::kDeviceGetPersistenceMode)::Type nvmlDeviceGetPersistenceMode;
decltype(everywatt::nvml::abi::kDeviceGetComputeMode)::Type nvmlDeviceGetComputeMode;
decltype(everywatt::nvml::abi::kDeviceGetDisplayMode)::Type nvmlDeviceGetDisplayMode;
decltype(everywatt::nvml::abi::kDeviceGetDisplayActive)::Type nvmlDeviceGetDisplayActive;
decltype(everywatt::nvml::abi::kDeviceGetVirtualizationMode)::Type nvmlDeviceGetVirtualizationMode;
decltype(everywatt::nvml::abi::kDeviceGetEccMode)::Type nvmlDeviceGetEccMode;
decltype(everywatt::nvml::abi::kDeviceGetMigMode)::Type nvmlDeviceGetMigMode;
decltype(everywatt::nvml::abi::kDeviceGetUtilizationRates)::Type nvmlDeviceGetUtilizationRates;
decltype(everywatt::nvml::abi::kDeviceGetEncoderUtilization)::Type nvmlDeviceGetEncoderUtilization;
decltype(everywatt::nvml::abi::kDeviceGetDecoderUtilization)::Type nvmlDeviceGetDecoderUtilization;
decltype(everywatt::nvml::abi::kDeviceGetJpgUtilization)::Type nvmlDeviceGetJpgUtilization;
decltype(everywatt::nvml::abi::kDeviceGetOfaUtilization)::Type nvmlDeviceGetOfaUtilization;
decltype(everywatt::nvml::abi::kDeviceGetSamples)::Type nvmlDeviceGetSamples;
decltype(everywatt::nvml::abi::kDeviceGetFieldValues)::Type nvmlDeviceGetFieldValues;
decltype(everywatt::nvml::abi::kDeviceGetMemoryInfoV2)::Type nvmlDeviceGetMemoryInfo_v2;
decltype(everywatt::nvml::abi::kDeviceGetMemoryInfo)::Type nvmlDeviceGetMemoryInfo;
decltype(everywatt::nvml::abi::kDeviceGetBar1MemoryInfo)::Type nvmlDeviceGetBAR1MemoryInfo;
decltype(everywatt::nvml::abi::kDeviceGetPowerUsage)::Type nvmlDeviceGetPowerUsage;
decltype(everywatt::nvml::abi::kDeviceGetEnforcedPowerLimit)::Type nvmlDeviceGetEnforcedPowerLimit;
decltype(everywatt::nvml::abi::kDeviceGetPowerManagementMode)::Type
    nvmlDeviceGetPowerManagementMode;
decltype(everywatt::nvml::abi::kDeviceGetPowerManagementLimit)::Type
    nvmlDeviceGetPowerManagementLimit;
decltype(everywatt::nvml::abi::kDeviceGetPowerManagementDefaultLimit)::Type
    nvmlDeviceGetPowerManagementDefaultLimit;
decltype(everywatt::nvml::abi::kDeviceGetPowerManagementLimitConstraints)::Type
    nvmlDeviceGetPowerManagementLimitConstraints;
decltype(everywatt::nvml::abi::kDeviceGetTotalEnergyConsumption)::Type
    nvmlDeviceGetTotalEnergyConsumption;
decltype(everywatt::nvml::abi::kDeviceGetTemperatureV)::Type nvmlDeviceGetTemperatureV;
decltype(everywatt::nvml::abi::kDeviceGetTemperature)::Type nvmlDeviceGetTemperature;
decltype(everywatt::nvml::abi::kDeviceGetTemperatureThreshold)::Type
    nvmlDeviceGetTemperatureThreshold;
decltype(everywatt::nvml::abi::kDeviceGetMarginTemperature)::Type nvmlDeviceGetMarginTemperature;
decltype(everywatt::nvml::abi::kDeviceGetNumFans)::Type nvmlDeviceGetNumFans;
decltype(everywatt::nvml::abi::kDeviceGetFanSpeedV2)::Type nvmlDeviceGetFanSpeed_v2;
decltype(everywatt::nvml::abi::kDeviceGetFanSpeed)::Type nvmlDeviceGetFanSpeed;
decltype(everywatt::nvml::abi::kDeviceGetClockInfo)::Type nvmlDeviceGetClockInfo;
decltype(everywatt::nvml::abi::kDeviceGetMaxClockInfo)::Type nvmlDeviceGetMaxClockInfo;
decltype(everywatt::nvml::abi::kDeviceGetApplicationsClock)::Type nvmlDeviceGetApplicationsClock;
decltype(everywatt::nvml::abi::kDeviceGetDefaultApplicationsClock)::Type
    nvmlDeviceGetDefaultApplicationsClock;
decltype(everywatt::nvml::abi::kDeviceGetClock)::Type nvmlDeviceGetClock;
decltype(everywatt::nvml::abi::kDeviceGetCurrentClocksEventReasons)::Type
    nvmlDeviceGetCurrentClocksEventReasons;
decltype(everywatt::nvml::abi::kDeviceGetCurrentClocksEventReasons)::Type
    nvmlDeviceGetCurrentClocksThrottleReasons;
decltype(everywatt::nvml::abi::kDeviceGetSupportedClocksEventReasons)::Type
    nvmlDeviceGetSupportedClocksEventReasons;
decltype(everywatt::nvml::abi::kDeviceGetSupportedClocksEventReasons)::Type
    nvmlDeviceGetSupportedClocksThrottleReasons;
decltype(everywatt::nvml::abi::kDeviceGetPerformanceState)::Type nvmlDeviceGetPerformanceState;
decltype(everywatt::nvml::abi::kDeviceGetPerformanceState)::Type nvmlDeviceGetPowerState;
decltype(everywatt::nvml::abi::kDeviceGetViolationStatus)::Type nvmlDeviceGetViolationStatus;
decltype(everywatt::nvml::abi::kDeviceGetCurrPcieLinkGeneration)::Type
    nvmlDeviceGetCurrPcieLinkGeneration;
decltype(everywatt::nvml::abi::kDeviceGetMaxPcieLinkGeneration)::Type
    nvmlDeviceGetMaxPcieLinkGeneration;
decltype(everywatt::nvml::abi::kDeviceGetGpuMaxPcieLinkGeneration)::Type
    nvmlDeviceGetGpuMaxPcieLinkGeneration;
decltype(everywatt::nvml::abi::kDeviceGetCurrPcieLinkWidth)::Type nvmlDeviceGetCurrPcieLinkWidth;
decltype(everywatt::nvml::abi::kDeviceGetMaxPcieLinkWidth)::Type nvmlDeviceGetMaxPcieLinkWidth;
decltype(everywatt::nvml::abi::kDeviceGetPcieSpeed)::Type nvmlDeviceGetPcieSpeed;
decltype(everywatt::nvml::abi::kDeviceGetPcieReplayCounter)::Type nvmlDeviceGetPcieReplayCounter;
decltype(everywatt::nvml::abi::kDeviceGetPcieThroughput)::Type nvmlDeviceGetPcieThroughput;
decltype(everywatt::nvml::abi::kDeviceGetNvLinkState)::Type nvmlDeviceGetNvLinkState;
decltype(everywatt::nvml::abi::kDeviceGetNvLinkVersion)::Type nvmlDeviceGetNvLinkVersion;
decltype(everywatt::nvml::abi::kDeviceGetNvLinkCapability)::Type nvmlDeviceGetNvLinkCapability;
decltype(everywatt::nvml::abi::kDeviceGetNvLinkRemotePciInfo)::Type
    nvmlDeviceGetNvLinkRemotePciInfo_v2;
decltype(everywatt::nvml::abi::kDeviceGetNvLinkRemotePciInfo)::Type
    nvmlDeviceGetNvLinkRemotePciInfo;
decltype(everywatt::nvml::abi::kDeviceGetNvLinkRemoteDeviceType)::Type
    nvmlDeviceGetNvLinkRemoteDeviceType;
decltype(everywatt::nvml::abi::kDeviceGetNvLinkErrorCounter)::Type nvmlDeviceGetNvLinkErrorCounter;
decltype(everywatt::nvml::abi::kDeviceGetTopologyCommonAncestor)::Type
    nvmlDeviceGetTopologyCommonAncestor;
decltype(everywatt::nvml::abi::kDeviceGetP2pStatus)::Type nvmlDeviceGetP2PStatus;
decltype(everywatt::nvml::abi::kDeviceGetCpuAffinity)::Type nvmlDeviceGetCpuAffinity;
decltype(everywatt::nvml::abi::kDeviceGetMemoryAffinity)::Type nvmlDeviceGetMemoryAffinity;
decltype(everywatt::nvml::abi::kDeviceGetTotalEccErrors)::Type nvmlDeviceGetTotalEccErrors;
decltype(everywatt::nvml::abi::kDeviceGetMemoryErrorCounter)::Type nvmlDeviceGetMemoryErrorCounter;
decltype(everywatt::nvml::abi::kDeviceGetDetailedEccErrors)::Type nvmlDeviceGetDetailedEccErrors;
decltype(everywatt::nvml::abi::kDeviceGetSramEccErrorStatus)::Type nvmlDeviceGetSramEccErrorStatus;
decltype(everywatt::nvml::abi::kDeviceGetRetiredPagesV2)::Type nvmlDeviceGetRetiredPages_v2;
decltype(everywatt::nvml::abi::kDeviceGetRetiredPages)::Type nvmlDeviceGetRetiredPages;
decltype(everywatt::nvml::abi::kDeviceGetRetiredPagesPendingStatus)::Type
    nvmlDeviceGetRetiredPagesPendingStatus;
decltype(everywatt::nvml::abi::kDeviceGetRemappedRows)::Type nvmlDeviceGetRemappedRows;
decltype(everywatt::nvml::abi::kDeviceGetRowRemapperHistogram)::Type
    nvmlDeviceGetRowRemapperHistogram;
decltype(everywatt::nvml::abi::kGpmSampleAlloc)::Type nvmlGpmSampleAlloc;
decltype(everywatt::nvml::abi::kGpmSampleFree)::Type nvmlGpmSampleFree;
decltype(everywatt::nvml::abi::kGpmSampleGet)::Type nvmlGpmSampleGet;
decltype(everywatt::nvml::abi::kGpmMigSampleGet)::Type nvmlGpmMigSampleGet;
decltype(everywatt::nvml::abi::kGpmMetricsGet)::Type nvmlGpmMetricsGet;
decltype(everywatt::nvml::abi::kGpmQueryDeviceSupport)::Type nvmlGpmQueryDeviceSupport;
decltype(everywatt::nvml::abi::kDeviceGetComputeRunningProcesses)::Type
    nvmlDeviceGetComputeRunningProcesses_v3;
decltype(everywatt::nvml::abi::kDeviceGetComputeRunningProcesses)::Type
    nvmlDeviceGetComputeRunningProcesses_v2;
decltype(everywatt::nvml::abi::kDeviceGetGraphicsRunningProcesses)::Type
    nvmlDeviceGetGraphicsRunningProcesses_v3;
decltype(everywatt::nvml::abi::kDeviceGetGraphicsRunningProcesses)::Type
    nvmlDeviceGetGraphicsRunningProcesses_v2;
decltype(everywatt::nvml::abi::kDeviceGetMpsComputeRunningProcesses)::Type
    nvmlDeviceGetMPSComputeRunningProcesses_v3;
decltype(everywatt::nvml::abi::kDeviceGetMpsComputeRunningProcesses)::Type
    nvmlDeviceGetMPSComputeRunningProcesses_v2;
decltype(everywatt::nvml::abi::kDeviceGetComputeRunningProcessesV1)::Type
    nvmlDeviceGetComputeRunningProcesses;
decltype(everywatt::nvml::abi::kDeviceGetGraphicsRunningProcessesV1)::Type
    nvmlDeviceGetGraphicsRunningProcesses;
decltype(everywatt::nvml::abi::kDeviceGetMpsComputeRunningProcessesV1)::Type
    nvmlDeviceGetMPSComputeRunningProcesses;
decltype(everywatt::nvml::abi::kDeviceGetProcessUtilization)::Type nvmlDeviceGetProcessUtilization;
decltype(everywatt::nvml::abi::kDeviceGetProcessesUtilizationInfo)::Type
    nvmlDeviceGetProcessesUtilizationInfo;
decltype(everywatt::nvml::abi::kDeviceGetMaxMigDeviceCount)::Type nvmlDeviceGetMaxMigDeviceCount;
decltype(everywatt::nvml::abi::kDeviceGetMigDeviceHandleByIndex)::Type
    nvmlDeviceGetMigDeviceHandleByIndex;
decltype(everywatt::nvml::abi::kDeviceGetGpuInstanceId)::Type nvmlDeviceGetGpuInstanceId;
decltype(everywatt::nvml::abi::kDeviceGetComputeInstanceId)::Type nvmlDeviceGetComputeInstanceId;
decltype(everywatt::nvml::abi::kDeviceGetDeviceHandleFromMigDeviceHandle)::Type
    nvmlDeviceGetDeviceHandleFromMigDeviceHandle;
decltype(everywatt::nvml::abi::kDeviceGetAttributes)::Type nvmlDeviceGetAttributes_v2;
decltype(everywatt::nvml::abi::kDeviceGetAttributes)::Type nvmlDeviceGetAttributes;
decltype(everywatt::nvml::abi::kDeviceIsMigDeviceHandle)::Type nvmlDeviceIsMigDeviceHandle;
decltype(everywatt::nvml::abi::kEventSetCreate)::Type nvmlEventSetCreate;
decltype(everywatt::nvml::abi::kDeviceRegisterEvents)::Type nvmlDeviceRegisterEvents;
decltype(everywatt::nvml::abi::kEventSetWait)::Type nvmlEventSetWait_v2;
decltype(everywatt::nvml::abi::kEventSetWait)::Type nvmlEventSetWait;
decltype(everywatt::nvml::abi::kEventSetFree)::Type nvmlEventSetFree;
decltype(everywatt::nvml::abi::kDeviceGetSupportedEventTypes)::Type
    nvmlDeviceGetSupportedEventTypes;
}  // namespace everywatt::sim::driver
