// SPDX-License-Identifier: Apache-2.0
//
// Numbers of the NVML interface that name a reading: field ids (kDeviceGetFieldValues) and GPM
// metric ids (kGpmMetricsGet). Those that come in rows, one a link or an engine, are functions of
// its number.
#pragma once

namespace everywatt::nvml::abi {

namespace field {

inline constexpr unsigned kEccCurrent = 1, kEccPending = 2;
inline constexpr unsigned kRetiredSingleBit = 29, kRetiredDoubleBit = 30, kRetiredPending = 31;

// Time in nanoseconds that a policy held the clocks down.
inline constexpr unsigned kViolationPower = 74, kViolationThermal = 75, kViolationSyncBoost = 76,
                          kViolationBoardLimit = 77, kViolationLowUtilization = 78,
                          kViolationReliability = 79, kViolationTotalAppClocks = 80,
                          kViolationTotalBaseClocks = 81;

inline constexpr unsigned kMemoryTemperature = 82;
inline constexpr unsigned kTotalEnergy = 83;  // mJ
inline constexpr unsigned kNvLinkSpeedCommon = 90, kNvLinkCount = 91;
inline constexpr unsigned kPcieReplay = 94, kPcieReplayRollover = 95;

// KiB that crossed a link (scope: the link; all links: kAllLinks).
inline constexpr unsigned kNvLinkDataTx = 138, kNvLinkDataRx = 139, kNvLinkRawTx = 140,
                          kNvLinkRawRx = 141;
inline constexpr unsigned kAllLinks = ~0U;

inline constexpr unsigned kRemappedCorrectable = 142, kRemappedUncorrectable = 143,
                          kRemappedPending = 144, kRemappedFailure = 145;
inline constexpr unsigned kNvLinkRemoteId = 146, kNvSwitchConnectedLinks = 147;

// By link (scope: the link).
inline constexpr unsigned kNvLinkErrorReplay = 161, kNvLinkErrorRecovery = 162,
                          kNvLinkErrorCrc = 163, kNvLinkGetSpeed = 164, kNvLinkGetState = 165,
                          kNvLinkGetVersion = 166, kNvLinkGetPowerState = 167;

inline constexpr unsigned kPcieL0ToRecovery = 169, kC2cLinkCount = 170, kC2cLinkStatus = 171,
                          kC2cLinkMaxBandwidth = 172;
inline constexpr unsigned kPcieCorrectableErrors = 173, kPcieNaksReceived = 174,
                          kPcieReceiverErrors = 175, kPcieBadTlp = 176, kPcieNaksSent = 177,
                          kPcieBadDllp = 178, kPcieNonFatalErrors = 179, kPcieFatalErrors = 180,
                          kPcieUnsupportedRequests = 181, kPcieLcrcErrors = 182,
                          kPcieLaneErrors = 183;

// Power in mW (scope 0: the GPU, 1: the module, 2: the memory).
inline constexpr unsigned kPowerAverage = 185, kPowerInstant = 186, kPowerMinLimit = 187,
                          kPowerMaxLimit = 188, kPowerDefaultLimit = 189, kPowerCurrentLimit = 190,
                          kEnergy = 191, kPowerRequestedLimit = 192;

// Degrees left until the threshold, on GPUs that report margins.
inline constexpr unsigned kTlimitShutdown = 193, kTlimitSlowdown = 194, kTlimitMemMax = 195,
                          kTlimitGpuMax = 196;
inline constexpr unsigned kPcieTxBytes = 197, kPcieRxBytes = 198;

// NVLink 5 counters, by link.
inline constexpr unsigned kNvLinkXmitPackets = 201, kNvLinkXmitBytes = 202, kNvLinkRcvPackets = 203,
                          kNvLinkRcvBytes = 204, kNvLinkMalformedPackets = 206,
                          kNvLinkBufferOverruns = 207, kNvLinkRcvErrors = 208,
                          kNvLinkRcvRemoteErrors = 209, kNvLinkRcvGeneralErrors = 210,
                          kNvLinkLocalIntegrityErrors = 211, kNvLinkXmitDiscards = 212,
                          kNvLinkRecoverySuccessful = 213, kNvLinkRecoveryFailed = 214,
                          kNvLinkRecoveryEvents = 215, kNvLinkEffectiveErrors = 219,
                          kNvLinkEffectiveBer = 220, kNvLinkSymbolErrors = 221,
                          kNvLinkSymbolBer = 222;

inline constexpr unsigned kResetStatus = 226, kDrainAndResetStatus = 227, kGpuRecoveryAction = 230;

// Time in nanoseconds that hardware reasons held the clocks down.
inline constexpr unsigned kReasonTimeSwThermal = 269, kReasonTimeHwThermal = 270,
                          kReasonTimeHwPowerBrake = 271;

}  // namespace field

namespace gpm {

// Percent.
inline constexpr unsigned kGraphicsUtil = 1, kSmUtil = 2, kSmOccupancy = 3, kIntegerUtil = 4,
                          kAnyTensorUtil = 5, kDfmaTensorUtil = 6, kHmmaTensorUtil = 7,
                          kDmmaTensorUtil = 8, kImmaTensorUtil = 9, kDramBandwidthUtil = 10,
                          kFp64Util = 11, kFp32Util = 12, kFp16Util = 13;
// MiB a second.
inline constexpr unsigned kPcieTxPerSec = 20, kPcieRxPerSec = 21;
inline constexpr unsigned kNvLinkTotalRxPerSec = 60, kNvLinkTotalTxPerSec = 61;

inline constexpr unsigned kNvdecEngines = 8, kNvjpgEngines = 8, kNvofaEngines = 2,
                          kNvencEngines = 4, kLinks = 36;
constexpr unsigned nvdec_util(unsigned engine) {
  return 30 + engine;
}
constexpr unsigned nvjpg_util(unsigned engine) {
  return 40 + engine;
}
constexpr unsigned nvofa_util(unsigned engine) {
  return 50 + engine;
}
constexpr unsigned nvenc_util(unsigned engine) {
  return 166 + engine;
}

// Links from 18 on came later and got numbers elsewhere.
constexpr unsigned nvlink_rx_per_sec(unsigned link) {
  return (link < 18 ? 62 : 212 - 2 * 18) + 2 * link;
}
constexpr unsigned nvlink_tx_per_sec(unsigned link) {
  return nvlink_rx_per_sec(link) + 1;
}

inline constexpr unsigned kC2cTotalTxPerSec = 100, kC2cTotalRxPerSec = 101, kC2cDataTxPerSec = 102,
                          kC2cDataRxPerSec = 103;

}  // namespace gpm

}  // namespace everywatt::nvml::abi
