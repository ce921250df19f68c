// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/language.h"
#include "base/log.h"
#include "base/result.h"
#include "device/host/command.h"
#include "record/sampler/sampler.h"
#include "serve/exporter/exporter.h"
#include "serve/notify/channel_options.h"
#include "serve/remote_write/options.h"

namespace everywatt::app {

// Everything that can be set, in the units of the code. Its defaults are those of the table of keys
// (config_keys.inc), applied by default_config().
struct Config {
  std::string run_folder;   // "": by the rules of run_folder.h
  std::string data_folder;  // "": by the rules of journal_file.h

  std::string listen_address;
  std::uint16_t listen_port = 0;
  std::vector<std::string> host_names;
  exporter::NameSets names = 0;
  std::string counters;     // of DCGM's names: "" (all), "default" or a file
  std::string web_config;   // the toolkit's web configuration file; "": none
  std::string tokens_file;  // "": none
  std::vector<std::string> served_gpus;
  std::string hostname;  // of DCGM's label: "" the machine's, "-" none
  exporter::ModelName model_name{};
  exporter::Windows windows;
  std::size_t processes_a_gpu = 0;
  std::size_t connections = 0;
  std::int64_t request_ns = 0;
  std::int64_t idle_ns = 0;
  std::int64_t answer_ns = 0;

  std::string nvml_library;  // "": libnvidia-ml.so.1
  sampler::Deadlines deadlines;
  std::int64_t retry_ns = 0;
  std::int64_t retry_max_ns = 0;

  sampler::Periods periods;
  sampler::GpmPace gpm_pace{};
  double gpm_cpu_ratio = 0;

  std::string host_root;
  std::string kernel_log;
  std::int64_t host_period_ns = 0;
  unsigned max_processes = 0;
  host::CommandStyle command_style{};
  std::vector<std::string> labels;

  base::LogLevel log_level{};
  std::map<std::string, std::vector<std::string>> groups;  // @name -> GPUs

  std::vector<notify::ChannelOptions> channels;      // [notify.NAME]
  std::vector<remote_write::Options> remote_writes;  // [remote_write.NAME]

  // What was set, in order, as "key = value" lines: how one process of ours tells another.
  std::string settings;
};

// The configuration, and all that is wrong with what it was made of: as much of it as could be
// understood is in `config`. Faults and notes (a value that was clamped) are one line each.
struct ConfigReading {
  Config config;
  std::vector<std::string> faults;
  std::vector<std::string> notes;
  // Where each table of a name was first seen: "notify.ops" -> "FILE:LINE: ".
  std::map<std::string, std::string> table_places = {};
};

Config default_config();

// Sets a key that holds a text, as if the file had said it. REQUIRES: there is such a key, and the
// text is one that it takes.
void override_setting(Config& config, std::string_view key, const std::string& value);

// `text` in TOML; `name` stands in messages as NAME:LINE.
void read_config_text(std::string_view text, const std::string& name, Language language,
                      ConfigReading& reading);
// One `key=value` of --set. The value may be given without quotes.
void read_setting(std::string_view setting, Language language, ConfigReading& reading);
// The same for an option of the command line that stands for the key, which holds a text: what is
// said names the option. REQUIRES: there is such a key.
void read_option(std::string_view option, std::string_view key, const std::string& value,
                 Language language, ConfigReading& reading);

// The file that --config names, else /etc/everywatt/everywatt.toml, else the one below the user's
// home where there is one, and then the settings. An error only when a named file cannot be read.
base::Result<ConfigReading> read_config(const std::string& path,
                                        const std::vector<std::string>& settings,
                                        Language language);

// The default configuration with all keys commented: what each does, its default and its bounds.
std::string format_default_config(Language language);

// "127.0.0.1:9400", "[::1]:9400", "0.0.0.0:0".
struct ListenAddress {
  std::string address;
  std::uint16_t port = 0;
};
base::Result<ListenAddress> parse_listen(std::string_view text);

}  // namespace everywatt::app
