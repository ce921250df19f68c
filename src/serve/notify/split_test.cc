// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "base/fuzz_target.h"
#include "base/text.h"
#include "serve/notify/notify_fixture.h"
#include "serve/notify/robots.h"

namespace everywatt::notify {
namespace {

using nlohmann::json;

std::string all_text(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) {
    for (const std::string& block : part.blocks)
      text += block + "\n";
  }
  return text;
}

std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

// The N of "… and N more: ", or 0.
std::size_t tail_count(std::string_view text) {
  const std::size_t at = text.find("… and ");
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = text.substr(at + std::string_view("… and ").size());
  return *base::parse_u64(rest.substr(0, rest.find(' ')));
}

struct Case {
  Style style;
  Limits limits;
};

const Case kCases[] = {
    {Style::kDingTalk, {.part = 19'000, .block = 19'000, .between = 4, .cost = json_cost}},
    {Style::kWeCom, {.part = 3'500, .block = 3'500, .between = 2, .cost = plain_cost}},
    {Style::kFeishu, {.part = 19'000, .block = 19'000, .between = 60, .cost = json_cost}},
    {Style::kSlack, {.part = 12'000, .block = 2'900, .blocks = 40, .between = 2}},
    {Style::kHtml, {.part = 200'000, .block = 8'000, .blocks = 2'000, .between = 8}},
    {Style::kPlain, {.part = 1'500, .block = 1'200, .blocks = 5, .between = 2}},
};

void expect_within(const std::vector<Part>& parts, const Limits& limits) {
  EXPECT_LE(parts.size(), kPartsLimit);
  for (const Part& part : parts) {
    EXPECT_FALSE(part.blocks.empty());
    EXPECT_LE(part.blocks.size(), limits.blocks);
    std::size_t all = 0;
    for (const std::string& block : part.blocks) {
      EXPECT_LE(limits.cost(block), limits.block);
      EXPECT_TRUE(base::is_utf8(block));
      EXPECT_FALSE(block.empty());
      all += limits.cost(block) + limits.between;
    }
    EXPECT_LE(all, limits.part);
  }
}

TEST(Split, PutsEveryAlertIntoExactlyOnePlace) {
  for (const Case& each : kCases) {
    for (const std::size_t count : {1, 2, 5, 17, 90, 400}) {
      for (const std::size_t bytes : {0, 120, 1900}) {
        const Notification notification = storm(count, bytes);
        const auto parts =
            split(compose(notification, Language::kEnglish), each.style, each.limits);
        expect_within(parts, each.limits);
        const std::string text = all_text(parts);
        const std::string before_tail = text.substr(0, text.find("… and "));
        std::size_t shown = 0;
        for (const Alert& alert : notification.alerts) {
          const std::size_t here = count_of(before_tail, alert_name(alert));
          EXPECT_LE(here, 1u) << alert_name(alert);
          shown += here;
        }
        EXPECT_EQ(shown + tail_count(text), count)
            << static_cast<int>(each.style) << " " << count << " " << bytes;
      }
    }
  }
}

TEST(Split, KeepsAnAlertInOnePartWhereItFits) {
  const Limits limits{.part = 2'000, .block = 2'000, .between = 2, .cost = plain_cost};
  const auto parts = split(compose(storm(6, 700), Language::kEnglish), Style::kPlain, limits);
  ASSERT_EQ(parts.size(), 3u);
  for (const Part& part : parts) {
    EXPECT_EQ(part.blocks.size(), 2u);
    for (const std::string& block : part.blocks)
      EXPECT_TRUE(block.starts_with("FIRING "));
  }
}

TEST(Split, CutsALongTextBetweenCharacters) {
  Notification notification = storm(1, 0);
  std::string text;
  for (int i = 0; i < 1300; ++i)
    text += "显";
  notification.alerts[0].annotations["description"] = text;
  const Limits limits{.part = 1'500, .block = 1'500, .between = 2, .cost = plain_cost};
  const auto parts = split(compose(notification, Language::kChinese), Style::kWeCom, limits);
  expect_within(parts, limits);
  EXPECT_EQ(count_of(all_text(parts), "显"), 1300u);
}

TEST(Split, ShowsCriticalsInFullBeforeAnythingIsShortened) {
  const Notification notification = storm(500);
  const Limits limits = kCases[1].limits;
  const auto parts = split(compose(notification, Language::kEnglish), Style::kWeCom, limits);
  ASSERT_EQ(parts.size(), kPartsLimit);
  for (std::size_t i = 0; i < kFullParts; ++i) {
    EXPECT_EQ(count_of(all_text({parts[i]}), "(warning)"), 0u);
  }
}

TEST(Split, CountsNamesUpToItsRoom) {
  const Words& words = words_of(Language::kEnglish);
  EXPECT_EQ(count_names({"B", "A", "B"}, words, 100), "A, B ×2");
  EXPECT_EQ(count_names({"Long1", "Long2", "Long3"}, words, 6), "Long1, 2 other names");
  EXPECT_EQ(count_names({"Long1"}, words, 0), "1 other names");
}

// 500 alerts at once: what loses all of them elsewhere.
TEST(Split, KeepsEveryBodyOfEveryRobotWithinItsLimit) {
  std::minstd_rand random(7);
  const std::string_view odd[] = {"\"", "\\", "显卡", "<", "&", "*", "_", "\xf0\x9f\x94\xa5", "a"};
  for (int round = 0; round < 8; ++round) {
    Notification notification = storm(round == 0 ? 500 : 1 + random() % 60, 0);
    notification.external_url = "http://" + std::string(random() % 300, 'x');
    for (Alert& alert : notification.alerts) {
      std::string text;
      for (std::size_t i = random() % 300; i > 0; --i)
        text += odd[random() % std::size(odd)];
      alert.annotations["description"] = text;
      alert.labels["instance"] = text.substr(0, text.find('"'));
      if (round % 2 == 0) alert.labels["alertname"] += base::clean_text(text, 400);
    }
    notification = *parse_payload(format_payload(notification));
    ChannelOptions options = make_options(ChannelType::kDingTalk);
    options.at_all_critical = AtAllCritical::kYes;
    const Message message = compose(notification, Language::kChinese);
    options.at_mobiles = {"13800000000"};
    for (const std::string& body : dingtalk_bodies(message, options)) {
      EXPECT_LT(body.size(), 20'000u);
      EXPECT_TRUE(json::accept(body));
    }
    for (const std::string& body : wecom_bodies(message, options)) {
      const json parsed = json::parse(body);
      const std::string kind = parsed["msgtype"];
      EXPECT_LE(parsed[kind]["content"].get_ref<const std::string&>().size(),
                kind == "text" ? 2048u : 4096u);
    }
    for (const std::string& body : feishu_bodies(message, options)) {
      EXPECT_LE(sign_feishu_body(body, 1'764'655'507, "secret").size(), 20'000u);
      EXPECT_TRUE(json::accept(sign_feishu_body(body, 1'764'655'507, "secret")));
    }
    for (const std::string& body : slack_bodies(message, options)) {
      const json parsed = json::parse(body);
      EXPECT_LE(parsed["blocks"].size(), 50u);
      EXPECT_LE(parsed["text"].get_ref<const std::string&>().size(), 40'000u);
      for (const json& block : parsed["blocks"]) {
        if (block["type"] != "section") continue;
        EXPECT_LE(block["text"]["text"].get_ref<const std::string&>().size(), 3000u);
      }
    }
  }
}

TEST(Split, LosesNoLongLinkSilentlyFromItsNeighbours) {
  Notification notification = storm(2, 0);
  notification.alerts[0].generator_url = "http://p/" + std::string(2000, '(');
  const Limits limits = kCases[1].limits;
  const auto parts = split(compose(notification, Language::kEnglish), Style::kWeCom, limits);
  expect_within(parts, limits);
  EXPECT_EQ(count_of(all_text(parts), "Storm"), 2u);
}

}  // namespace
}  // namespace everywatt::notify
