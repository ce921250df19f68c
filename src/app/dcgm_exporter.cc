// SPDX-License-Identifier: Apache-2.0
#include "app/dcgm_exporter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/text.h"

namespace everywatt::app {
namespace {

constexpr std::string_view kName = "dcgm-exporter";
constexpr const char* kDefaultFile = "/etc/dcgm-exporter/default-counters.csv";
constexpr std::size_t kShownBytes = 80;

enum class Meaning {
  kSetting,       // the value of a key of ours
  kAddress,       // HOST:PORT, where the host may be missing
  kDevices,       // f, g, i, g+i, g:IDS
  kSwitch,        // on: a key of ours has the row's value
  kMilliseconds,  // a number of them, where a key of ours holds seconds
  kDuration,      // as Go writes them, where a key of ours holds seconds
  // Taken, and nothing is lost by it.
  kNumberWithoutEffect,
  kTextWithoutEffect,
  kSwitchWithoutEffect,
  // Taken, and said that it is not there.
  kSwitchThatIsMissing,
  kTextThatIsMissing,
};

struct Flag {
  std::string_view name;
  std::string_view letter = {};  // the short form, if any
  const char* variable = nullptr;
  Meaning meaning{};
  std::string_view key = {};
  std::string_view value = {};  // of a switch that is on
  std::string_view none = {};   // a text that stands for nothing
  std::string_view en;
  std::string_view zh;

  bool is_switch() const {
    return meaning == Meaning::kSwitch || meaning == Meaning::kSwitchWithoutEffect ||
           meaning == Meaning::kSwitchThatIsMissing;
  }
  bool is_missing() const {
    return meaning == Meaning::kSwitchThatIsMissing || meaning == Meaning::kTextThatIsMissing;
  }
};

#define FLAG(...) Flag{__VA_ARGS__},
constexpr auto kFlags = std::to_array<Flag>({
#include "app/dcgm_exporter_flags.inc"
});
#undef FLAG

std::unexpected<base::Error> complain(const std::string& message) {
  return base::fail(base::Code::kInvalidArgument, std::string(kName) + ": " + message,
                    std::string(kName) + " --help lists the flags");
}

const Flag* find_flag(std::string_view name) {
  for (const Flag& flag : kFlags) {
    if (flag.name == name || (!flag.letter.empty() && flag.letter == name)) return &flag;
  }
  return nullptr;
}

std::unexpected<base::Error> complain_of_flag(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Flag& flag : kFlags)
    names.push_back(flag.name);
  const auto near = base::nearest(name, names);
  const std::string known = near ? fmt::format("; did you mean '--{}'?", *near) : "";
  return complain(fmt::format("unknown flag '--{}'{}", base::clean_text(name, kShownBytes), known));
}

// As Go's flags take it.
std::optional<bool> parse_switch(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"", "0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

// "10s", "1m30s", "1.5h", "250ms".
std::optional<double> parse_duration_s(std::string_view text) {
  constexpr auto kUnits = std::to_array<std::pair<std::string_view, double>>(
      {{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"h", 3600}, {"m", 60}, {"s", 1}});
  if (text.empty()) return std::nullopt;
  double seconds = 0;
  while (!text.empty()) {
    double number = 0;
    const auto parsed =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (parsed.ec != std::errc() || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    bool has_unit = false;
    for (const auto& [unit, factor] : kUnits) {
      if (!text.starts_with(unit)) continue;
      seconds += number * factor;
      text.remove_prefix(unit.size());
      has_unit = true;
      break;
    }
    if (!has_unit) return std::nullopt;
  }
  return seconds;
}

std::string setting(std::string_view key, std::string_view value) {
  return fmt::format("{}={}", key, value);
}

// TOML's text: nothing in it may end it.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// "g:0,2-3" as a list of indices. Nothing: all.
base::Result<std::vector<std::string>> parse_devices(std::string_view text) {
  constexpr std::uint64_t kHighest = 1023;
  std::vector<std::string> gpus;
  if (text == "f" || text == "g" || text == "i" || text == "g+i") return gpus;
  const auto complain_of_text = [&] {
    return complain(fmt::format("--devices: '{}' is not f, g, i, g+i or g:0,2-3 (GPUs by index)",
                                base::clean_text(text, kShownBytes)));
  };
  if (!text.starts_with("g:")) return complain_of_text();
  for (const std::string_view part : base::split(text.substr(2), ',')) {
    const std::size_t dash = part.find('-');
    const auto first = base::parse_u64(part.substr(0, dash));
    const auto last = dash == part.npos ? first : base::parse_u64(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last > kHighest) return complain_of_text();
    for (std::uint64_t gpu = *first; gpu <= *last; ++gpu)
      gpus.push_back(quoted(fmt::format("{}", gpu)));
  }
  return gpus;
}

// One flag with its value, as one of our settings; nothing: it sets none.
// `everywhere`: the address that is every one.
base::Result<std::optional<std::string>> translate_value(const Flag& flag, const std::string& value,
                                                         const std::string& everywhere) {
  const auto complain_of_value = [&](std::string_view wanted) {
    return complain(fmt::format("--{}: '{}' is not {}", flag.name,
                                base::clean_text(value, kShownBytes), wanted));
  };
  switch (flag.meaning) {
    case Meaning::kSetting:
      return setting(flag.key, quoted(value));
    case Meaning::kAddress:
      return setting(flag.key, quoted(value.starts_with(':') ? everywhere + value : value));
    case Meaning::kDevices: {
      const auto gpus = parse_devices(value);
      if (!gpus) return std::unexpected(gpus.error());
      if (gpus->empty()) return std::nullopt;
      return setting(flag.key, fmt::format("[{}]", fmt::join(*gpus, ", ")));
    }
    case Meaning::kMilliseconds: {
      const auto milliseconds = base::parse_u64(value);
      if (!milliseconds) return complain_of_value("a number of milliseconds");
      return setting(flag.key, fmt::format("{}", static_cast<double>(*milliseconds) / 1000));
    }
    case Meaning::kDuration: {
      const auto seconds = parse_duration_s(value);
      if (!seconds) return complain_of_value("a duration such as 10s or 1m30s");
      // No limit, as Go has it. Ours stays: a client that never ends would keep its place for good.
      if (*seconds == 0) return std::nullopt;
      return setting(flag.key, fmt::format("{}", *seconds));
    }
    case Meaning::kNumberWithoutEffect:
      if (!base::parse_u64(value)) return complain_of_value("a number");
      return std::nullopt;
    case Meaning::kSwitch:
    case Meaning::kSwitchWithoutEffect:
    case Meaning::kSwitchThatIsMissing: {
      const auto is_on = parse_switch(value);
      if (!is_on) return complain_of_value("true or false");
      if (!*is_on || flag.meaning != Meaning::kSwitch) return std::nullopt;
      return setting(flag.key, quoted(flag.value));
    }
    case Meaning::kTextWithoutEffect:
    case Meaning::kTextThatIsMissing:
      return std::nullopt;
  }
  return std::nullopt;
}

// What was given of each flag: the environment's, then those of the command line.
using Given = std::map<const Flag*, std::string>;

base::Status read_words(const std::vector<std::string>& words, Given& given) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with('-') || word == "-" || word == "--") {
      return complain(fmt::format("'{}' is no flag", base::clean_text(word, kShownBytes)));
    }
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const std::size_t equals = word.find('=');
    const Flag* const flag = find_flag(word.substr(0, equals));
    if (flag == nullptr) return complain_of_flag(word.substr(0, equals));
    if (equals != word.npos) {
      given[flag] = word.substr(equals + 1);
    } else if (flag->is_switch()) {
      given[flag] = "true";
    } else if (i + 1 < words.size()) {
      given[flag] = words[++i];
    } else {
      return complain(fmt::format("--{} needs a value", flag->name));
    }
  }
  return {};
}

