// SPDX-License-Identifier: Apache-2.0
#include "serve/web/page_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace everywatt::web {
namespace {

std::string bytes_of(std::string_view path) {
  const auto found = std::ranges::find(page_files(), path, &PageFile::path);
  return found == page_files().end() ? std::string() : std::string(found->bytes);
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
       ++match) {
    found.insert((*match)[1]);
  }
  return found;
}

TEST(PageFiles, AreTheFilesOfTheFolderByteByByte) {
  const std::map<std::string_view, std::string_view> kTypes = {
      {"/", "text/html; charset=utf-8"},
      {"/page.css", "text/css; charset=utf-8"},
      {"/page.js", "text/javascript; charset=utf-8"},
      {"/card.js", "text/javascript; charset=utf-8"},
      {"/words.js", "text/javascript; charset=utf-8"},
      {"/icon.svg", "image/svg+xml"}};
  ASSERT_EQ(page_files().size(), kTypes.size());
  for (const PageFile& file : page_files()) {
    EXPECT_EQ(kTypes.at(file.path), file.content_type);
    const std::string name = file.path == "/" ? "/index.html" : std::string(file.path);
    std::ifstream source(EVERYWATT_SOURCE_DIR "/src/serve/web/page" + name, std::ios::binary);
    EXPECT_EQ(file.bytes, std::string(std::istreambuf_iterator<char>(source), {})) << name;
  }
}

TEST(PageFiles, NothingInThemLeadsOutside) {
  for (const PageFile& file : page_files()) {
    std::string text(file.bytes);
    const std::string name_space = "http://www.w3.org/2000/svg";  // a name, never asked for
    if (const auto at = text.find(name_space); at != std::string::npos) {
      text.erase(at, name_space.size());
    }
    EXPECT_EQ(text.find("://"), std::string::npos) << file.path;
    EXPECT_TRUE(matches(text, "((?:src|href)=\"//)").empty()) << file.path;
    EXPECT_TRUE(matches(text, "(url\\(|@import|importScripts|eval\\()").empty()) << file.path;
  }
}

TEST(PageFiles, ThePolicyFitsThePage) {
  EXPECT_EQ(kPagePolicy.find("unsafe"), std::string::npos);
  EXPECT_EQ(kPagePolicy.find("http"), std::string::npos);
  EXPECT_TRUE(kPagePolicy.starts_with("default-src 'none'; "));
  const std::string page = bytes_of("/");
  EXPECT_TRUE(matches(page, "(<script(?![^>]* src=)[^>]*>)").empty());  // no inline script
  EXPECT_TRUE(matches(page, "(<style|\\sstyle=|\\son[a-z]+=)").empty());
  for (const std::string& source : matches(page, "(?:src|rel=\"\\w+\" href)=\"([^\"]*)\"")) {
    EXPECT_NE(bytes_of("/" + source), "") << source;
  }
}

TEST(PageFiles, BothLanguagesHaveTheSameWords) {
  const std::string words = bytes_of("/words.js");
  const std::size_t english = words.find("\n  en: {");
  const std::size_t chinese = words.find("\n  zh: {");
  ASSERT_NE(english, std::string::npos);
  ASSERT_LT(english, chinese);
  const std::string pattern = "[ \\n](\\w+): \"";
  const auto in_english = matches(words.substr(english, chinese - english), pattern);
  EXPECT_EQ(in_english,
            matches(words.substr(chinese, words.find("}[LANGUAGE]") - chinese), pattern));
  EXPECT_GT(in_english.size(), 20U);
  for (const char* script : {"/page.js", "/card.js", "/words.js"}) {
    for (const std::string& word : matches(bytes_of(script), "say\\(\"(\\w+)\"")) {
      EXPECT_TRUE(in_english.contains(word)) << word;
    }
  }
}

TEST(PageFiles, TextOfOthersIsNeverTakenForMarkup) {
  for (const PageFile& file : page_files()) {
    EXPECT_TRUE(matches(std::string(file.bytes),
                        "(innerHTML|outerHTML|insertAdjacentHTML|document\\.write)")
                    .empty())
        << file.path;
  }
}

}  // namespace
}  // namespace everywatt::web
