// SPDX-License-Identifier: Apache-2.0
#include "device/trace/csv.h"

#include <zlib.h>

#include <algorithm>
#include <memory>

#include "base/text.h"

namespace everywatt::trace {
namespace {

constexpr std::size_t kMaxBytes = 64u << 20;
constexpr std::size_t kBlock = 64u << 10;
// A trace has some 40 columns, and a full hour of it 14 million cells: more would only eat memory.
constexpr std::size_t kMaxColumns = 256;
constexpr std::size_t kMaxCells = 16u << 20;

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};
using GzipFile = std::unique_ptr<gzFile_s, CloseGzip>;

}  // namespace

base::Result<std::vector<char>> read_gzip(const std::string& path) {
  const GzipFile file(gzopen(path.c_str(), "rbe"));
  if (!file) return base::fail_errno("open", path);
  std::vector<char> bytes;
  while (true) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kBlock);
    const int got = gzread(file.get(), bytes.data() + before, kBlock);
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (got < 0 || code == Z_BUF_ERROR) {
      return base::fail(base::Code::kCorrupt, path + ": damaged gzip: " + reason);
    }
    bytes.resize(before + static_cast<std::size_t>(got));
    if (got == 0) return bytes;
    if (bytes.size() > kMaxBytes) {
      return base::fail(base::Code::kCorrupt, path + ": more than 64 MiB unpacked");
    }
  }
}

base::Result<Csv> Csv::read(const std::string& path) {
  base::Result<std::vector<char>> bytes = read_gzip(path);
  if (!bytes) return std::unexpected(bytes.error());
  Csv csv;
  csv.path_ = path;
  csv.text_ = std::move(*bytes);
  std::string_view rest(csv.text_.data(), csv.text_.size());
  std::uint32_t line = 0;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view text = base::trim(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++line;
    if (text.empty()) continue;
    if (static_cast<std::size_t>(std::ranges::count(text, ',')) >= kMaxColumns) {
      return base::fail(base::Code::kCorrupt,
                        path + ":" + std::to_string(line) + ": more than 256 columns");
    }
    const std::vector<std::string_view> cells = base::split(text, ',');
    if (csv.columns_ == 0) {
      csv.header_ = cells;
      csv.columns_ = cells.size();
      continue;
    }
    if (cells.size() != csv.columns_) {
      return base::fail(base::Code::kCorrupt,
                        path + ":" + std::to_string(line) + ": " + std::to_string(cells.size()) +
                            " cells, the header has " + std::to_string(csv.columns_));
    }
    if (csv.cells_.size() + cells.size() > kMaxCells) {
      return base::fail(base::Code::kCorrupt, path + ": more than 16 million cells");
    }
    csv.lines_.push_back(line);
    csv.cells_.insert(csv.cells_.end(), cells.begin(), cells.end());
  }
  if (csv.columns_ == 0) return base::fail(base::Code::kCorrupt, path + ":1: no header line");
  return csv;
}

base::Result<std::size_t> Csv::column(std::string_view name) const {
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i] == name) return i;
  }
  return base::fail(base::Code::kCorrupt, path_ + ":1: no column '" + std::string(name) + "'");
}

std::unexpected<base::Error> Csv::fail_at(std::size_t row, std::string_view message) const {
  const std::uint32_t line = row < lines_.size() ? lines_[row] : 2;
  return base::fail(base::Code::kCorrupt,
                    path_ + ":" + std::to_string(line) + ": " + std::string(message));
}

}  // namespace everywatt::trace
