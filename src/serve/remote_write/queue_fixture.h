// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "serve/remote_write/queue.h"

namespace everywatt::remote_write {

inline constexpr std::uint64_t kBoot = 77;

// A folder of a test's own, in memory where there is a place for it.
class TestFolder {
 public:
  TestFolder() {
    path_ = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/queue-XXXXXX" : "/tmp/queue-XXXXXX";
    CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline std::unique_ptr<Queue> open_queue(const std::string& folder, std::uint64_t boot = kBoot,
                                         std::uint64_t limit_bytes = 1u << 20) {
  auto queue = Queue::open({.folder = folder, .limit_bytes = limit_bytes, .this_boot = boot});
  CHECK(queue);
  return *std::move(queue);
}

// The moment of second `i` and what is taken then: a body that says which it is.
inline Moment moment_of(int i) {
  return {
      .wall_ms = 1'000'000 + 1000 * i, .boot_ns = 1'000'000'000 * std::int64_t{i}, .boot = kBoot};
}
inline exporter::Body body_of(int i, std::size_t samples, std::size_t bytes = 24) {
  std::string text = fmt::format("body {} ", i);
  text.resize(std::max(text.size(), bytes), 'x');
  return {.bytes = text, .samples = samples};
}
inline base::Status append_one(Queue& queue, int i, std::size_t samples = 3,
                               std::size_t bytes = 24) {
  const exporter::Body body = body_of(i, samples, bytes);
  return queue.append({&body, 1}, moment_of(i));
}

// "3@0": samples and where in the line they begin.
inline std::vector<std::string> settle_all(Queue& queue) {
  std::vector<std::string> all;
  while (true) {
    const auto item = queue.next();
    CHECK(item);
    if (!*item) return all;
    const Queue::Item& one = **item;
    all.push_back(fmt::format("{}@{}", one.record.end() - one.from, one.from));
    queue.settle(one, one.from, one.record.end());
  }
}

// The one file of samples in it. REQUIRES: there is one.
inline std::string only_segment(const std::string& folder) {
  std::string found;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".samples") continue;
    CHECK(found.empty());
    found = file.path();
  }
  CHECK(!found.empty());
  return found;
}

}  // namespace everywatt::remote_write
