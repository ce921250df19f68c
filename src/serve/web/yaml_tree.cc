// SPDX-License-Identifier: Apache-2.0
// The only file that knows yaml-cpp.
#include "serve/web/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace everywatt::web {
namespace {

constexpr std::size_t kMostNodes = 10'000;
constexpr std::size_t kDeepest = 32;
constexpr std::size_t kShownBytes = 100;

// What is wrong, and where. Thrown and caught here: the library throws anyway.
struct Fault {
  std::size_t line;
  std::string text;
};

std::size_t line_of(const YAML::Mark& mark) {
  return mark.line < 0 ? 1 : static_cast<std::size_t>(mark.line) + 1;
}

class Copier {
 public:
  YamlNode copy(const YAML::Node& node, std::size_t depth = 0) {
    const std::size_t line = line_of(node.Mark());
    if (++nodes_ > kMostNodes || depth > kDeepest) throw Fault{line, "too many values"};
    YamlNode copied;
    copied.line = line;
    if (node.IsScalar()) {
      copied.kind = YamlNode::Kind::kText;
      copied.text = node.Scalar();
    } else if (node.IsSequence()) {
      copied.kind = YamlNode::Kind::kList;
      for (const auto& item : node)
        copied.items.push_back(copy(item, depth + 1));
    } else if (node.IsMap()) {
      copied.kind = YamlNode::Kind::kMap;
      for (const auto& entry : node)
        add(copied, entry.first, entry.second, depth + 1);
    }
    return copied;
  }

 private:
  void add(YamlNode& map, const YAML::Node& key, const YAML::Node& value, std::size_t depth) {
    const std::size_t line = line_of(key.Mark());
    if (!key.IsScalar()) throw Fault{line, "a key that is no text"};
    if (map.find(key.Scalar()) != nullptr) {
      throw Fault{line,
                  fmt::format("key '{}' comes twice", base::clean_text(key.Scalar(), kShownBytes))};
    }
    map.entries.push_back({.key = key.Scalar(), .line = line, .value = copy(value, depth)});
  }

  std::size_t nodes_ = 0;
};

}  // namespace

const YamlEntry* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &YamlEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

base::Result<YamlNode> parse_yaml(std::string_view text, const std::string& name) {
  const auto complain = [&name](std::size_t line, std::string_view what) {
    return base::fail(base::Code::kInvalidArgument, fmt::format("{}:{}: {}", name, line, what));
  };
  try {
    return Copier().copy(YAML::Load(std::string(text)));
  } catch (const Fault& fault) {
    return complain(fault.line, fault.text);
  } catch (const YAML::Exception& error) {
    // Behind a colon it repeats the text, which may be a secret.
    const std::string words = error.msg.substr(0, error.msg.find(':'));
    return complain(line_of(error.mark), "not in YAML: " + base::clean_text(words, kShownBytes));
  } catch (const std::exception&) {
    return complain(1, "not in YAML");
  }
}

}  // namespace everywatt::web
