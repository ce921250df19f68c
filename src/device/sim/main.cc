// SPDX-License-Identifier: Apache-2.0
//
// everywatt-player: makes a folder that holds a simulation, and keeps a fake host root in step with
// it.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "device/sim/demo_folder.h"
#include "device/sim/host_image.h"
#include "device/sim/kernel_lines.h"
#include "device/sim/library_link.h"
#include "device/sim/patched_library.h"
#include "device/sim/playhead.h"
#include "device/sim/root_writer.h"
#include "device/sim/scenario.h"

namespace everywatt::sim {
namespace {

constexpr const char* kUsage = R"(usage:
  everywatt-player --make DIR --demo NAME[,NAME...]|all|TRACES_DIR|scenario:NAME
                   [--profile h200|h100|a100|a100-40gb] [--traces DIR] [--stepped]
      Makes DIR with scenario.toml and playhead, for --play and for the library
      (EVERYWATT_SIM=DIR).
  everywatt-player --play DIR
      Keeps DIR/root in step with the playhead until SIGTERM, or until its parent ends.
  everywatt-player --root DIR --sim FILE [--once MS]
      The same with other places; --once writes the root as it is at that played time, and ends.
  everywatt-player --library FILE --without NAME[,NAME...] --output FILE
      Copies the simulated library without some of its functions.
)";

constexpr int kBadUsage = 2;
// How often the host's files change: as often as they were recorded.
constexpr std::int64_t kRealTimeNs = 100'000'000;
// How soon a step of the playhead shows in them.
constexpr std::int64_t kSteppedNs = 10'000'000;
// As far as a scenario's times reach: 30 years.
constexpr double kMaxOnceMs = 1e12;
// Says up to which played time the root is written; the last file to change.
constexpr std::string_view kProgressFile = "/played-ns";

using Options = std::map<std::string, std::string>;

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--stepped") {
      options[name] = "yes";
      continue;
    }
    constexpr std::string_view kKnown[] = {"--make",    "--demo",    "--profile", "--traces",
                                           "--play",    "--root",    "--sim",     "--once",
                                           "--library", "--without", "--output"};
    const bool is_known = std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
    if (!is_known || i + 1 == argc) return std::nullopt;
    options[name] = argv[++i];
  }
  return options;
}

int fail(const base::Error& error, int code = 1) {
  std::fprintf(stderr, "everywatt-player: %s%s%s\n", error.message.c_str(),
               error.hint.empty() ? "" : "; ", error.hint.c_str());
  return code;
}

// The traces of the product: beside the program, where a package puts them, or in the checkout that
// it was built in.
std::string default_traces() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {"traces", "../../share/everywatt/traces", "../../traces"}) {
    if (std::filesystem::is_directory(program / place, error)) return (program / place).string();
  }
  return (program / "traces").string();
}

int make(Options options) {
  DemoOptions demo{.folder = options["--make"],
                   .demo = options["--demo"],
                   .traces_folder = options["--traces"],
                   .profile = options["--profile"],
                   .pace = options.contains("--stepped") ? Pace::kStepped : Pace::kRealTime};
  if (demo.traces_folder.empty()) demo.traces_folder = default_traces();
  if (demo.profile.empty()) demo.profile = "h200";
  const base::Status made = make_demo_folder(demo);
  return made ? 0 : fail(made.error(), kBadUsage);
}

// The simulated library: beside the program, or where a package puts it.
std::string default_library() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {".", "../lib/everywatt"}) {
    const auto file = (program / place / "libnvidia-ml-sim.so").lexically_normal();
    if (std::filesystem::exists(file, error)) return file.string();
  }
  return (program / "libnvidia-ml-sim.so").string();
}

// All that follows the playhead.
class Shown {
 public:
  static base::Result<Shown> open(const PlayedHost& host, const std::string& root) {
    const Scenario& scenario = host.scenario();
    auto log = KernelLogFile::open(root + "/dev/kmsg", scenario);
    if (!log) return std::unexpected(log.error());
    const auto folder = std::filesystem::absolute(root).lexically_normal().parent_path();
    auto link =
        LibraryLink::open((folder / "lib/libnvidia-ml.so.1").string(), default_library(), scenario);
    if (!link) return std::unexpected(link.error());
    return Shown(host, root, *std::move(log), *std::move(link));
  }

