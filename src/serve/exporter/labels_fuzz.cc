// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/fuzz_target.h"
#include "serve/exporter/exporter.h"
#include "serve/exporter/exposition.h"
#include "serve/exporter/exposition_check.h"

namespace everywatt::exporter {

// Any text as a label, a help text and a choice of names.
FUZZ_TARGET(labels) {
  base::FuzzInput input(bytes);
  const std::string_view first = input.part();
  const std::string_view second = input.rest();
  std::string text;
  Exposition out(text);
  out.begin_family("a", "gauge", "help");
  out.sample().label("x", first).label("y", second).value(1.5);
  const std::string ready = join_labels(format_label("gpu", second), format_label("uuid", first));
  out.sample("_b").labels(ready).value(std::uint64_t{2});
  check_exposition(text);
  CHECK(ready.size() <= 2 * 2 * 256 + 20);
  if (const auto names = parse_names(bytes)) {
    CHECK(*names <= kAllNames);
  } else {
    CHECK(base::is_clean(names.error().message));
  }
}

}  // namespace everywatt::exporter
