// SPDX-License-Identifier: Apache-2.0
#include "app/named_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "app/counters_choice.h"
#include "app/served_access.h"
#include "app/translation.h"
#include "base/file.h"
#include "serve/notify/body_template.h"

namespace everywatt::app {
namespace {

class NamedFiles {
 public:
  NamedFiles(Language language, ConfigReading& reading) : language_(language), reading_(reading) {}

  void complain(const base::Error& error) { reading_.faults.push_back(in_one_line(error)); }
  void note(const std::string& table, std::string_view key, const base::Error& error) {
    reading_.notes.push_back(fmt::format("{}.{}: {}", table, key, in_one_line(error)));
  }

  // The environment is that of `serve`, and not ours.
  void look_for(const std::string& table, std::string_view key,
                const outgoing::SecretSource& source) {
    if (source.file.empty()) return;
    if (const auto secret = source.read(); !secret) note(table, key, secret.error());
  }
  void look_for(const std::string& table, std::string_view key, const std::string& file) {
    if (file.empty() || ::access(file.c_str(), R_OK) == 0) return;
    note(table, key, base::fail_errno("open", file).error());
  }
  void check_template(const notify::ChannelOptions& channel) {
    if (channel.template_file.empty()) return;
    const std::string table = "notify." + channel.name;
    const auto text = base::read_file(channel.template_file);
    if (!text) return note(table, "template_file", text.error());
    if (auto parsed = notify::BodyTemplate::parse(*text); !parsed) {
      parsed.error().message =
          fmt::format("{}: {}: {}", table, channel.template_file, parsed.error().message);
      complain(parsed.error());
    }
  }

 private:
  std::string in_one_line(const base::Error& error) const {
    const base::Error told = translate(error, language_);
    return told.hint.empty() ? told.message : fmt::format("{}; {}", told.message, told.hint);
  }

  Language language_;
  ConfigReading& reading_;
};

}  // namespace

void check_named_files(Language language, ConfigReading& reading) {
  NamedFiles files(language, reading);
  const Config& config = reading.config;
  if (const auto read = read_access_files(config); !read) files.complain(read.error());
  if (const auto chosen = choose_counters(config); !chosen) {
    files.complain(chosen.error());
  } else {
    for (const std::string& line : chosen->skipped)
      reading.notes.push_back(fmt::format("{}: {}", config.counters, line));
  }
  for (const notify::ChannelOptions& channel : config.channels) {
    const std::string table = "notify." + channel.name;
    files.look_for(table, "url_file", channel.url_source);
    files.look_for(table, "secret_file", channel.secret);
    files.look_for(table, "password_file", channel.password);
    files.look_for(table, "receiver_token_file", channel.receiver_token);
    files.look_for(table, "ca_file", channel.ca_file);
    files.check_template(channel);
  }
  for (const remote_write::Options& destination : config.remote_writes) {
    const std::string table = "remote_write." + destination.name;
    files.look_for(table, "password_file", destination.password);
    files.look_for(table, "token_file", destination.token);
    files.look_for(table, "ca_file", destination.ca_file);
    files.look_for(table, "cert_file", destination.cert_file);
    files.look_for(table, "key_file", destination.key_file);
  }
}

}  // namespace everywatt::app
