// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace everywatt::web {

struct Parameter {
  std::string name;
  std::string value;
};

// What a request asks for. An absolute target ("http://host/path") also says its host.
struct Target {
  std::optional<std::string> host;
  std::string path;
  std::vector<Parameter> parameters;  // decoded, in the order sent

  // The value, or nothing.
  const std::string* find(std::string_view name) const;
};

// kInvalidArgument: no path, or a percent sign that encodes nothing.
base::Result<Target> parse_target(std::string_view text);

// kInvalidArgument: a parameter that is not among `known`, or one given twice.
base::Status check_parameters(const Target& target, std::span<const std::string_view> known);

}  // namespace everywatt::web
