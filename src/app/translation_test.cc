// SPDX-License-Identifier: Apache-2.0
#include "app/translation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "app/config.h"
#include "app/selection.h"
#include "app/source.h"
#include "app/words.h"
#include "base/file.h"
#include "record/importer/importer.h"

namespace everywatt::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string zh(std::string_view sentence) {
  return translate(sentence, Language::kZh);
}

bool has_chinese(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0xe3; });
}

unsigned places(std::string_view text) {
  unsigned count = 0;
  for (std::size_t at = text.find("{}"); at != text.npos; at = text.find("{}", at + 2))
    ++count;
  return count;
}

TEST(Translation, HasChineseWithTheSamePlacesForEachSentence) {
  std::set<std::string_view> seen;
  for (const SentencePair& pair : sentence_pairs()) {
    EXPECT_TRUE(has_chinese(pair.zh)) << pair.en;
    EXPECT_FALSE(has_chinese(pair.en)) << pair.en;
    EXPECT_EQ(places(pair.en), places(pair.zh)) << pair.en;
    EXPECT_TRUE(seen.insert(pair.en).second) << pair.en;
  }
}

TEST(Translation, KeepsPlacesAndNumbers) {
  EXPECT_EQ(zh("no daemon runs (looked in /run/everywatt, /tmp/x)"),
            "没有守护进程在运行(已查找:/run/everywatt, /tmp/x)");
  EXPECT_EQ(zh("/a: b has no room for the recorder: it needs 12 MiB"),
            "/a: b 放不下记录文件:需要 12 MiB");
  EXPECT_EQ(zh("cannot open /a/b.rec: No such file or directory"),
            "无法打开 /a/b.rec:没有该文件或目录");
  EXPECT_EQ(zh("cannot make room for 12 KiB in x: No space left on device"),
            "无法腾出 12 KiB 于 x:设备空间不足");
  EXPECT_EQ(zh("x.rec is damaged: 5 of its 9 bytes are there"),
            "x.rec 已损坏:只有 5 字节,应有 9 字节");
  EXPECT_EQ(zh("no usable NVIDIA library (/a/b.so: a directory)"),
            "没有可用的 NVIDIA 库(/a/b.so:是目录)");
  EXPECT_EQ(zh("a.gpu.csv.gz:3: util_gpu is not a number"), "a.gpu.csv.gz:3:util_gpu 不是数字");
}

TEST(Translation, LeavesWhatItDoesNotKnowAndWhatIsEnglish) {
  EXPECT_EQ(zh("the moon is full"), "the moon is full");
  EXPECT_EQ(zh(""), "");
  EXPECT_EQ(translate("try again", Language::kEn), "try again");
}

// The rooms themselves, not a copy of what they say.
TEST(Translation, KnowsWhatTheRoomsSay) {
  std::vector<base::Error> errors;
  const auto take = [&errors](const auto& result) {
    ASSERT_FALSE(result);
    errors.push_back(result.error());
  };
  take(view::View::open({.recorder_path = "/nowhere.rec"}));
  take(view::View::open({.recorder_path = "/dev/null"}));
  take(importer::find_stems({"/nowhere/x"}));
  take(importer::import_traces({.stems = {"x"}, .output = "y", .profile = "z"}));
  take(view::find_gpu({}, "7"));
  take(find_metrics(std::vector<std::string>{"gpu_powr_watts"}));
  take(parse_listen("9400"));
  take(open_source(
      {},
      [] {
        Config config = default_config();
        config.run_folder = "/nowhere";
        return config;
      }(),
      NoDaemon::kComplain));
  for (const base::Error& error : errors) {
    const base::Error said = translate(error, Language::kZh);
    EXPECT_TRUE(has_chinese(said.message)) << said.message;
    EXPECT_TRUE(said.hint.empty() || has_chinese(said.hint)) << said.hint;
    EXPECT_EQ(said.code, error.code);
  }
}

// Whoever writes a new error in these rooms has its Chinese to write as well.
TEST(Translation, KnowsEachErrorInTheSourcesThatPeopleMeet) {
  std::set<std::string> known;
  const std::regex place("\\{[^}]*\\}");
  for (const SentencePair& pair : sentence_pairs())
    known.emplace(pair.en);
  const std::regex said(
      "fail\\(\\s*(?:base::)?Code::\\w+,\\s*(?:fmt::format\\(\\s*)?"
      "(\"(?:[^\"\\\\]|\\\\.)*\"(?:\\s*\"(?:[^\"\\\\]|\\\\.)*\")*)\\s*[,)]");
  std::vector<std::string> unknown;
  for (const char* room : {"app", "read/view", "record/importer", "device/trace", "base"}) {
    const std::string folder = std::string(EVERYWATT_SOURCE_DIR) + "/src/" + room;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string path = entry.path().string();
      if (!path.ends_with(".cc") || path.ends_with("_test.cc")) continue;
      const std::string source = *base::read_file(path);
      for (std::sregex_iterator it(source.begin(), source.end(), said), end; it != end; ++it) {
        const std::string joined = std::regex_replace((*it)[1].str(), std::regex("\"\\s*\""), "");
        const std::string text =
            std::regex_replace(joined.substr(1, joined.size() - 2), place, "{}");
        if (!known.contains(text)) unknown.push_back(path + ": " + text);
      }
    }
  }
  EXPECT_THAT(unknown, IsEmpty()) << "write their Chinese into translations.inc";
}

TEST(Words, OfStatesAreThoseOfTheGlossary) {
  using view::DeviceStatus;
  EXPECT_EQ(status_word(DeviceStatus::kTimedOut, Language::kEn), "timed_out");
  EXPECT_EQ(status_word(DeviceStatus::kOk, Language::kZh), "正常");
  EXPECT_EQ(status_word(DeviceStatus::kLost, Language::kZh), "丢失");
  EXPECT_EQ(status_word(DeviceStatus::kTimedOut, Language::kZh), "超时");
  EXPECT_EQ(status_word(DeviceStatus::kGone, Language::kZh), "已移除");
  EXPECT_EQ(status_word(DeviceStatus::kSuspended, Language::kZh), "已挂起");
}

TEST(Words, OfProcessTypesAreTranslatedOneByOne) {
  view::Process process;
  EXPECT_EQ(type_word(process, Language::kZh), "?");
  process.type_mask = 5;
  EXPECT_EQ(type_word(process, Language::kEn), "compute+mps");
  EXPECT_EQ(type_word(process, Language::kZh), "计算+MPS");
}

}  // namespace
}  // namespace everywatt::app
