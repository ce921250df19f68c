// SPDX-License-Identifier: Apache-2.0
#include "serve/courier_link/messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace everywatt::courier_link {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostEntries = 256;
constexpr std::size_t kMostReasons = 64;
constexpr std::size_t kNameBytes = 64;
constexpr std::size_t kTextBytes = 4096;
constexpr std::size_t kHashDigits = 64;
// Of a delivery's first line.
constexpr std::size_t kHeadBytes = 512;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Reads members of an object, and remembers that one was not what it should be.
class Members {
 public:
  explicit Members(const Json& object) : object_(object), is_fine_(object.is_object()) {}

  bool is_fine() const { return is_fine_; }

  std::uint64_t count(const char* name) {
    const Json* member = find(name);
    if (member == nullptr || !member->is_number_unsigned()) return fault(std::uint64_t{0});
    return member->get<std::uint64_t>();
  }
  std::string text(const char* name, std::size_t limit_bytes) {
    const Json* member = find(name);
    if (member == nullptr || !member->is_string()) return fault(std::string());
    std::string text = member->get<std::string>();
    return text.size() > limit_bytes ? fault(std::string()) : text;
  }
  std::map<std::string, std::uint64_t> counts(const char* name) {
    std::map<std::string, std::uint64_t> counts;
    const Json* member = find(name);
    if (member == nullptr || !member->is_object() || member->size() > kMostReasons) {
      return fault(counts);
    }
    for (const auto& [reason, count] : member->items()) {
      if (!count.is_number_unsigned() || reason.size() > kNameBytes) return fault(counts);
      counts[reason] = count.get<std::uint64_t>();
    }
    return counts;
  }
  template <typename Entry, typename Parse>
  std::vector<Entry> list(const char* name, Parse parse) {
    std::vector<Entry> entries;
    const Json* member = find(name);
    if (member == nullptr || !member->is_array() || member->size() > kMostEntries) {
      return fault(entries);
    }
    for (const Json& json : *member) {
      Members members(json);
      entries.push_back(parse(members));
      if (!members.is_fine()) return fault(entries);
    }
    return entries;
  }
  template <typename Value>
  Value fault(Value value) {
    is_fine_ = false;
    return value;
  }

 private:
  const Json* find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto member = object_.find(name);
    return member == object_.end() ? nullptr : &*member;
  }

  const Json& object_;
  bool is_fine_;
};

Json to_json(const ChannelStatus& channel) {
  return {{"name", channel.name},
          {"type", channel.type},
          {"queued", channel.queued},
          {"sent_total", channel.sent_total},
          {"failed_total", channel.failed_total},
          {"dropped_total", channel.dropped_total},
          {"retried_total", channel.retried_total},
          {"digests_total", channel.digests_total},
          {"last_success_unix", static_cast<std::uint64_t>(channel.last_success_unix)}};
}

Json to_json(const DestinationStatus& destination) {
  return {{"name", destination.name},
          {"queued_samples", destination.queued_samples},
          {"queued_bytes", destination.queued_bytes},
          {"sent_samples_total", destination.sent_samples_total},
          {"failed_samples_total", destination.failed_samples_total},
          {"dropped_samples_total", destination.dropped_samples_total},
          {"retries_total", destination.retries_total},
          {"last_success_unix", static_cast<std::uint64_t>(destination.last_success_unix)}};
}

template <typename Entry>
Json list_of(const std::vector<Entry>& entries) {
  Json list = Json::array();
  for (const Entry& entry : entries) {
    list.push_back(to_json(entry));
  }
  return list;
}

Json body_of(const Reply& reply) {
  return {{"reply", {{"id", reply.id}, {"code", reply.code}, {"message", reply.message}}}};
}
Json body_of(const ChannelKeys& keys) {
  Json list = Json::array();
  for (const ChannelKey& key : keys) {
    list.push_back({{"name", key.name}, {"token_sha256", key.token_sha256}});
  }
  return {{"channels", list}};
}
Json body_of(const Status& status) {
  return {{"status",
           {{"channels", list_of(status.channels)},
            {"remote_write", list_of(status.remote_write)},
            {"cpu_ns", status.cpu_ns},
            {"resident_bytes", status.resident_bytes}}}};
}

