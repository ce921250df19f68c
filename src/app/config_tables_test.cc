// SPDX-License-Identifier: Apache-2.0
#include "app/config_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace everywatt::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ConfigReading read(std::string_view text, Language language = Language::kEn) {
  ConfigReading reading;
  reading.config = default_config();
  read_config_text(text, "e.toml", language, reading);
  check_tables(language, reading);
  return reading;
}

constexpr std::string_view kDingTalk =
    "[notify.ops]\ntype = \"dingtalk\"\nurl_file = \"/etc/ops.url\"\n";

TEST(ConfigTables, AChannelIsReadWithAllItsKeys) {
  const ConfigReading reading = read(
      "[notify.ops]\ntype = \"dingtalk\"\nurl_file = \"/etc/ops.url\"\nsecret_env = \"OPS\"\n"
      "language = \"zh\"\nat_mobiles = [\"13800000000\"]\nat_all_critical = \"yes\"\n"
      "per_minute = 9\nca_file = \"/ca\"\nproxy = \"http://proxy:3128\"\n"
      "receiver_token_env = \"TOKEN\"\n"
      "[notify.post]\ntype = \"mail\"\nurl = \"smtp://h:587\"\nfrom = \"a@b\"\nto = [\"c@d\"]\n"
      "starttls = \"off\"\n"
      "[notify.hook]\ntype = \"webhook\"\nurl = \"https://h/x\"\ntemplate_file = \"/t\"\n"
      "content_type = \"text/plain\"\nusername = \"u\"\npassword_file = \"/p\"\n");
  EXPECT_THAT(reading.faults, IsEmpty());
  notify::ChannelOptions ops{.name = "ops", .type = notify::ChannelType::kDingTalk};
  ops.url_source = {.file = "/etc/ops.url", .env = ""};
  ops.secret = {.file = "", .env = "OPS"};
  ops.language = notify::Language::kChinese;
  ops.at_mobiles = {"13800000000"};
  ops.at_all_critical = notify::AtAllCritical::kYes;
  ops.per_minute = 9;
  ops.ca_file = "/ca";
  ops.proxy = "http://proxy:3128";
  ops.receiver_token = {.file = "", .env = "TOKEN"};
  ASSERT_EQ(reading.config.channels.size(), 3U);
  EXPECT_EQ(reading.config.channels[0], ops);
  EXPECT_EQ(reading.config.channels[1].starttls, outgoing::Starttls::kOff);
  EXPECT_EQ(reading.config.channels[2].content_type, "text/plain");
}

TEST(ConfigTables, ADestinationIsReadWithAllItsKeys) {
  const ConfigReading reading = read(
      "[remote_write.central]\nurl = \"https://h/api/v1/write\"\nnames = \"dcgm,self\"\n"
      "metrics = [\"gpu_*\"]\nstep_seconds = 0.1\nusername = \"u\"\npassword_env = \"P\"\n"
      "tenant = \"t\"\nca_file = \"/ca\"\ncert_file = \"/c\"\nkey_file = \"/k\"\n"
      "insecure_skip_verify = \"yes\"\nproxy = \"http://p\"\nqueue_megabytes = 2\n"
      "labels = {cluster = \"a\", job = \"gpu\"}\n");
  EXPECT_THAT(reading.faults, IsEmpty());
  remote_write::Options central{.name = "central", .url = "https://h/api/v1/write"};
  central.names = *exporter::parse_names("dcgm,self");
  central.metrics = {"gpu_*"};
  central.step_ns = 100'000'000;
  central.username = "u";
  central.password = {.file = "", .env = "P"};
  central.tenant = "t";
  central.ca_file = "/ca";
  central.cert_file = "/c";
  central.key_file = "/k";
  central.tls_check = outgoing::TlsCheck::kNone;
  central.proxy = "http://p";
  central.queue_bytes = 2U << 20;
  central.labels = {{"cluster", "a"}, {"job", "gpu"}};
  EXPECT_THAT(reading.config.remote_writes, ElementsAre(central));
}

TEST(ConfigTables, WhatIsSetReachesTheOtherProcessesAsItIs) {
  const ConfigReading reading =
      read(std::string(kDingTalk) +
           "[remote_write.a-b]\nurl = \"http://h/w\"\nlabels = {x = \"\\\"1\\\"\"}\n[notify.9]\n"
           "type = \"slack\"\nurl_env = \"SLACK\"\n");
  EXPECT_THAT(reading.faults, IsEmpty());
  const ConfigReading again = read(reading.config.settings);
  EXPECT_THAT(again.faults, IsEmpty());
  EXPECT_EQ(again.config.channels, reading.config.channels);
  EXPECT_EQ(again.config.remote_writes, reading.config.remote_writes);
  EXPECT_EQ(again.config.settings, reading.config.settings);
}

