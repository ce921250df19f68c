// SPDX-License-Identifier: Apache-2.0
#include "app/config_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/messages.h"
#include "app/translation.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

using Channel = notify::ChannelOptions;
using Destination = remote_write::Options;
using Source = outgoing::SecretSource;

template <typename Options>
Options& named(std::vector<Options>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Options::name);
  if (found != all.end()) return *found;
  all.emplace_back().name = name;
  return all.back();
}

Channel& channel(Config& config, std::string_view name) {
  return named(config.channels, name);
}
Destination& destination(Config& config, std::string_view name) {
  return named(config.remote_writes, name);
}
const std::string& text_of(const ConfigValue& value) {
  return std::get<std::string>(value);
}
const std::vector<std::string>& texts_of(const ConfigValue& value) {
  return std::get<std::vector<std::string>>(value);
}

template <auto kMember>
base::Status set_channel_text(Config& config, std::string_view table, const ConfigValue& value) {
  channel(config, table).*kMember = text_of(value);
  return {};
}
template <auto kMember>
base::Status set_channel_texts(Config& config, std::string_view table, const ConfigValue& value) {
  channel(config, table).*kMember = texts_of(value);
  return {};
}
template <auto kSource, auto kMember>
base::Status set_channel_secret(Config& config, std::string_view table, const ConfigValue& value) {
  channel(config, table).*kSource.*kMember = text_of(value);
  return {};
}

base::Status set_channel_type(Config& config, std::string_view table, const ConfigValue& value) {
  channel(config, table).type = *notify::parse_type(text_of(value));
  return {};
}
base::Status set_channel_starttls(Config& config, std::string_view table,
                                  const ConfigValue& value) {
  channel(config, table).starttls =
      text_of(value) == "off" ? outgoing::Starttls::kOff : outgoing::Starttls::kRequired;
  return {};
}
base::Status set_channel_language(Config& config, std::string_view table,
                                  const ConfigValue& value) {
  channel(config, table).language =
      text_of(value) == "zh" ? notify::Language::kChinese : notify::Language::kEnglish;
  return {};
}
base::Status set_channel_at_all(Config& config, std::string_view table, const ConfigValue& value) {
  channel(config, table).at_all_critical =
      text_of(value) == "yes" ? notify::AtAllCritical::kYes : notify::AtAllCritical::kNo;
  return {};
}
base::Status set_channel_budget(Config& config, std::string_view table, const ConfigValue& value) {
  channel(config, table).per_minute = std::get<double>(value);
  return {};
}

template <auto kMember>
base::Status set_destination_text(Config& config, std::string_view table,
                                  const ConfigValue& value) {
  destination(config, table).*kMember = text_of(value);
  return {};
}
template <auto kMember>
base::Status set_destination_texts(Config& config, std::string_view table,
                                   const ConfigValue& value) {
  destination(config, table).*kMember = texts_of(value);
  return {};
}
template <auto kSource, auto kMember>
base::Status set_destination_secret(Config& config, std::string_view table,
                                    const ConfigValue& value) {
  destination(config, table).*kSource.*kMember = text_of(value);
  return {};
}

base::Status set_destination_names(Config& config, std::string_view table,
                                   const ConfigValue& value) {
  const auto names = exporter::parse_names(text_of(value));
  if (!names) return std::unexpected(names.error());
  destination(config, table).names = *names;
  return {};
}
base::Status set_destination_step(Config& config, std::string_view table,
                                  const ConfigValue& value) {
  constexpr double kNsPerSecond = 1e9;
  destination(config, table).step_ns = std::llround(std::get<double>(value) * kNsPerSecond);
  return {};
}
// Its names come singly: apply_table_name().
base::Status set_destination_labels(Config& /*config*/, std::string_view /*table*/,
                                    const ConfigValue& /*value*/) {
  return base::fail(base::Code::kInvalidArgument, "must be a table of texts");
}
base::Status set_destination_check(Config& config, std::string_view table,
                                   const ConfigValue& value) {
  destination(config, table).tls_check =
      text_of(value) == "yes" ? outgoing::TlsCheck::kNone : outgoing::TlsCheck::kFull;
  return {};
}
base::Status set_destination_queue(Config& config, std::string_view table,
                                   const ConfigValue& value) {
  destination(config, table).queue_bytes = static_cast<std::uint64_t>(std::get<double>(value))
                                           << 20;
  return {};
}

constexpr auto kNotifyKeys = std::to_array<TableKey>({
#define NOTIFY(set, ...) {.key = {__VA_ARGS__}, .apply = set},
#define REMOTE_WRITE(...)
#include "app/config_tables.inc"
#undef REMOTE_WRITE
#undef NOTIFY
});

constexpr auto kRemoteWriteKeys = std::to_array<TableKey>({
#define NOTIFY(...)
#define REMOTE_WRITE(set, ...) {.key = {__VA_ARGS__}, .apply = set},
#include "app/config_tables.inc"
#undef REMOTE_WRITE
#undef NOTIFY
});

