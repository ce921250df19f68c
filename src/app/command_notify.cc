// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/commands.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/translation.h"
#include "serve/notify/notifier.h"

namespace everywatt::app {
namespace {

base::Result<notify::ChannelOptions> find_channel(const Arguments& arguments,
                                                  const Config& config) {
  const auto found =
      std::ranges::find(config.channels, arguments.channel, &notify::ChannelOptions::name);
  if (found != config.channels.end()) return *found;
  std::vector<std::string> names;
  for (const notify::ChannelOptions& channel : config.channels) {
    names.push_back(channel.name);
  }
  const Language language = arguments.language;
  return base::fail(
      base::Code::kInvalidArgument, say(language, Message::notify_no_channel, arguments.channel),
      names.empty()
          ? std::string(text(language, Message::notify_none))
          : say(language, Message::notify_channels, fmt::format("{}", fmt::join(names, ", "))));
}

// What cannot be read here is no word of the channel's.
base::Status check_secrets(const notify::ChannelOptions& channel) {
  for (const auto* source : {&channel.url_source, &channel.secret, &channel.password}) {
    if (auto secret = source->read(); !secret) {
      secret.error().code = base::Code::kInvalidArgument;
      return std::unexpected(secret.error());
    }
  }
  return {};
}

}  // namespace

// Straight to the channel: no daemon is asked.
base::Result<ExitCode> run_notify(const Arguments& arguments, const Config& config) {
  const auto channel = find_channel(arguments, config);
  if (!channel) return std::unexpected(channel.error());
  if (auto checked = check_secrets(*channel); !checked) return std::unexpected(checked.error());
  const auto said = notify::send_sample(*channel);
  if (said) {
    print(say(arguments.language, Message::notify_delivered, channel->name, *said) + "\n");
    return kFine;
  }
  const bool is_out_of_reach = said.error().code == base::Code::kUnavailable ||
                               said.error().code == base::Code::kNotSupported;
  if (is_out_of_reach) return std::unexpected(said.error());
  print_error(translate(said.error(), arguments.language));
  return kNeedsLook;
}

}  // namespace everywatt::app
