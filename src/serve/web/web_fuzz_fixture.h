// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/fuzz_target.h"
#include "read/view/hostile_fixture.h"
#include "serve/exporter/exporter.h"
#include "serve/web/router.h"

// For fuzzers: a router over a recorder file that holds one of everything.
namespace everywatt::web {

class FileOfAll {
 public:
  FileOfAll() {
    std::string name = (std::filesystem::temp_directory_path() / "fuzz_web.XXXXXX").string();
    const int fd = ::mkstemp(name.data());
    CHECK(fd >= 0);
    ::close(fd);
    path_ = name;
    const view::Image image = view::make_whole_image();
    const std::string_view bytes(reinterpret_cast<const char*>(image.data()), image.size());
    CHECK(base::write_file_atomically(path_, bytes, 0600).has_value());
  }
  ~FileOfAll() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline RouterOptions router_options(const std::string& path) {
  RouterOptions options;
  options.view.recorder_path = path;
  options.view.clock = [] { return view::kNowNs; };
  options.host_names = {"gpu1"};
  options.note = "note";
  options.encode = [encoder =
                        std::make_shared<exporter::Encoder>(exporter::Options{.hostname = "node"})](
                       const view::View& view, const exporter::Wish& wish,
                       exporter::Exposition& out) { encoder->encode(view, wish, out); };
  return options;
}

inline Router& router_of_all() {
  static const FileOfAll file;
  static Router router(router_options(file.path()));
  return router;
}

// A body that is what its type says. Json is nlohmann::json, which no header includes.
template <typename Json>
void judge_body(std::string_view content_type, std::string_view body) {
  if (content_type == kJson) {
    CHECK(Json::accept(body));
    CHECK(base::is_utf8(body));
  } else if (content_type.starts_with("text/plain; charset")) {
    CHECK(base::is_utf8(body));
  }
}

}  // namespace everywatt::web
