// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

SAME_SIZE(PciInfo, nvmlPciInfo_t);
SAME_PLACE(PciInfo, bus_id_legacy, nvmlPciInfo_t, busIdLegacy);
SAME_PLACE(PciInfo, domain, nvmlPciInfo_t, domain);
SAME_PLACE(PciInfo, bus, nvmlPciInfo_t, bus);
SAME_PLACE(PciInfo, device, nvmlPciInfo_t, device);
SAME_PLACE(PciInfo, pci_device_id, nvmlPciInfo_t, pciDeviceId);
SAME_PLACE(PciInfo, pci_subsystem_id, nvmlPciInfo_t, pciSubSystemId);
SAME_PLACE(PciInfo, bus_id, nvmlPciInfo_t, busId);
SAME_SIZE(Utilization, nvmlUtilization_t);
SAME_PLACE(Utilization, gpu, nvmlUtilization_t, gpu);
SAME_PLACE(Utilization, memory, nvmlUtilization_t, memory);
SAME_SIZE(Memory, nvmlMemory_t);
SAME_PLACE(Memory, total, nvmlMemory_t, total);
SAME_PLACE(Memory, free, nvmlMemory_t, free);
SAME_PLACE(Memory, used, nvmlMemory_t, used);
SAME_SIZE(MemoryV2, nvmlMemory_v2_t);
SAME_PLACE(MemoryV2, version, nvmlMemory_v2_t, version);
SAME_PLACE(MemoryV2, total, nvmlMemory_v2_t, total);
SAME_PLACE(MemoryV2, reserved, nvmlMemory_v2_t, reserved);
SAME_PLACE(MemoryV2, free, nvmlMemory_v2_t, free);
SAME_PLACE(MemoryV2, used, nvmlMemory_v2_t, used);
SAME_SIZE(Bar1Memory, nvmlBAR1Memory_t);
SAME_PLACE(Bar1Memory, total, nvmlBAR1Memory_t, bar1Total);
SAME_PLACE(Bar1Memory, free, nvmlBAR1Memory_t, bar1Free);
SAME_PLACE(Bar1Memory, used, nvmlBAR1Memory_t, bar1Used);
SAME_SIZE(ProcessInfoV1, nvmlProcessInfo_v1_t);
SAME_PLACE(ProcessInfoV1, pid, nvmlProcessInfo_v1_t, pid);
SAME_PLACE(ProcessInfoV1, used_gpu_memory, nvmlProcessInfo_v1_t, usedGpuMemory);
SAME_SIZE(ProcessInfo, nvmlProcessInfo_t);
SAME_PLACE(ProcessInfo, pid, nvmlProcessInfo_t, pid);
SAME_PLACE(ProcessInfo, used_gpu_memory, nvmlProcessInfo_t, usedGpuMemory);
SAME_PLACE(ProcessInfo, gpu_instance_id, nvmlProcessInfo_t, gpuInstanceId);
SAME_PLACE(ProcessInfo, compute_instance_id, nvmlProcessInfo_t, computeInstanceId);
SAME_SIZE(ProcessUtilizationSample, nvmlProcessUtilizationSample_t);
SAME_PLACE(ProcessUtilizationSample, pid, nvmlProcessUtilizationSample_t, pid);
SAME_PLACE(ProcessUtilizationSample, time_stamp, nvmlProcessUtilizationSample_t, timeStamp);
SAME_PLACE(ProcessUtilizationSample, sm_util, nvmlProcessUtilizationSample_t, smUtil);
SAME_PLACE(ProcessUtilizationSample, mem_util, nvmlProcessUtilizationSample_t, memUtil);
SAME_PLACE(ProcessUtilizationSample, enc_util, nvmlProcessUtilizationSample_t, encUtil);
SAME_PLACE(ProcessUtilizationSample, dec_util, nvmlProcessUtilizationSample_t, decUtil);
SAME_SIZE(ProcessUtilizationInfo, nvmlProcessUtilizationInfo_v1_t);
SAME_PLACE(ProcessUtilizationInfo, pid, nvmlProcessUtilizationInfo_v1_t, pid);
SAME_PLACE(ProcessUtilizationInfo, time_stamp, nvmlProcessUtilizationInfo_v1_t, timeStamp);
SAME_PLACE(ProcessUtilizationInfo, sm_util, nvmlProcessUtilizationInfo_v1_t, smUtil);
SAME_PLACE(ProcessUtilizationInfo, mem_util, nvmlProcessUtilizationInfo_v1_t, memUtil);
SAME_PLACE(ProcessUtilizationInfo, enc_util, nvmlProcessUtilizationInfo_v1_t, encUtil);
SAME_PLACE(ProcessUtilizationInfo, dec_util, nvmlProcessUtilizationInfo_v1_t, decUtil);
SAME_PLACE(ProcessUtilizationInfo, jpg_util, nvmlProcessUtilizationInfo_v1_t, jpgUtil);
SAME_PLACE(ProcessUtilizationInfo, ofa_util, nvmlProcessUtilizationInfo_v1_t, ofaUtil);
SAME_SIZE(ProcessesUtilizationInfo, nvmlProcessesUtilizationInfo_v1_t);
SAME_PLACE(ProcessesUtilizationInfo, version, nvmlProcessesUtilizationInfo_v1_t, version);
SAME_PLACE(ProcessesUtilizationInfo, process_samples_count, nvmlProcessesUtilizationInfo_v1_t,
           processSamplesCount);