ChannelStatus parse_channel(Members& members) {
  return {.name = members.text("name", kNameBytes),
          .type = members.text("type", kNameBytes),
          .queued = members.count("queued"),
          .sent_total = members.count("sent_total"),
          .failed_total = members.counts("failed_total"),
          .dropped_total = members.count("dropped_total"),
          .retried_total = members.count("retried_total"),
          .digests_total = members.count("digests_total"),
          .last_success_unix = static_cast<std::int64_t>(members.count("last_success_unix"))};
}

DestinationStatus parse_destination(Members& members) {
  return {.name = members.text("name", kNameBytes),
          .queued_samples = members.count("queued_samples"),
          .queued_bytes = members.count("queued_bytes"),
          .sent_samples_total = members.count("sent_samples_total"),
          .failed_samples_total = members.counts("failed_samples_total"),
          .dropped_samples_total = members.count("dropped_samples_total"),
          .retries_total = members.count("retries_total"),
          .last_success_unix = static_cast<std::int64_t>(members.count("last_success_unix"))};
}

ChannelKey parse_key(Members& members) {
  ChannelKey key{.name = members.text("name", kNameBytes),
                 .token_sha256 = members.text("token_sha256", kHashDigits)};
  const bool is_hash = key.token_sha256.empty() || key.token_sha256.size() == kHashDigits;
  return is_hash ? key : members.fault(key);
}

std::optional<FromCourier> parse_body(const Json& json) {
  if (!json.is_object() || json.size() != 1) return std::nullopt;
  const std::string& kind = json.begin().key();
  Members outer(json);
  Members members(*json.begin());
  FromCourier message;
  if (kind == "reply") {
    Reply reply{.id = members.count("id")};
    const std::uint64_t code = members.count("code");
    reply.code = code < 200 || code > 599 ? members.fault(0U) : static_cast<unsigned>(code);
    reply.message = members.text("message", kTextBytes);
    message = std::move(reply);
  } else if (kind == "channels") {
    message = outer.list<ChannelKey>("channels", parse_key);
    return outer.is_fine() ? std::optional(message) : std::nullopt;
  } else if (kind == "status") {
    message =
        Status{.channels = members.list<ChannelStatus>("channels", parse_channel),
               .remote_write = members.list<DestinationStatus>("remote_write", parse_destination),
               .cpu_ns = members.count("cpu_ns"),
               .resident_bytes = members.count("resident_bytes")};
  } else {
    return std::nullopt;
  }
  return members.is_fine() ? std::optional(message) : std::nullopt;
}

std::unexpected<base::Error> no_message() {
  return base::fail(base::Code::kCorrupt, "a frame that holds no message");
}

}  // namespace

std::string format_delivery(const Delivery& delivery) {
  std::string frame = dump({{"id", delivery.id}, {"channel", delivery.channel}});
  frame += '\n';
  frame += delivery.body;
  return frame;
}

std::string format_from_courier(const FromCourier& message) {
  return dump(std::visit([](const auto& body) { return body_of(body); }, message));
}

base::Result<Delivery> parse_delivery(std::string_view frame) {
  const std::size_t end = frame.substr(0, kHeadBytes).find('\n');
  if (end == std::string_view::npos) return no_message();
  const Json json = Json::parse(frame.substr(0, end), nullptr, false);
  Members members(json);
  Delivery delivery{.id = members.count("id"), .channel = members.text("channel", kNameBytes)};
  if (!members.is_fine()) return no_message();
  delivery.body = frame.substr(end + 1);
  return delivery;
}

base::Result<FromCourier> parse_from_courier(std::string_view frame) {
  const Json json = Json::parse(frame, nullptr, false);
  auto message = parse_body(json);
  if (!message) return no_message();
  return *std::move(message);
}

}  // namespace everywatt::courier_link