  base::Status show(std::int64_t played_ns, const Playhead& playhead) {
    const BootTimes boot{playhead.origin_ns(), playhead.wall_ns(0)};
    if (auto written = writer_.write(host_.image(played_ns, boot)); !written) return written;
    if (auto shown = link_.show(played_ns); !shown) return shown;
    return log_.write(played_ns, boot);
  }

 private:
  Shown(const PlayedHost& host, const std::string& root, KernelLogFile log, LibraryLink link)
      : host_(host), writer_(root), log_(std::move(log)), link_(std::move(link)) {}

  const PlayedHost& host_;
  RootWriter writer_;
  KernelLogFile log_;
  LibraryLink link_;
};

// Set by SIGTERM and SIGINT.
volatile sig_atomic_t is_stopped = 0;

// Plays until stopped. Absolute ticks, so that the root does not drift; a signal ends a sleep.
base::Status play(Shown& shown, const Playhead& playhead, const std::string& root) {
  const pid_t parent = ::getppid();
  std::int64_t shown_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t next_ns = base::boottime_ns();
  while (!is_stopped && ::getppid() == parent) {
    const Moment moment = playhead.now();
    if (moment.played_ns != shown_ns) {
      shown_ns = moment.played_ns;
      if (auto written = shown.show(shown_ns, playhead); !written) return written;
      if (auto written = base::write_file_atomically(root + std::string(kProgressFile),
                                                     std::to_string(shown_ns) + "\n", 0644);
          !written) {
        return written;
      }
    }
    next_ns += playhead.is_stepped() ? kSteppedNs : kRealTimeNs;
    next_ns = std::max(next_ns, base::boottime_ns());
    const timespec until{next_ns / 1'000'000'000, next_ns % 1'000'000'000};
    clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, nullptr);
  }
  return {};
}

base::Status play_scenario(const std::string& file, const std::string& root,
                           const std::string& once) {
  const base::Result<Scenario> scenario = read_scenario(file);
  if (!scenario) return std::unexpected(scenario.error());
  const base::Result<PlayedHost> host = PlayedHost::open(*scenario);
  if (!host) return std::unexpected(host.error());
  base::Result<Playhead> playhead =
      scenario->playhead.empty() ? Playhead::unshared() : Playhead::open(scenario->playhead);
  if (!playhead) return std::unexpected(playhead.error());
  base::Result<Shown> shown = Shown::open(*host, root);
  if (!shown) return std::unexpected(shown.error());
  if (once.empty()) return play(*shown, *playhead, root);
  const std::optional<double> at_ms = base::parse_f64(once);
  if (!at_ms || std::abs(*at_ms) > kMaxOnceMs) {
    return base::fail(base::Code::kInvalidArgument, "--once: not milliseconds");
  }
  return shown->show(static_cast<std::int64_t>(*at_ms * 1e6), *playhead);
}

int run(Options options) {
  if (options.contains("--make") && options.contains("--demo")) return make(std::move(options));
  if (options.contains("--library") && options.contains("--output")) {
    const base::Status written =
        copy_without(options["--library"], options["--without"], options["--output"]);
    return written ? 0 : fail(written.error());
  }
  if (options.contains("--play")) {
    options["--root"] = options["--play"] + "/root";
    options["--sim"] = options["--play"];
  }
  if (!options.contains("--root") || !options.contains("--sim")) {
    std::fputs(kUsage, stderr);
    return kBadUsage;
  }
  const base::Status played = play_scenario(options["--sim"], options["--root"], options["--once"]);
  return played ? 0 : fail(played.error());
}

}  // namespace
}  // namespace everywatt::sim

int main(int argc, char** argv) {
  using namespace everywatt::sim;
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  struct sigaction stop{};
  stop.sa_handler = [](int) { is_stopped = 1; };
  sigaction(SIGTERM, &stop, nullptr);
  sigaction(SIGINT, &stop, nullptr);
  std::optional<Options> options = parse_options(argc, argv);
  if (!options) {
    std::fputs(kUsage, stderr);
    return kBadUsage;
  }
  return run(std::move(*options));
}
