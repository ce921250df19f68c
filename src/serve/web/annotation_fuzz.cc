// SPDX-License-Identifier: Apache-2.0
#include "serve/web/annotation.h"

#include <cmath>

#include "base/fuzz_target.h"
#include "catalog/row.h"

namespace everywatt::web {

// What anybody on the machine may send: either it is a mark, or it is dropped.
FUZZ_TARGET(annotation) {
  const auto annotation = parse_annotation(bytes);
  if (!annotation) return;
  CHECK(bytes.size() <= kMostAnnotationBytes);
  CHECK(base::is_utf8(annotation->text) && base::is_utf8(annotation->phase));
  CHECK(!annotation->epoch || std::isfinite(*annotation->epoch));
  CHECK(annotation->values.size() <= kMostAnnotationValues);
  catalog::Row row(catalog::Scope::kNode, catalog::Lane::kEvent);
  row.set_text(catalog::MetricId::annotation_text, annotation->text);
  CHECK(base::is_clean(row.text(catalog::MetricId::annotation_text)));
  unsigned place = 0;
  for (const auto& [name, value] : annotation->values) {
    CHECK(!name.empty() && name.size() <= 32 && base::is_utf8(name) && std::isfinite(value));
    row.set_text(catalog::MetricId::annotation_value_name, name, place++);
  }
}

}  // namespace everywatt::web
