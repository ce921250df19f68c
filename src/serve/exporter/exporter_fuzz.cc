// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/exporter.h"

#include <string>

#include "base/fuzz_target.h"
#include "read/view/hostile_fixture.h"
#include "serve/exporter/exposition_check.h"

namespace everywatt::exporter {
namespace {

void scrape(const view::View& view) {
  Encoder encoder({.hostname = "node", .processes_a_gpu = 2});
  std::string text;
  Exposition out(text);
  encoder.encode(view, {.names = kAllNames}, out);
  out.end();
  check_exposition(text);
}

}  // namespace

// A scrape of a file that is not to be trusted is still one that Prometheus takes.
FUZZ_TARGET(exporter) {
  view::use_hostile_views(bytes, scrape);
}

}  // namespace everywatt::exporter
