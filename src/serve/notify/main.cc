// SPDX-License-Identifier: Apache-2.0
// Drives the whole room from outside, for tests alone: it ships with nothing.
//
//   test_notify_driver CHANNELS.json SPOOL    reads lines from standard input, until it ends:
//     CHANNEL PAYLOAD    answers "ok", or the error
//     status             answers the status of all channels as JSON
//     sample CHANNEL     sends the made-up alert at once, answers what the channel said
#include <fmt/format.h>
#include <signal.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/file.h"
#include "serve/notify/notifier.h"

namespace everywatt::notify {
namespace {

using nlohmann::json;

ChannelOptions read_channel(const json& table) {
  const auto text = [&](const char* key) { return table.value(key, std::string()); };
  ChannelOptions options;
  options.name = text("name");
  options.type = *parse_type(text("type"));
  options.language = text("language") == "zh" ? Language::kChinese : Language::kEnglish;
  options.url = text("url");
  options.url_source = {.file = text("url_file"), .env = text("url_env")};
  options.secret = {.file = text("secret_file"), .env = text("secret_env")};
  options.password = {.file = text("password_file"), .env = text("password_env")};
  options.username = text("username");
  options.from = text("from");
  options.to = table.value("to", std::vector<std::string>());
  options.starttls =
      text("starttls") == "off" ? outgoing::Starttls::kOff : outgoing::Starttls::kRequired;
  options.ca_file = text("ca_file");
  options.template_file = text("template_file");
  options.content_type = table.value("content_type", options.content_type);
  options.at_mobiles = table.value("at_mobiles", std::vector<std::string>());
  if (table.contains("per_minute")) options.per_minute = table["per_minute"].get<double>();
  return options;
}

std::string explain(const base::Error& error) {
  return fmt::format("{}: {}; {}", base::code_name(error.code), error.message, error.hint);
}

json status_json(const Notifier& notifier) {
  json all = json::object();
  for (const ChannelStatus& each : notifier.status()) {
    all[each.name] = {{"type", each.type},
                      {"queued", each.queued},
                      {"sent_total", each.sent_total},
                      {"failed_total", each.failed_total},
                      {"dropped_total", each.dropped_total},
                      {"retried_total", each.retried_total},
                      {"digests_total", each.digests_total},
                      {"last_success_unix", each.last_success_unix}};
  }
  return all;
}

std::string answer(const std::string& line, Notifier& notifier,
                   const std::vector<ChannelOptions>& channels) {
  const std::size_t space = line.find(' ');
  const std::string word = line.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
  if (word == "status") return status_json(notifier).dump();
  if (word == "sample") {
    for (const ChannelOptions& each : channels) {
      if (each.name != rest) continue;
      const auto said = send_sample(each);
      return said ? "ok " + *said : explain(said.error());
    }
  }
  const auto accepted = notifier.accept(word, rest);
  return accepted ? "ok" : explain(accepted.error());
}

int drive(const std::string& file, const std::string& spool) {
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<ChannelOptions> channels;
  for (const json& table : json::parse(base::read_file(file).value())) {
    channels.push_back(read_channel(table));
  }
  auto notifier = Notifier::open(channels, spool);
  if (!notifier) {
    std::cout << explain(notifier.error()) << std::endl;
    return 1;
  }
  std::jthread sender([&](std::stop_token stop) { (*notifier)->run(stop); });
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(line, **notifier, channels) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace everywatt::notify

int main(int count, char** arguments) {
  return count == 3 ? everywatt::notify::drive(arguments[1], arguments[2]) : 2;
}