SAME_PLACE(ProcessesUtilizationInfo, last_seen_time_stamp, nvmlProcessesUtilizationInfo_v1_t,
           lastSeenTimeStamp);
SAME_PLACE(ProcessesUtilizationInfo, proc_util_array, nvmlProcessesUtilizationInfo_v1_t,
           procUtilArray);
SAME_SIZE(DeviceAttributes, nvmlDeviceAttributes_t);
SAME_PLACE(DeviceAttributes, multiprocessor_count, nvmlDeviceAttributes_t, multiprocessorCount);
SAME_PLACE(DeviceAttributes, shared_copy_engine_count, nvmlDeviceAttributes_t,
           sharedCopyEngineCount);
SAME_PLACE(DeviceAttributes, shared_decoder_count, nvmlDeviceAttributes_t, sharedDecoderCount);
SAME_PLACE(DeviceAttributes, shared_encoder_count, nvmlDeviceAttributes_t, sharedEncoderCount);
SAME_PLACE(DeviceAttributes, shared_jpeg_count, nvmlDeviceAttributes_t, sharedJpegCount);
SAME_PLACE(DeviceAttributes, shared_ofa_count, nvmlDeviceAttributes_t, sharedOfaCount);
SAME_PLACE(DeviceAttributes, gpu_instance_slice_count, nvmlDeviceAttributes_t,
           gpuInstanceSliceCount);
SAME_PLACE(DeviceAttributes, compute_instance_slice_count, nvmlDeviceAttributes_t,
           computeInstanceSliceCount);
SAME_PLACE(DeviceAttributes, memory_size_mb, nvmlDeviceAttributes_t, memorySizeMB);
SAME_SIZE(RowRemapperHistogram, nvmlRowRemapperHistogramValues_t);
SAME_PLACE(RowRemapperHistogram, max, nvmlRowRemapperHistogramValues_t, max);
SAME_PLACE(RowRemapperHistogram, high, nvmlRowRemapperHistogramValues_t, high);
SAME_PLACE(RowRemapperHistogram, partial, nvmlRowRemapperHistogramValues_t, partial);
SAME_PLACE(RowRemapperHistogram, low, nvmlRowRemapperHistogramValues_t, low);
SAME_PLACE(RowRemapperHistogram, none, nvmlRowRemapperHistogramValues_t, none);
SAME_SIZE(EccErrorCounts, nvmlEccErrorCounts_t);
SAME_PLACE(EccErrorCounts, l1_cache, nvmlEccErrorCounts_t, l1Cache);
SAME_PLACE(EccErrorCounts, l2_cache, nvmlEccErrorCounts_t, l2Cache);
SAME_PLACE(EccErrorCounts, device_memory, nvmlEccErrorCounts_t, deviceMemory);
SAME_PLACE(EccErrorCounts, register_file, nvmlEccErrorCounts_t, registerFile);
SAME_SIZE(EccSramErrorStatus, nvmlEccSramErrorStatus_v1_t);
SAME_PLACE(EccSramErrorStatus, version, nvmlEccSramErrorStatus_v1_t, version);
SAME_PLACE(EccSramErrorStatus, aggregate_uncorrected_parity, nvmlEccSramErrorStatus_v1_t,
           aggregateUncParity);