constexpr auto kKinds = std::to_array<TableKind>({
    {.section = "notify",
     .example = "ops",
     .names_key = "",
     .keys = kNotifyKeys,
     .en = "Who is told of alerts: a table for each channel, of a name of your own (a-z, 0-9, _ "
           "and -). docs/notify.md shows one of each type.",
     .zh =
         "告警通知谁:每个通道一张表,名称自定(a-z、0-9、_、-)。docs/notify.md 给出每种类型的示例。"},
    {.section = "remote_write",
     .example = "central",
     .names_key = "labels",
     .keys = kRemoteWriteKeys,
     .en = "Receivers of Prometheus' remote write: a table for each, of a name of your own. "
           "docs/remote_write.md says more.",
     .zh = "Prometheus 远程写入的接收方:每个一张表,名称自定。详见 docs/remote_write.md。"},
});

std::string table_name(const TableKind& kind, std::string_view table) {
  return fmt::format("{}.{}", kind.section, table);
}

// What must be told of a table once all of it is known, in the order of who looks.
class TableCheck {
 public:
  TableCheck(const TableKind& kind, const std::string& table, Language language,
             ConfigReading& reading)
      : name_(table_name(kind, table)), language_(language), reading_(reading) {}

  void complain(std::string_view what) {
    reading_.faults.push_back(
        fmt::format("{}{}: {}", reading_.table_places[name_], name_, translate(what, language_)));
    is_fine_ = false;
  }
  void check_source(std::string_view key, const Source& source) {
    if (source.file.empty() || source.env.empty()) return;
    complain(fmt::format("{}_file and {}_env are two sources", key, key));
  }
  // Its message names the table itself, or not.
  void check_options(const base::Status& checked) {
    if (checked || !is_fine_) return;
    std::string_view what = checked.error().message;
    if (what.starts_with(name_ + ": ")) what.remove_prefix(name_.size() + 2);
    complain(what);
  }
  bool has_set(std::string_view key) const {
    return ("\n" + reading_.config.settings).contains(fmt::format("\n{}.{} = ", name_, key));
  }

 private:
  std::string name_;
  Language language_;
  ConfigReading& reading_;
  bool is_fine_ = true;
};

}  // namespace

std::span<const TableKind> table_kinds() {
  return kKinds;
}

const TableKind* find_table_kind(std::string_view section) {
  const auto found = std::ranges::find(kKinds, section, &TableKind::section);
  return found == kKinds.end() ? nullptr : &*found;
}

bool is_table_name(std::string_view name) {
  constexpr std::size_t kLongest = 32;
  return !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void apply_table_value(const TableKind& kind, std::string_view table, const TableKey& key,
                       ConfigValue value, const std::string& where, Language language,
                       ConfigReading& reading) {
  const std::string name = fmt::format("{}.{}", table_name(kind, table), key.key.name);
  ConfigKey full = key.key;
  full.name = name;
  apply_value_by(full, std::move(value), where, language, reading,
                 [&](Config& config, const ConfigValue& checked) {
                   return key.apply(config, table, checked);
                 });
}

void apply_table_name(const TableKind& kind, std::string_view table, std::string_view name,
                      const std::string& value, ConfigReading& reading) {
  auto& labels = destination(reading.config, table).labels;
  const auto same =
      std::ranges::find(labels, name, [](const auto& label) -> auto& { return label.first; });
  if (same == labels.end()) {
    labels.emplace_back(name, value);
  } else {
    same->second = value;
  }
  put_setting(reading.config.settings,
              fmt::format("{}.{}.{}", table_name(kind, table), kind.names_key, name),
              format_value(value));
}

void check_tables(Language language, ConfigReading& reading) {
  for (const Channel& channel : reading.config.channels) {
    TableCheck check(kKinds[0], channel.name, language, reading);
    if (!check.has_set("type")) {
      check.complain("needs type: dingtalk, wecom, feishu, slack, mail or webhook");
      continue;
    }
    check.check_source("url", channel.url_source);
    check.check_source("secret", channel.secret);
    check.check_source("password", channel.password);
    check.check_source("receiver_token", channel.receiver_token);
    check.check_options(notify::check_options(channel));
  }
  for (const Destination& destination : reading.config.remote_writes) {
    TableCheck check(kKinds[1], destination.name, language, reading);
    if (destination.url.empty()) {
      check.complain("needs url");
      continue;
    }
    check.check_source("password", destination.password);
    check.check_source("token", destination.token);
    check.check_options(remote_write::check_options(destination));
  }
}

std::string format_default_tables(Language language) {
  const bool is_zh = language == Language::kZh;
  std::string out;
  for (const TableKind& kind : kKinds) {
    out += '\n' + format_comment(is_zh ? kind.zh : kind.en);
    out += fmt::format("#[{}.{}]\n", kind.section, kind.example);
    for (const TableKey& each : kind.keys) {
      const std::string_view meaning = is_zh ? each.key.zh : each.key.en;
      // A key without words of its own belongs to the one before it.
      if (!meaning.empty())
        out += '\n' + format_comment(meaning) + describe_bounds(each.key, language);
      out += fmt::format("#{} = {}\n", each.key.name, each.key.fallback);
    }
  }
  return out;
}

}  // namespace everywatt::app
