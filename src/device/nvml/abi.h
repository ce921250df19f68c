// SPDX-License-Identifier: Apache-2.0
//
// The binary interface of libnvidia-ml.so.1, as far as Everywatt speaks it: the layout of what is
// passed, the numbers that stand for things, and for each function its exported name and its type.
// Declared here in our own words because the driver's header is not ours to ship;
// tests/sim/abi_check.cc compares every size, offset, version word and number with the official
// header.
//
// Terms are NVML's own (field, info, sample), so that the driver's manual can be read beside this
// file. Structures that carry a version word are refused by the driver unless it holds
// version_word<T>(n). This header declares, and calls nothing: device/nvml loads the functions by
// name, device/sim exports them.
#pragma once

#include <cstddef>
#include <type_traits>

namespace everywatt::nvml::abi {

// What every call returns. A driver may return numbers that are not listed here.
enum class Return : unsigned {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kAlreadyInitialized = 5,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kLibRmVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kVgpuEccNotSupported = 22,
  kInsufficientResources = 23,
  kFreqNotSupported = 24,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kInvalidState = 29,
  kResetTypeNotSupported = 30,
  kUnknown = 999,
};

// Handles: opaque, owned by the library, valid until shutdown (samples and sets: until freed).
using Device = struct DeviceTag*;
using EventSet = struct EventSetTag*;
using GpmSample = struct GpmSampleTag*;

// Buffer sizes that no driver exceeds.
inline constexpr unsigned kNameBufferSize = 96;
inline constexpr unsigned kUuidBufferSize = 96;
inline constexpr unsigned kSerialBufferSize = 30;
inline constexpr unsigned kVbiosBufferSize = 32;
inline constexpr unsigned kPartNumberBufferSize = 80;
inline constexpr unsigned kVersionBufferSize = 80;
inline constexpr unsigned kPciBusIdBufferSize = 32;
inline constexpr unsigned kPciBusIdLegacyBufferSize = 16;
inline constexpr unsigned kGspVersionBufferSize = 64;

// "Not known" where a number was asked for.
inline constexpr unsigned long long kMemoryNotAvailable = ~0ULL;  // a process's bytes
inline constexpr unsigned kInstanceNone = ~0U;                    // GPU or compute instance id
inline constexpr int kPstateUnknown = 32;

// The version word of a structure: its size and, in the top byte, its version.
template <typename T>
constexpr unsigned version_word(unsigned version) {
  return static_cast<unsigned>(sizeof(T)) | version << 24U;
}

struct PciInfo {
  char bus_id_legacy[kPciBusIdLegacyBufferSize];  // "0000:01:00.0"; all that functions before _v3
                                                  // fill
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;  // device << 16 | vendor
  unsigned pci_subsystem_id;
  char bus_id[kPciBusIdBufferSize];  // "00000000:01:00.0"
};

struct Utilization {
  unsigned gpu;     // percent of the last window in which a kernel ran
  unsigned memory;  // percent in which memory was read or written
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;  // here the driver's own reservation counts as used
};

struct MemoryV2 {
  unsigned version;  // version_word<MemoryV2>(2)
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;  // without the reservation
};

struct Bar1Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct ProcessInfoV1 {
  unsigned pid;
  unsigned long long used_gpu_memory;
};

// The entry of both the _v2 and the _v3 lists.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_gpu_memory;
  unsigned gpu_instance_id;
  unsigned compute_instance_id;
};

struct ProcessUtilizationSample {
  unsigned pid;
  unsigned long long time_stamp;  // wall clock, microseconds
  unsigned sm_util;
  unsigned mem_util;
  unsigned enc_util;
  unsigned dec_util;
};

struct ProcessUtilizationInfo {
  unsigned long long time_stamp;
  unsigned pid;
  unsigned sm_util;
  unsigned mem_util;
  unsigned enc_util;
  unsigned dec_util;
  unsigned jpg_util;
  unsigned ofa_util;
};

struct ProcessesUtilizationInfo {
  unsigned version;  // version_word<ProcessesUtilizationInfo>(1)
  unsigned process_samples_count;
  unsigned long long last_seen_time_stamp;
  ProcessUtilizationInfo* proc_util_array;
};

// What a GPU or a MIG instance consists of.
struct DeviceAttributes {
  unsigned multiprocessor_count;
  unsigned shared_copy_engine_count;
  unsigned shared_decoder_count;
  unsigned shared_encoder_count;
  unsigned shared_jpeg_count;
  unsigned shared_ofa_count;
  unsigned gpu_instance_slice_count;
  unsigned compute_instance_slice_count;
  unsigned long long memory_size_mb;
};