SAME_PLACE(EccSramErrorStatus, aggregate_uncorrected_secded, nvmlEccSramErrorStatus_v1_t,
           aggregateUncSecDed);
SAME_PLACE(EccSramErrorStatus, aggregate_corrected, nvmlEccSramErrorStatus_v1_t, aggregateCor);
SAME_PLACE(EccSramErrorStatus, volatile_uncorrected_parity, nvmlEccSramErrorStatus_v1_t,
           volatileUncParity);
SAME_PLACE(EccSramErrorStatus, volatile_uncorrected_secded, nvmlEccSramErrorStatus_v1_t,
           volatileUncSecDed);
SAME_PLACE(EccSramErrorStatus, volatile_corrected, nvmlEccSramErrorStatus_v1_t, volatileCor);
SAME_PLACE(EccSramErrorStatus, aggregate_uncorrected_l2, nvmlEccSramErrorStatus_v1_t,
           aggregateUncBucketL2);
SAME_PLACE(EccSramErrorStatus, aggregate_uncorrected_sm, nvmlEccSramErrorStatus_v1_t,
           aggregateUncBucketSm);
SAME_PLACE(EccSramErrorStatus, aggregate_uncorrected_pcie, nvmlEccSramErrorStatus_v1_t,
           aggregateUncBucketPcie);
SAME_PLACE(EccSramErrorStatus, aggregate_uncorrected_mcu, nvmlEccSramErrorStatus_v1_t,
           aggregateUncBucketMcu);
SAME_PLACE(EccSramErrorStatus, aggregate_uncorrected_other, nvmlEccSramErrorStatus_v1_t,
           aggregateUncBucketOther);