bool is_asked_for(const Flag& flag, const std::string& value) {
  if (!flag.is_missing()) return false;
  if (flag.is_switch()) return parse_switch(value).value_or(false);
  return !value.empty() && value != flag.none;
}

std::string long_and_short(const Flag& flag) {
  return flag.letter.empty() ? fmt::format("--{}", flag.name)
                             : fmt::format("--{}, -{}", flag.name, flag.letter);
}

}  // namespace

bool is_dcgm_exporter(std::string_view program_path) {
  return program_path.substr(program_path.rfind('/') + 1) == kName;
}

DcgmExporterWorld real_world() {
  return {.environment = [](const char* variable) -> std::optional<std::string> {
            const char* const value = std::getenv(variable);
            return value == nullptr ? std::nullopt : std::optional<std::string>(value);
          },
          .has_file = [](const char* path) { return ::access(path, F_OK) == 0; }};
}

base::Result<DcgmExporterStart> translate_dcgm_exporter(const std::vector<std::string>& words,
                                                        const DcgmExporterWorld& world,
                                                        Language language) {
  Given given;
  given[find_flag("collectors")] = world.has_file(kDefaultFile) ? kDefaultFile : "default";
  given[find_flag("address")] = ":9400";
  for (const Flag& flag : kFlags) {
    const auto value = world.environment(flag.variable);
    if (value && !value->empty()) given[&flag] = *value;
  }
  if (const auto read = read_words(words, given); !read) return std::unexpected(read.error());
  // Any name: that program asks none, and serves nothing that a page of elsewhere could use.
  DcgmExporterStart start{
      .words = {"serve", "--set", "serve.names=\"dcgm\"", "--set", "serve.host_names=[\"*\"]"},
      .notes = {}};
  const std::string everywhere = world.has_file("/proc/net/if_inet6") ? "[::]" : "0.0.0.0";
  for (const auto& [flag, value] : given) {
    auto translated = translate_value(*flag, value, everywhere);
    if (!translated) return std::unexpected(translated.error());
    if (*translated) start.words.insert(start.words.end(), {"--set", **std::move(translated)});
    if (is_asked_for(*flag, value)) {
      start.notes.push_back(fmt::format("{}: --{}: {}", kName, flag->name,
                                        language == Language::kZh ? flag->zh : flag->en));
    }
  }
  return start;
}

std::string dcgm_exporter_help(Language language) {
  std::string text =
      language == Language::kZh
          ? "以 dcgm-exporter 之名启动的 Everywatt:提供 DCGM 的指标名称。\n\n"
          : "Everywatt, started as dcgm-exporter: serves DCGM's names of metrics.\n\n";
  for (const Flag& flag : kFlags) {
    text += fmt::format("  {:<44} {} [${}]\n", long_and_short(flag),
                        language == Language::kZh ? flag.zh : flag.en, flag.variable);
  }
  return text;
}

}  // namespace everywatt::app