struct RowRemapperHistogram {
  unsigned max;  // banks with all their spare rows left
  unsigned high;
  unsigned partial;
  unsigned low;
  unsigned none;
};

struct EccErrorCounts {
  unsigned long long l1_cache;
  unsigned long long l2_cache;
  unsigned long long device_memory;
  unsigned long long register_file;
};

struct EccSramErrorStatus {
  unsigned version;  // version_word<EccSramErrorStatus>(1)
  unsigned long long aggregate_uncorrected_parity;
  unsigned long long aggregate_uncorrected_secded;
  unsigned long long aggregate_corrected;
  unsigned long long volatile_uncorrected_parity;
  unsigned long long volatile_uncorrected_secded;
  unsigned long long volatile_corrected;
  unsigned long long aggregate_uncorrected_l2;
  unsigned long long aggregate_uncorrected_sm;
  unsigned long long aggregate_uncorrected_pcie;
  unsigned long long aggregate_uncorrected_mcu;
  unsigned long long aggregate_uncorrected_other;
  unsigned threshold_exceeded;
};

struct ViolationTime {
  unsigned long long reference_time;  // microseconds
  unsigned long long violation_time;  // nanoseconds
};

struct Temperature {
  unsigned version;  // version_word<Temperature>(1)
  int sensor_type;
  int temperature;
};

struct MarginTemperature {
  unsigned version;  // version_word<MarginTemperature>(1)
  int margin_temperature;
};

// How a Value is to be read.
enum class ValueType : unsigned {
  kDouble = 0,
  kUnsignedInt = 1,
  kUnsignedLong = 2,
  kUnsignedLongLong = 3,
  kSignedLongLong = 4,
  kSignedInt = 5,
  kUnsignedShort = 6,
};

union Value {
  double f64;
  int i32;
  unsigned u32;
  unsigned long ulong;
  unsigned long long u64;
  long long i64;
  unsigned short u16;
};

struct Sample {
  unsigned long long time_stamp;  // wall clock, microseconds
  Value value;
};

// One question and its answer in a call of kDeviceGetFieldValues.
struct FieldValue {
  unsigned field_id;
  unsigned scope_id;  // a link, a lane or a sensor, for those fields that have several
  long long timestamp;
  long long latency_us;
  ValueType value_type;
  Return nvml_return;
  Value value;
};

struct EventRecord {
  Device device;
  unsigned long long event_type;
  unsigned long long event_data;  // the number of the XID
  unsigned gpu_instance_id;       // kInstanceNone outside MIG
  unsigned compute_instance_id;
};

struct GpmMetricNames {
  char* short_name;
  char* long_name;
  char* unit;
};

struct GpmMetric {
  unsigned metric_id;
  Return nvml_return;
  double value;
  GpmMetricNames names;
};

// The official array grows with every driver under an unchanged version word: the library touches
// the first num_metrics entries only. 128 is more than one call of ours asks for.
inline constexpr unsigned kGpmMetricsCapacity = 128;

struct GpmMetricsGet {
  unsigned version;  // kGpmMetricsGetVersion: this one carries no size
  unsigned num_metrics;
  GpmSample sample1;  // the older
  GpmSample sample2;
  GpmMetric metrics[kGpmMetricsCapacity];
};
inline constexpr unsigned kGpmMetricsGetVersion = 1;

struct GpmSupport {
  unsigned version;  // kGpmSupportVersion
  unsigned is_supported_device;
};
inline constexpr unsigned kGpmSupportVersion = 1;

// Arguments that select. Passed as plain numbers: a newer driver may know more of them.
using Selector = unsigned;

