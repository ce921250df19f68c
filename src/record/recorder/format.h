// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

// The recorder's file format. docs/recorder_format.md tells the same with a worked example.
//
// TERMS
//   cell      8 bytes: one value; its type (f64, u64, i64, part of a text) is in the catalog copy.
//   state     4 bits a cell: catalog::State, why a cell holds no value (0: not read in this row).
//   row       the cells of one lane of one device at one time, all of the same width in a ring.
//   ring      a fixed number of row slots, written round and round by one writer.
//   device    what readings belong to: a GPU, a MIG instance, the machine, a disk, ... one slot
//   each. sequence  the number of a row in its ring, from 0, never reused in a file. Slot =
//   sequence mod
//             capacity.
//
// PICTURE
//   +--------+---------------+--------------+----------------+--------+--------+-----
//   | Header | CatalogEntry[]| DeviceSlot[] | RingEntry[]    | ring 0 | ring 1 | ...
//   +--------+---------------+--------------+----------------+--------+--------+-----
//   ring:  | row slot 0 | row slot 1 | ... | row slot capacity-1 |        (page aligned)
//   row:   | check | time | window start | window end | states ... | cells ... |   8-byte words
//
// LAW
//   Little-endian, 8-byte words, no pointers, no padding that means something. Zero means unset.
//   Everything up to the rings is written before the file gets its name and is constant afterwards,
//   except what is declared std::atomic below. A file is never truncated and never reused under the
//   same name: a larger one replaces it by rename, and sets `successor` in the old one.
//   Word-sized atomics stored with release and loaded with acquire are all the ordering there is.
//
// WRITING ROW n (one writer a ring; a crash at any point leaves rows < published intact)
//   1. reserved  = n + 1            from now on slot n mod capacity is unreliable
//   2. the row's words, each stored with release, the check word last
//   3. published = n + 1            row n may be read
//   Release stores keep their order, so whoever sees a word of row n (by acquire) and then loads
//   `reserved` sees at least n + 1.
//
// READING ROW n
//   1. p = published; n < p, or there is no such row yet
//   2. copy the slot's words, each loaded with acquire
//   3. r = reserved; if r > n + capacity the slot was being rewritten meanwhile: the row is lost
//   4. the check word must equal row_check(n, words): if not, the file is damaged there
//   Step 3 comes after step 2 because an acquire load is not overtaken by later loads.
//
// VERSIONING
//   `version` changes when an old reader would misread a new file. Tables carry their entry sizes,
//   so entries may grow at their end without a new version. Metrics are named, not numbered: a
//   reader maps the columns of the catalog copy to the metrics that it knows and skips the others.
//
// WHAT IT IS NOT
//   Not a log (old rows are overwritten), not compressed, not portable to big-endian machines.
namespace everywatt::recorder {

using Word = std::atomic<std::uint64_t>;
static_assert(sizeof(Word) == 8 && alignof(Word) == 8 && Word::is_always_lock_free);

inline constexpr std::uint64_t kMagic = 0x4354'5441'5757'4545;  // "EEWWATTC" as bytes
inline constexpr std::uint32_t kVersion = 1;
// What a reader allows: far above what is written, far below what could exhaust it.
inline constexpr std::uint32_t kMaxCatalogEntries = 4096;
inline constexpr std::uint32_t kMaxDevices = 4096;
inline constexpr std::uint32_t kMaxRings = 32768;
inline constexpr std::uint32_t kMaxRowWords = 4096;
inline constexpr std::uint64_t kMaxCapacity = std::uint64_t{1} << 28;
inline constexpr std::uint32_t kMaxEntryBytes = 4096;  // of any table
inline constexpr std::size_t kPageBytes = 4096;

// Everywatt's own processes, in the order of Header::parts.
enum class Part : std::uint8_t { kSupervisor, kSampler, kHost, kServer };
inline constexpr unsigned kPartCount = 4;

// What a part tells about itself; written by that part alone, `starts` and `unkillable` by the
// supervisor.
struct PartSlot {
  Word pid;           // 0: not running
  Word started_ns;    // boottime
  Word heartbeat_ns;  // boottime, at least once a second while it works
  Word starts;        // how often the supervisor has started it
  Word unkillable;    // in the supervisor's: processes that it killed and that are there still
  Word reserved[3];
};
static_assert(sizeof(PartSlot) == 64);

// At the file's start. The first 128 bytes are constant, the rest is written while the file lives.
struct Header {
  std::uint64_t magic;           // kMagic
  std::uint32_t version;         // kVersion
  std::uint32_t header_bytes;    // sizeof(Header) of the version that made it
  std::uint64_t file_bytes;      // the file's size; a shorter file is damaged
  std::uint8_t boot_id[16];      // of the boot whose boottime the rows tell
  std::int64_t created_ns;       // boottime
  std::int64_t created_wall_ns;  // UTC, the same moment
  std::uint32_t catalog_count;
  std::uint32_t catalog_entry_bytes;
  std::uint32_t device_count;  // slots, used or spare
  std::uint32_t device_entry_bytes;
  std::uint32_t ring_count;
  std::uint32_t ring_entry_bytes;
  std::uint64_t catalog_offset;
  std::uint64_t device_offset;
  std::uint64_t ring_offset;
  std::uint32_t source;  // enum Source
  std::uint32_t reserved0;
  // words_check (check_word.h) over what else is constant: the catalog copy whole, then the first
  // kDeviceConstantBytes of each device slot, then the first kRingConstantBytes of each ring entry.
  std::uint64_t tables_check;
  std::uint64_t header_check;  // words_check over the words before this one
  // Wall clock minus boottime, ns, kept current by the host process: people's time of any row is
  // its time plus this. A stepped clock moves all of the past with it, and nothing else.
  Word wall_offset_ns;
  Word closed_ns;  // boottime when its writers ended in good order; 0 while live
  Word successor;  // 1: another file has this one's name now
  Word reserved1[5];
  PartSlot parts[kPartCount];
};
static_assert(sizeof(Header) == 128 + 64 + 4 * 64);
static_assert(offsetof(Header, file_bytes) == 16 && offsetof(Header, boot_id) == 24);
static_assert(offsetof(Header, created_ns) == 40 && offsetof(Header, catalog_count) == 56);
static_assert(offsetof(Header, catalog_offset) == 80 && offsetof(Header, source) == 104);
static_assert(offsetof(Header, tables_check) == 112 && offsetof(Header, header_check) == 120);
static_assert(offsetof(Header, wall_offset_ns) == 128 && offsetof(Header, successor) == 144);
static_assert(offsetof(Header, parts) == 192);

// Where a file's rows come from.
enum class Source : std::uint32_t {
  kLive = 1,
  kRecording = 2,
  kImport = 3,
  kIdentities = 4,
  kJournal = 5,
};

// The copy of one catalog row that a reader without our sources needs.
struct CatalogEntry {
  char name[64];  // zero-terminated
  char unit[24];
  char instance_label[16];
  std::uint8_t scope;        // catalog::Scope
  std::uint8_t lane;         // catalog::Lane
  std::uint8_t kind;         // catalog::Kind
  std::uint8_t type;         // catalog::Type
  std::uint16_t first_cell;  // column in a row of (scope, lane)
  std::uint16_t instances;
  std::uint16_t text_cells;  // 0 unless type is text
  std::uint16_t reserved0;
  std::uint32_t period_ms;
  double low, high, resolution;
};
static_assert(sizeof(CatalogEntry) == 144);
static_assert(offsetof(CatalogEntry, scope) == 104 && offsetof(CatalogEntry, first_cell) == 108);
static_assert(offsetof(CatalogEntry, period_ms) == 116 && offsetof(CatalogEntry, low) == 120);

// One device. Constant: scope and parent. The rest by the part that reads the device.
struct DeviceSlot {
  std::uint32_t scope;   // catalog::Scope
  std::uint32_t parent;  // device slot of the GPU of a MIG instance, else 0xffffffff
  Word status;           // DeviceStatus
  Word status_since_ns;  // boottime
  Word index;            // nvidia-smi's index, or the place in its scope's list
  Word generation;       // grows each time that the slot gets another device or it comes back
  // The breadcrumb: which driver call is running (nvml::Call + 1; 0: none) and since when. What is
  // seen here past its deadline is a call that hangs.
  Word call;
  Word call_since_ns;
  Word rows_before;  // rows older than this (boottime) belong to another device
  Word reserved0[8];
};
static_assert(sizeof(DeviceSlot) == 128);
inline constexpr std::size_t kDeviceConstantBytes = 8;
static_assert(offsetof(DeviceSlot, status) == kDeviceConstantBytes);
inline constexpr std::uint32_t kNoParent = 0xffff'ffff;

// Whether a slot holds a device, and if it cannot be read, why. Part of the format.
enum class DeviceStatus : std::uint64_t {
  kUnused = 0,
  kOk = 1,
  kLost = 2,       // gone from the bus
  kTimedOut = 3,   // a driver call does not return
  kDrained = 4,    // let go of on request
  kGone = 5,       // removed in good order (MIG layout changed, hot-plug)
  kFailed = 6,     // the driver answers with errors
  kSuspended = 7,  // powered down by the kernel; touching it would wake it
};

// One ring. Constant but for the two counters.
struct RingEntry {
  std::uint32_t device;  // device slot
  std::uint8_t lane;     // catalog::Lane
  std::uint8_t writer;   // Part
  std::uint16_t reserved0;
  std::uint32_t cells;      // a row
  std::uint32_t row_words;  // kRowHeaderWords + state words + cells
  std::uint64_t capacity;   // rows
  std::uint64_t offset;     // of slot 0 from the start of the file
  Word allocated;           // 1: its pages exist, so writing cannot fail for lack of space
  Word reserved;
  Word published;
  Word reserved1[1];
};
static_assert(sizeof(RingEntry) == 64);
inline constexpr std::size_t kRingConstantBytes = 32;
static_assert(offsetof(RingEntry, allocated) == kRingConstantBytes);
static_assert(offsetof(RingEntry, capacity) == 16 && offsetof(RingEntry, published) == 48);

// Words before a row's states: check, time, window start, window end.
inline constexpr std::uint32_t kRowHeaderWords = 4;

}  // namespace everywatt::recorder
