// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/channel_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "serve/notify/channel_traits.h"

namespace everywatt::notify {
namespace {

base::Status refuse(const ChannelOptions& options, std::string_view what) {
  return base::fail(base::Code::kInvalidArgument, fmt::format("notify.{}: {}", options.name, what));
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 32 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// Bare addresses: they become headers and lines of SMTP.
bool is_mail_address(std::string_view address) {
  const std::size_t at = address.find('@');
  return address.size() <= 254 && at != 0 && at != std::string_view::npos &&
         at + 1 < address.size() && address.find('@', at + 1) == std::string_view::npos &&
         std::ranges::all_of(address, [](char c) {
           return c > ' ' && c != 0x7f &&
                  std::string_view("<>()[],;:\\\"").find(c) == std::string_view::npos;
         });
}

bool is_mobile(std::string_view number) {
  return !number.empty() && number.size() <= 20 && std::ranges::all_of(number, [](char c) {
    return (c >= '0' && c <= '9') || c == '+' || c == '-';
  });
}

// It becomes a header.
bool is_one_line(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

base::Status check_mail(const ChannelOptions& options) {
  if (!options.url.starts_with("smtp://") && !options.url.starts_with("smtps://")) {
    return refuse(options, "url must begin with smtp:// or smtps://");
  }
  if (options.url.contains('@')) {
    return refuse(options, "url has a login in it: that is for username and password_file");
  }
  if (!is_mail_address(options.from)) return refuse(options, "from must be an address like a@b");
  if (options.to.empty() || !std::ranges::all_of(options.to, is_mail_address)) {
    return refuse(options, "to must be a list of addresses like [\"a@b\"]");
  }
  const bool is_plain =
      options.url.starts_with("smtp://") && options.starttls == outgoing::Starttls::kOff;
  if (is_plain && !options.username.empty()) {
    return refuse(options, "starttls = \"off\" would send the password in the clear");
  }
  return {};
}

base::Status check_webhook(const ChannelOptions& options) {
  if (!options.url.empty() && options.url_source.is_set()) {
    return refuse(options, "url and url_file or url_env are two addresses");
  }
  if (!options.url.empty() && !options.url.starts_with("http://") &&
      !options.url.starts_with("https://")) {
    return refuse(options, "url must begin with http:// or https://");
  }
  if (options.url.empty() && !options.url_source.is_set()) {
    return refuse(options, "needs url, url_file or url_env");
  }
  if (!is_one_line(options.content_type)) {
    return refuse(options, "content_type must be one line");
  }
  if (options.secret.is_set() && !options.username.empty()) {
    return refuse(options, "username and secret_file or secret_env are two ways to log in");
  }
  return {};
}

base::Status check_robot(const ChannelOptions& options) {
  if (!options.url.empty()) {
    return refuse(options, "its address is a secret: write it into a file and name it by url_file");
  }
  if (!options.url_source.is_set()) return refuse(options, "needs url_file or url_env");
  const bool can_sign =
      options.type == ChannelType::kDingTalk || options.type == ChannelType::kFeishu;
  if (options.secret.is_set() && !can_sign) {
    return refuse(options, fmt::format("{} has no signing secret", type_name(options.type)));
  }
  return {};
}

// Keys that another type has would otherwise be believed to do something.
base::Status check_foreign_keys(const ChannelOptions& options) {
  const std::string_view type = type_name(options.type);
  const bool is_mail = options.type == ChannelType::kMail;
  const bool is_webhook = options.type == ChannelType::kWebhook;
  const auto foreign = [&](std::string_view key) {
    return refuse(options, fmt::format("{} is no key of type {}", key, type));
  };
  if (!is_mail && !options.from.empty()) return foreign("from");
  if (!is_mail && options.starttls != outgoing::Starttls::kRequired) return foreign("starttls");
  if (!is_mail && !is_webhook && !options.to.empty()) return foreign("to");
  if (!is_mail && !is_webhook && !options.username.empty()) return foreign("username");
  if (options.username.empty() && options.password.is_set()) {
    return refuse(options, "password_file and password_env need username");
  }
  if (!is_webhook && !options.template_file.empty()) return foreign("template_file");
  if (is_mail && options.secret.is_set()) return foreign("secret_file");
  if (is_mail && options.url_source.is_set()) return foreign("url_file");
  if (is_mail && !options.proxy.empty()) return foreign("proxy");
  const bool can_call =
      options.type == ChannelType::kDingTalk || options.type == ChannelType::kWeCom;
  if (!can_call && !options.at_mobiles.empty()) return foreign("at_mobiles");
  if ((is_mail || is_webhook) && options.at_all_critical == AtAllCritical::kYes) {
    return foreign("at_all_critical");
  }
  return {};
}

base::Status check_budget(const ChannelOptions& options) {
  if (!options.per_minute) return {};
  const double highest = traits_of(options.type).highest_per_minute;
  if (*options.per_minute >= 0.1 && *options.per_minute <= highest) return {};
  return refuse(options,
                fmt::format("per_minute must be between 0.1 and {}, which is below what {} "
                            "itself takes",
                            highest, type_name(options.type)));
}

}  // namespace

std::string_view type_name(ChannelType type) {
  return traits_of(type).name;
}

std::optional<ChannelType> parse_type(std::string_view word) {
  for (const ChannelTraits& each : all_traits()) {
    if (each.name == word) return each.type;
  }
  return std::nullopt;
}

base::Status check_options(const ChannelOptions& options) {
  if (!is_name(options.name)) {
    return base::fail(
        base::Code::kInvalidArgument,
        fmt::format("notify.{}: a channel's name is 1 to 32 of a-z, 0-9, _ and -", options.name));
  }
  if (options.secret.is_set() && !options.secret.file.empty() && !options.secret.env.empty()) {
    return refuse(options, "secret_file and secret_env are two sources");
  }
  if (options.at_mobiles.size() > 50 || !std::ranges::all_of(options.at_mobiles, is_mobile)) {
    return refuse(options, "at_mobiles must be telephone numbers, at most 50");
  }
  if (const auto foreign = check_foreign_keys(options); !foreign) return foreign;
  if (const auto budget = check_budget(options); !budget) return budget;
  switch (options.type) {
    case ChannelType::kMail:
      return check_mail(options);
    case ChannelType::kWebhook:
      return check_webhook(options);
    default:
      return check_robot(options);
  }
}

}  // namespace everywatt::notify