namespace clock {  // clock domains
inline constexpr Selector kGraphics = 0, kSm = 1, kMem = 2, kVideo = 3;
}
namespace clock_id {
inline constexpr Selector kCurrent = 0, kAppTarget = 1, kAppDefault = 2, kCustomerBoostMax = 3;
}
namespace temperature_sensor {
inline constexpr Selector kGpu = 0;
}
namespace temperature_threshold {
inline constexpr Selector kShutdown = 0, kSlowdown = 1, kMemMax = 2, kGpuMax = 3, kAcousticMin = 4,
                          kAcousticCurr = 5, kAcousticMax = 6;
}
namespace sampling {  // buffers of kDeviceGetSamples
inline constexpr Selector kTotalPower = 0, kGpuUtilization = 1, kMemoryUtilization = 2,
                          kEncUtilization = 3, kDecUtilization = 4, kProcessorClock = 5,
                          kMemoryClock = 6, kModulePower = 7, kJpgUtilization = 8,
                          kOfaUtilization = 9;
}
namespace perf_policy {
inline constexpr Selector kPower = 0, kThermal = 1, kSyncBoost = 2, kBoardLimit = 3,
                          kLowUtilization = 4, kReliability = 5, kTotalAppClocks = 10,
                          kTotalBaseClocks = 11;
}
namespace pcie_counter {
inline constexpr Selector kTxBytes = 0, kRxBytes = 1;
}
namespace ecc_error {
inline constexpr Selector kCorrected = 0, kUncorrected = 1;
}
namespace ecc_counter {
inline constexpr Selector kVolatile = 0, kAggregate = 1;
}
namespace memory_location {
inline constexpr Selector kL1Cache = 0, kL2Cache = 1, kDeviceMemory = 2, kRegisterFile = 3,
                          kTextureMemory = 4, kTextureShm = 5, kCbu = 6, kSram = 7;
}
namespace retirement_cause {
inline constexpr Selector kMultipleSingleBit = 0, kDoubleBit = 1;
}
namespace compute_mode {
inline constexpr unsigned kDefault = 0, kExclusiveThread = 1, kProhibited = 2,
                          kExclusiveProcess = 3;
}
namespace nvlink_capability {
inline constexpr Selector kP2pSupported = 0, kSysmemAccess = 1, kP2pAtomics = 2, kSysmemAtomics = 3,
                          kSliBridge = 4, kValid = 5;
}
namespace nvlink_error {
inline constexpr Selector kReplay = 0, kRecovery = 1, kCrcFlit = 2, kCrcData = 3, kEccData = 4;
}
namespace nvlink_remote {  // what a link leads to
inline constexpr unsigned kGpu = 0, kIbmNpu = 1, kSwitch = 2, kUnknown = 255;
}
inline constexpr unsigned kNvLinkMaxLinks = 36;

namespace topology {  // the nearest thing that two GPUs share
inline constexpr unsigned kInternal = 0, kSingle = 10, kMultiple = 20, kHostBridge = 30, kNode = 40,
                          kSystem = 50;
}
namespace p2p_caps {
inline constexpr Selector kRead = 0, kWrite = 1, kNvLink = 2, kAtomics = 3, kPci = 4;
}
namespace p2p_status {
inline constexpr unsigned kOk = 0, kChipsetNotSupported = 1, kGpuNotSupported = 2,
                          kIohNotSupported = 3, kDisabledByRegkey = 4, kNotSupported = 5,
                          kUnknown = 6;
}
namespace brand {
inline constexpr unsigned kUnknown = 0, kQuadro = 1, kTesla = 2, kNvs = 3, kGrid = 4, kGeforce = 5,
                          kTitan = 6, kQuadroRtx = 12, kNvidiaRtx = 13, kNvidia = 14,
                          kGeforceRtx = 15, kTitanRtx = 16;
}
namespace architecture {
inline constexpr unsigned kKepler = 2, kMaxwell = 3, kPascal = 4, kVolta = 5, kTuring = 6,
                          kAmpere = 7, kAda = 8, kHopper = 9, kBlackwell = 10, kRubin = 13,
                          kUnknown = ~0U;
}

// Bits of the clock event reasons.
namespace clock_reason {
inline constexpr unsigned long long kGpuIdle = 0x1, kApplicationsClocks = 0x2, kSwPowerCap = 0x4,
                                    kHwSlowdown = 0x8, kSyncBoost = 0x10, kSwThermalSlowdown = 0x20,
                                    kHwThermalSlowdown = 0x40, kHwPowerBrake = 0x80,
                                    kDisplayClock = 0x100, kBoardLimit = 0x200,
                                    kReliability = 0x400;
}
// Bits of the event types.
namespace event {
inline constexpr unsigned long long kSingleBitEcc = 0x1, kDoubleBitEcc = 0x2, kPstate = 0x4,
                                    kXidCritical = 0x8, kClock = 0x10, kPowerSource = 0x80,
                                    kMigConfig = 0x100, kSingleBitEccStorm = 0x200,
                                    kDramRetirement = 0x400, kDramRetirementFailure = 0x800,
                                    kNonFatalPoison = 0x1000, kFatalPoison = 0x2000,
                                    kGpuUnavailable = 0x4000, kGpuRecoveryAction = 0x8000;
}

// One exported function: its names, newest first, and its type. Older names of the same type
// follow; where an older function has another type, it is a Function of its own. Unused names are
// null.
template <typename Signature>
struct Function {
  static_assert(std::is_function_v<Signature>);
  using Type = Signature;
  const char* names[3] = {};
};

}  // namespace everywatt::nvml::abi

#include "device/nvml/abi_functions.h"
#include "device/nvml/abi_ids.h"
