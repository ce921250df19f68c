// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/complaints.h"

#include <fmt/format.h>

#include "base/log.h"

namespace everywatt::hostwatch {
namespace {

constexpr std::size_t kMostSubjects = 256;

base::LogLevel level_of(base::Code code) {
  return code == base::Code::kNotFound || code == base::Code::kNotSupported
             ? base::LogLevel::kDebug
             : base::LogLevel::kWarning;
}

}  // namespace

void Complaints::failed(std::string_view subject, const base::Error& error) {
  const auto known = reasons_.find(subject);
  if (known != reasons_.end()) {
    if (known->second == error.code) return;
    known->second = error.code;
  } else {
    if (reasons_.size() >= kMostSubjects) return;
    reasons_.emplace(subject, error.code);
  }
  base::log(level_of(error.code), fmt::format("{}: {}", subject, error.message));
}

void Complaints::worked(std::string_view subject) {
  if (reasons_.empty()) return;
  const auto known = reasons_.find(subject);
  if (known == reasons_.end()) return;
  base::log(level_of(known->second), fmt::format("{}: can be read again", subject));
  reasons_.erase(known);
}

}  // namespace everywatt::hostwatch
