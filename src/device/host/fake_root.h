// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "device/host/root.h"

namespace everywatt::host {

// A folder for a test that looks like the root of a machine. It is gone with the object.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "fake_root.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FakeRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  // Writes a file as a player of fake roots does: complete under another name, then renamed.
  void write(std::string_view absolute, std::string_view content) const {
    const std::filesystem::path path = folder_ + std::string(absolute);
    std::filesystem::create_directories(path.parent_path());
    const std::string next = path.string() + ".next";
    std::ofstream(next, std::ios::binary) << content;
    std::filesystem::rename(next, path);
  }
  void link(std::string_view absolute, std::string_view target) const {
    const std::filesystem::path path = folder_ + std::string(absolute);
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::create_symlink(target, path);
  }
  void append(std::string_view absolute, std::string_view content) const {
    std::ofstream(folder_ + std::string(absolute), std::ios::binary | std::ios::app) << content;
  }
  void remove(std::string_view absolute) const {
    std::filesystem::remove_all(folder_ + std::string(absolute));
  }

  const std::string& folder() const { return folder_; }
  Root root() const { return Root(folder_); }

 private:
  std::string folder_;
};

}  // namespace everywatt::host
