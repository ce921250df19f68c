// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/view/view.h"
#include "serve/exporter/counters.h"
#include "serve/exporter/exposition.h"

namespace everywatt::exporter {

// Which names an exposition speaks; several together.
enum class Names : std::uint8_t {
  kNative = 1,      // gpu_..., node_...: base units
  kDcgm = 2,        // DCGM_FI_...: as dcgm-exporter writes them
  kSelf = 4,        // everywatt_...: what Everywatt itself costs and how it keeps up
  kDcgmLegacy = 8,  // dcgm_...: the lower-case names of old dashboards
};
using NameSets = std::uint8_t;  // Names or'd together
inline constexpr NameSets kDefaultNames = 7;

inline constexpr NameSets kAllNames = 15;
constexpr bool has(NameSets sets, Names names) {
  return (sets & static_cast<NameSets>(names)) != 0;
}

// "native,dcgm,dcgm-legacy,self" in any order. kInvalidArgument names the unknown one and those
// that exist.
base::Result<NameSets> parse_names(std::string_view text);

struct Plan;

struct Options {
  std::string hostname;  // of DCGM's label Hostname
  // Processes of a GPU that get samples of their own, by memory; the others are summed up. 0: pids
  // appear nowhere.
  std::size_t processes_a_gpu = 16;
  Counters counters = all_counters();  // what DCGM's names are of
};

// What a scrape asks for.
struct Wish {
  NameSets names = kDefaultNames;
  // Their slots; a GPU's MIG instances come with it. Empty: all. What is of no GPU is there in any
  // case.
  std::vector<std::uint32_t> gpus = {};
};

// Encodes what a view holds now. Pure: reads the view, touches nothing else. Keeps what it looked
// up about devices between calls; one thread at a time.
class Encoder {
 public:
  explicit Encoder(Options options);
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  // Whole families. An absent reading has no series; there is never a NaN.
  void encode(const view::View& view, const Wish& wish, Exposition& out);

 private:
  struct State;
  void append(const view::View& view, const Plan& plan, NameSets names, Exposition& out);

  std::unique_ptr<State> state_;
};

}  // namespace everywatt::exporter