TEST(ConfigTables, ASettingAddsToATableOfTheFileAndMakesOneThatIsNotThere) {
  ConfigReading reading = read(kDingTalk);
  read_setting("notify.ops.language=zh", Language::kEn, reading);
  read_setting("remote_write.c.labels.cluster=b", Language::kEn, reading);
  EXPECT_THAT(reading.faults, IsEmpty());
  ASSERT_EQ(reading.config.channels.size(), 1U);
  EXPECT_EQ(reading.config.channels[0].language, notify::Language::kChinese);
  EXPECT_EQ(reading.config.channels[0].url_source.file, "/etc/ops.url");
  check_tables(Language::kEn, reading);
  EXPECT_THAT(reading.faults, ElementsAre("--set: remote_write.c: needs url"));
}

TEST(ConfigTables, EachMistakeIsOneLineThatNamesItsPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"langage = \"zh\"",
       "e.toml:4: unknown key 'notify.ops.langage'; did you mean 'notify.ops.language'?"},
      {"language = \"fr\"", "e.toml:4: notify.ops.language = 'fr' is none of en|zh"},
      {"language = 3", "e.toml:4: notify.ops.language must be a text"},
      {"at_mobiles = \"1\"", "e.toml:4: notify.ops.at_mobiles must be a list of texts"},
      {"per_minute = 0", "e.toml:4: notify.ops.per_minute"},
      {"per_minute = 60", "e.toml:1: notify.ops: per_minute must be between 0.1 and"},
      {"url_env = \"X\"", "e.toml:1: notify.ops: url_file and url_env are two sources"},
      {"receiver_token_file = \"/a\"\nreceiver_token_env = \"X\"",
       "e.toml:1: notify.ops: receiver_token_file and receiver_token_env are two sources"},
      {"from = \"a@b\"", "e.toml:1: notify.ops: from is no key of type dingtalk"},
      {"[notify.Ops]", "e.toml:4: 'notify.Ops': a name has 1 to 32 of a-z, 0-9, _ and -"},
      {"[notify.two]", ""},
      {"[notify.two]\nurl_file = \"/x\"", "e.toml:4: notify.two: needs type: dingtalk, wecom"},
      {"[notify.two]\ntype = \"slack\"", "e.toml:4: notify.two: needs url_file or url_env"},
      {"[notify]\nthree = 3", "e.toml:5: 'notify.three' is a section"},
      {"[remote_write.c]\nstep_seconds = 10", "e.toml:4: remote_write.c: needs url"},
      {"[remote_write.c]\nurl = \"x\"", "e.toml:4: remote_write.c: url"},
      {"[remote_write.c]\nstep_seconds = 0.01", "e.toml:5: remote_write.c.step_seconds"},
      {"[remote_write.c]\nlabels = \"x\"", "e.toml:5: remote_write.c.labels: must be a table"},
      {"[remote_write.c]\nlabels = {a = 1}", "e.toml:5: remote_write.c.labels.a must be a text"},
      {"[remote_write.c]\nlabels = {\"a b\" = \"1\"}",
       "e.toml:5: 'remote_write.c.labels.a b' is no name of a label"},
      {"[remote_write.c]\nnames = \"x\"", "e.toml:5: remote_write.c.names"},
  };
  for (const auto& [more, fault] : cases) {
    const ConfigReading reading = read(std::string(kDingTalk) + more);
    if (fault.empty()) continue;
    ASSERT_FALSE(reading.faults.empty()) << more;
    EXPECT_THAT(reading.faults.front(), HasSubstr(fault)) << more;
    EXPECT_FALSE(reading.faults.front().contains('\n'));
  }
}

TEST(ConfigTables, MistakesAreToldInChinese) {
  for (const char* text :
       {"[notify.a]\ntype = \"slack\"\n", "[notify.a]\ntype = \"mail\"\nurl = \"x\"\n",
        "[notify.a]\nlanguage = \"en\"\n",
        "[notify.a]\ntype = \"slack\"\nurl_env = \"A\"\nurl_file = \"B\"\n",
        "[notify.a]\ntype = \"slack\"\nurl = \"https://x\"\n", "[remote_write.a]\nurl = \"x\"\n",
        "[remote_write.a]\nurl = \"http://x\"\nusername = \"u\"\ntoken_env = \"x\"\n"}) {
    const ConfigReading reading = read(text, Language::kZh);
    ASSERT_EQ(reading.faults.size(), 1U) << text;
    const std::string& fault = reading.faults.front();
    EXPECT_TRUE(std::ranges::any_of(fault, [](char c) {
      return static_cast<unsigned char>(c) >= 0xe3;
    })) << fault;
  }
}

TEST(ConfigTables, TheDefaultFileShowsThemInBothLanguages) {
  for (const Language language : {Language::kEn, Language::kZh}) {
    const std::string text = format_default_tables(language);
    EXPECT_THAT(text, HasSubstr("\n#[notify.ops]\n"));
    EXPECT_THAT(text, HasSubstr("\n#[remote_write.central]\n"));
    for (const TableKind& kind : table_kinds()) {
      for (const TableKey& each : kind.keys) {
        EXPECT_THAT(text, HasSubstr(std::string("\n#") + std::string(each.key.name) + " = "));
        EXPECT_EQ(each.key.en.empty(), each.key.zh.empty());
      }
    }
  }
}

}  // namespace
}  // namespace everywatt::app
