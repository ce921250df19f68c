// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "read/view/view.h"

namespace everywatt::exporter {

// Which names an exposition speaks; several together.
enum class Names : std::uint8_t {
  kNative = 1,  // gpu_..., node_...: base units
  kDcgm = 2,    // DCGM_FI_...: as dcgm-exporter writes them
  kSelf = 4,    // everywatt_...: what Everywatt itself costs and how it keeps up
};
using NameSets = std::uint8_t;  // Names or'd together
inline constexpr NameSets kDefaultNames = 7;

// "native,dcgm,self" in any order. kInvalidArgument names the unknown one and those that exist.
base::Result<NameSets> parse_names(std::string_view text);

struct Options {
  std::string hostname;  // of DCGM's label Hostname
  // Processes of a GPU that get samples of their own, by memory; the others are summed up. 0: pids
  // appear nowhere.
  std::size_t processes_a_gpu = 16;
};

// Encodes what a view holds now as Prometheus text 0.0.4. Pure: reads the view, touches nothing
// else. Keeps what it looked up about devices between calls; one thread at a time.
class Encoder {
 public:
  explicit Encoder(Options options);
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  // Replaces `text`. An absent reading has no series; there is never a NaN.
  void encode(const view::View& view, NameSets names, std::string& text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace everywatt::exporter
