// SPDX-License-Identifier: Apache-2.0
#include "app/served_exporter.h"

#include <unistd.h>

#include <array>

#include "app/counters_choice.h"
#include "base/log.h"
#include "base/text.h"
#include "device/host/root.h"

namespace everywatt::app {
namespace {

std::string host_name(const Config& config) {
  const auto name = host::Root(config.host_root).read("/proc/sys/kernel/hostname");
  if (name) return std::string(base::trim(*name));
  std::array<char, 256> own{};
  return ::gethostname(own.data(), own.size() - 1) == 0 ? own.data() : "";
}

}  // namespace

exporter::Options served_exporter(const Config& config) {
  exporter::Options options = exporter_options(config);
  if (config.hostname.empty()) options.hostname = host_name(config);
  auto counters = choose_counters(config);
  // The start of `serve` has told of what is wrong in it.
  if (counters) {
    options.counters = std::move(counters->counters);
  } else {
    base::log(base::LogLevel::kWarning,
              counters.error().message + ": all of DCGM's names are served");
  }
  return options;
}

}  // namespace everywatt::app