SAME_PLACE(EccSramErrorStatus, threshold_exceeded, nvmlEccSramErrorStatus_v1_t, bThresholdExceeded);
SAME_SIZE(ViolationTime, nvmlViolationTime_t);
SAME_PLACE(ViolationTime, reference_time, nvmlViolationTime_t, referenceTime);
SAME_PLACE(ViolationTime, violation_time, nvmlViolationTime_t, violationTime);
SAME_SIZE(Temperature, nvmlTemperature_v1_t);
SAME_PLACE(Temperature, version, nvmlTemperature_v1_t, version);
SAME_PLACE(Temperature, sensor_type, nvmlTemperature_v1_t, sensorType);
SAME_PLACE(Temperature, temperature, nvmlTemperature_v1_t, temperature);
SAME_SIZE(MarginTemperature, nvmlMarginTemperature_v1_t);
SAME_PLACE(MarginTemperature, version, nvmlMarginTemperature_v1_t, version);
SAME_PLACE(MarginTemperature, margin_temperature, nvmlMarginTemperature_v1_t, marginTemperature);
SAME_SIZE(Value, nvmlValue_t);
SAME_PLACE(Value, f64, nvmlValue_t, dVal);
SAME_PLACE(Value, i32, nvmlValue_t, siVal);
SAME_PLACE(Value, u32, nvmlValue_t, uiVal);
SAME_PLACE(Value, ulong, nvmlValue_t, ulVal);
SAME_PLACE(Value, u64, nvmlValue_t, ullVal);
SAME_PLACE(Value, i64, nvmlValue_t, sllVal);
SAME_PLACE(Value, u16, nvmlValue_t, usVal);
SAME_SIZE(Sample, nvmlSample_t);
SAME_PLACE(Sample, time_stamp, nvmlSample_t, timeStamp);
SAME_PLACE(Sample, value, nvmlSample_t, sampleValue);
SAME_SIZE(FieldValue, nvmlFieldValue_t);
SAME_PLACE(FieldValue, field_id, nvmlFieldValue_t, fieldId);
SAME_PLACE(FieldValue, scope_id, nvmlFieldValue_t, scopeId);
SAME_PLACE(FieldValue, timestamp, nvmlFieldValue_t, timestamp);
SAME_PLACE(FieldValue, latency_us, nvmlFieldValue_t, latencyUsec);
SAME_PLACE(FieldValue, value_type, nvmlFieldValue_t, valueType);
SAME_PLACE(FieldValue, nvml_return, nvmlFieldValue_t, nvmlReturn);
SAME_PLACE(FieldValue, value, nvmlFieldValue_t, value);
SAME_SIZE(EventRecord, nvmlEventData_t);
SAME_PLACE(EventRecord, device, nvmlEventData_t, device);
SAME_PLACE(EventRecord, event_type, nvmlEventData_t, eventType);
SAME_PLACE(EventRecord, event_data, nvmlEventData_t, eventData);
SAME_PLACE(EventRecord, gpu_instance_id, nvmlEventData_t, gpuInstanceId);
SAME_PLACE(EventRecord, compute_instance_id, nvmlEventData_t, computeInstanceId);
SAME_SIZE(GpmMetric, nvmlGpmMetric_t);
SAME_PLACE(GpmMetric, metric_id, nvmlGpmMetric_t, metricId);
SAME_PLACE(GpmMetric, nvml_return, nvmlGpmMetric_t, nvmlReturn);
SAME_PLACE(GpmMetric, value, nvmlGpmMetric_t, value);
SAME_PLACE(GpmMetric, names, nvmlGpmMetric_t, metricInfo);
SAME_PLACE(GpmMetric, names.short_name, nvmlGpmMetric_t, metricInfo.shortName);
SAME_PLACE(GpmMetric, names.long_name, nvmlGpmMetric_t, metricInfo.longName);
SAME_PLACE(GpmMetric, names.unit, nvmlGpmMetric_t, metricInfo.unit);
SAME_SIZE(GpmSupport, nvmlGpmSupport_t);
SAME_PLACE(GpmSupport, version, nvmlGpmSupport_t, version);
SAME_PLACE(GpmSupport, is_supported_device, nvmlGpmSupport_t, isSupportedDevice);

// The official array of metrics is longer, and grows; what comes before it and its elements are the
// same.
SAME_PLACE(GpmMetricsGet, version, nvmlGpmMetricsGet_t, version);
SAME_PLACE(GpmMetricsGet, num_metrics, nvmlGpmMetricsGet_t, numMetrics);
SAME_PLACE(GpmMetricsGet, sample1, nvmlGpmMetricsGet_t, sample1);
SAME_PLACE(GpmMetricsGet, sample2, nvmlGpmMetricsGet_t, sample2);
static_assert(offsetof(abi::GpmMetricsGet, metrics) == offsetof(nvmlGpmMetricsGet_t, metrics));

// Version words.
SAME_NUMBER(version_word<abi::MemoryV2>(2), nvmlMemory_v2);
SAME_NUMBER(version_word<abi::Temperature>(1), nvmlTemperature_v1);
SAME_NUMBER(version_word<abi::MarginTemperature>(1), nvmlMarginTemperature_v1);
SAME_NUMBER(version_word<abi::ProcessesUtilizationInfo>(1), nvmlProcessesUtilizationInfo_v1);
SAME_NUMBER(version_word<abi::EccSramErrorStatus>(1), nvmlEccSramErrorStatus_v1);
SAME_NUMBER(kGpmMetricsGetVersion, NVML_GPM_METRICS_GET_VERSION);
SAME_NUMBER(kGpmSupportVersion, NVML_GPM_SUPPORT_VERSION);
