// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "app/commands.h"
#include "app/device_names.h"
#include "app/json_text.h"
#include "app/messages.h"
#include "app/new_events.h"
#include "app/output.h"
#include "app/selection.h"
#include "app/source.h"
#include "app/table.h"
#include "base/clock.h"
#include "read/view/events.h"
#include "read/view/processes.h"

namespace everywatt::app {
namespace {

// How soon a new event is shown. Looking costs a few loads.
constexpr std::chrono::milliseconds kFollowInterval{100};

// The devices that were asked for; empty: all, also what concerns no device.
using Slots = std::set<std::uint32_t>;

void keep_wanted(std::vector<view::Event>& events, const Slots& slots) {
  std::erase_if(events, [&slots](const view::Event& event) {
    return !slots.empty() && (!event.slot || !slots.contains(*event.slot));
  });
}

std::string shown_number(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "";
}

// A step of the clock may go back.
bool has_signed_code(const view::Event& event) {
  return event.kind == catalog::EventKind::kClockStep;
}

std::string shown_code(const view::Event& event) {
  if (!event.code || !has_signed_code(event)) return shown_number(event.code);
  return std::to_string(std::bit_cast<std::int64_t>(*event.code));
}

Table make_table(Language language) {
  return Table({{say(language, Message::heading_time)},
                {say(language, Message::heading_device)},
                {say(language, Message::heading_event)},
                {say(language, Message::heading_code), Align::kRight},
                {say(language, Message::heading_pid), Align::kRight},
                {say(language, Message::heading_text)}});
}

// A mark's text and what came with it, in one line.
std::string shown_text(const view::Event& event) {
  std::string out = event.text;
  if (!event.annotation) return out;
  const auto add = [&out](const std::string& word) { out += (out.empty() ? "" : " ") + word; };
  const view::Annotation& annotation = *event.annotation;
  if (annotation.step) add(fmt::format("step={}", *annotation.step));
  if (annotation.epoch) add(fmt::format("epoch={}", *annotation.epoch));
  if (!annotation.phase.empty()) add("phase=" + annotation.phase);
  for (const auto& [name, value] : annotation.values) {
    add(fmt::format("{}={}", name, value));
  }
  return out;
}

void append_annotation(JsonText& json, const view::Annotation& annotation) {
  json.key("uid").number(annotation.uid);
  if (annotation.step) json.key("step").number(*annotation.step);
  if (annotation.epoch) json.key("epoch").number(*annotation.epoch);
  if (!annotation.phase.empty()) json.key("phase").string(annotation.phase);
  if (annotation.values.empty()) return;
  json.key("values").begin_object();
  for (const auto& [name, value] : annotation.values) {
    json.key(name).number(value);
  }
  json.end_object();
}

void add_row(Table& table, const view::Event& event, const DeviceNames& names) {
  table.add({base::format_time(event.wall_ns), event.slot ? names.label(*event.slot) : "",
             event.kind_name(), shown_code(event), shown_number(event.pid), shown_text(event)});
}

std::string format_json_line(const view::View& view, const view::Event& event,
                             const DeviceNames& names) {
  JsonText json;
  json.begin_object();
  json.key("time").string(base::format_time(event.wall_ns));
  json.key("unix_ns").number(event.wall_ns);
  json.key("event").string(event.kind_name());
  json.key("source").string(catalog::event_source_name(event.source));
  const view::Device* device = event.slot ? names.find(*event.slot) : nullptr;
  if (device != nullptr) {
    json.key("device").string(device->label());
    if (!device->uuid.empty()) json.key("uuid").string(device->uuid);
  }
  if (event.code && has_signed_code(event)) {
    json.key("code").number(std::bit_cast<std::int64_t>(*event.code));
  } else if (event.code) {
    json.key("code").number(*event.code);
  }
  if (event.pid) json.key("pid").number(*event.pid);
  if (event.identity != 0) {
    if (const auto identity = view::find_identity(view, event.identity)) {
      json.key("user").string(identity->user);
      json.key("command").string(identity->command);
    }
  }
  if (!event.text.empty()) json.key("text").string(event.text);
  if (event.annotation) append_annotation(json, *event.annotation);
  json.end_object();
  return json.take() + "\n";
}

std::string format_events(const Arguments& arguments, const view::View& view,
                          const std::vector<view::Event>& events) {
  const DeviceNames names(view);
  if (arguments.form == OutputForm::kJson) {
    std::string out;
    for (const view::Event& event : events) {
      out += format_json_line(view, event, names);
    }
    return out;
  }
  Table table = make_table(arguments.language);
  for (const view::Event& event : events) {
    add_row(table, event, names);
  }
  return table.format(stdout_emphasis());
}

// Until the reader is killed: new events, each once, also when the recorder is replaced.
base::Result<ExitCode> follow(const Arguments& arguments, const Config& config, Source source,
                              const Slots& slots, NewEvents new_events) {
  while (true) {
    std::this_thread::sleep_for(kFollowInterval);
    if (source.view->is_replaced()) {
      auto next = open_source(arguments, config, NoDaemon::kComplain);
      if (!next) return std::unexpected(next.error());
      source = *std::move(next);
      new_events.begin_file();
    }
    std::vector<view::Event> events = new_events.take(*source.view);
    keep_wanted(events, slots);
    if (events.empty()) continue;
    std::string out = format_events(arguments, *source.view, events);
    if (arguments.form == OutputForm::kText) out.erase(0, out.find('\n') + 1);
    print(out);
  }
}

}  // namespace

base::Result<ExitCode> run_events(const Arguments& arguments, const Config& config) {
  auto source =
      open_source(arguments, config, arguments.follow ? NoDaemon::kComplain : NoDaemon::kShowOld);
  if (!source) return std::unexpected(source.error());
  const view::View& view = *source->view;
  Slots slots;
  if (!arguments.gpus.empty()) {
    const auto gpus = select_gpus(view, config, arguments.gpus);
    if (!gpus) return std::unexpected(gpus.error());
    for (const view::Device& gpu : *gpus) {
      slots.insert(gpu.slot);
    }
  }
  const std::int64_t now_ns = view.now_ns();
  const std::int64_t from_ns = now_ns - arguments.since_ns;
  const std::int64_t to_ns = now_ns - arguments.until_ns.value_or(0);
  std::vector<view::Event> events = view::read_events(
      view, {.from_ns = std::min(from_ns, now_ns - kLateEventNs), .to_ns = now_ns});
  NewEvents new_events(now_ns, events);
  keep_wanted(events, slots);
  std::erase_if(events, [from_ns, to_ns](const view::Event& event) {
    return event.time_ns <= from_ns || event.time_ns > to_ns;
  });
  print(format_events(arguments, view, events));
  if (!arguments.follow || source->kind == SourceKind::kFile) return kFine;
  return follow(arguments, config, *std::move(source), slots, std::move(new_events));
}

}  // namespace everywatt::app
