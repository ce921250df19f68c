// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace everywatt::remote_write {
namespace {

constexpr std::size_t kLongestName = 32;
constexpr std::uint64_t kSmallestQueueBytes = std::uint64_t{1} << 20;

std::unexpected<base::Error> refuse(std::string message) {
  return base::fail(base::Code::kInvalidArgument, std::move(message));
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Of a folder and of a label's value.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '-';
  });
}

// Names with "__" before them are Prometheus' own.
bool is_label_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) && !name.starts_with("__") &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

// No header, and no request, is to grow a line by what a configuration says.
bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

base::Status check_labels(const Options& options) {
  for (std::size_t i = 0; i < options.labels.size(); ++i) {
    const auto& [name, value] = options.labels[i];
    if (!is_label_name(name))
      return refuse(fmt::format("labels: '{}' is no name of a label", name));
    const auto same = [&name](const auto& other) { return other.first == name; };
    if (std::ranges::count_if(options.labels, same) > 1) {
      return refuse(fmt::format("labels: '{}' is there twice", name));
    }
    if (base::clean_text(value, value.size()) != value) {
      return refuse(fmt::format("labels: the value of '{}' is not plain UTF-8", name));
    }
  }
  return {};
}

base::Status check_credentials(const Options& options) {
  const bool has_basic = !options.username.empty() || options.password.is_set();
  if (has_basic && options.token.is_set()) {
    return refuse("token: there is a username or password, too; a request carries one of them");
  }
  if (options.password.is_set() && options.username.empty()) {
    return refuse("password: there is no username");
  }
  if (options.cert_file.empty() != options.key_file.empty()) {
    return refuse("cert_file and key_file: one goes with the other");
  }
  return {};
}

}  // namespace

base::Status check_options(const Options& options) {
  if (!is_name(options.name)) {
    return refuse("a name has 1 to 32 of the characters a-z, 0-9, '_' and '-'");
  }
  if (!options.url.starts_with("http://") && !options.url.starts_with("https://")) {
    return refuse("url: it begins with http:// or https://");
  }
  if (!is_one_line(options.url)) return refuse("url: it has a line break");
  if (!is_one_line(options.tenant)) return refuse("tenant: it has a line break");
  if (options.names == 0) return refuse("names: there are none");
  for (const std::string& metric : options.metrics) {
    const std::size_t star = metric.find('*');
    if (metric.empty() || (star != metric.npos && star + 1 != metric.size())) {
      return refuse(fmt::format("metrics: '{}': a '*' stands at the end of a name", metric));
    }
  }
  if (options.step_ns < kShortestStepNs || options.step_ns > kLongestStepNs) {
    return refuse("step_seconds: it is from 0.1 to 3600");
  }
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  constexpr std::int64_t kMillisecondNs = 1'000'000;
  if (options.step_ns % kMillisecondNs != 0) {
    return refuse("step_seconds: it is a whole number of milliseconds");
  }
  if (options.step_ns > kSecondNs && options.step_ns % kSecondNs != 0) {
    return refuse("step_seconds: above 1 it is a whole number");
  }
  if (options.queue_bytes < kSmallestQueueBytes) return refuse("queue_megabytes: at least 1");
  if (auto checked = check_credentials(options); !checked) return checked;
  return check_labels(options);
}

}  // namespace everywatt::remote_write
