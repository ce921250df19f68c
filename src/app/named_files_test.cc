// SPDX-License-Identifier: Apache-2.0
#include "app/named_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace everywatt::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NamedFilesTest : public testing::Test {
 protected:
  NamedFilesTest() {
    std::string name = testing::TempDir() + "named_files_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~NamedFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  static ConfigReading check(const std::string& text) {
    ConfigReading reading;
    reading.config = default_config();
    read_config_text(text, "e.toml", Language::kEn, reading);
    EXPECT_THAT(reading.faults, IsEmpty());
    check_named_files(Language::kEn, reading);
    return reading;
  }

  std::string folder_;
};

TEST_F(NamedFilesTest, WhatKeepsTheServerFromStartingIsAFault) {
  EXPECT_THAT(check("").faults, IsEmpty());
  EXPECT_THAT(check("[serve]\nweb_config = \"/nowhere\"\n").faults,
              ElementsAre("serve.web_config: cannot open /nowhere: No such file or directory"));
  const std::string web = write("web.yml", "basic_auth_users:\n  a: secret\n");
  EXPECT_THAT(check("[serve]\nweb_config = \"" + web + "\"\n").faults,
              ElementsAre(HasSubstr(web + ":2: the password of 'a': not a bcrypt hash")));
  const std::string tokens = write("tokens", "# none\n");
  EXPECT_THAT(check("[serve]\ntokens_file = \"" + tokens + "\"\n").faults,
              ElementsAre(HasSubstr("no token in it")));
  EXPECT_THAT(check("[serve]\ncounters = \"/nowhere\"\n").faults,
              ElementsAre("cannot open /nowhere: No such file or directory"));
}

TEST_F(NamedFilesTest, LinesOfACountersFileThatSayNothingAreNoted) {
  const std::string counters =
      write("counters.csv", "DCGM_FI_DEV_GPU_UTIL, gauge, x\nDCGM_FI_NONE, gauge, x\n");
  const ConfigReading reading = check("[serve]\ncounters = \"" + counters + "\"\n");
  EXPECT_THAT(reading.faults, IsEmpty());
  EXPECT_THAT(reading.notes,
              ElementsAre(counters + ": line 2: no field 'DCGM_FI_NONE' is recorded"));
}

TEST_F(NamedFilesTest, WhatMayStillComeIsNotedWithItsKey) {
  const ConfigReading reading = check(
      "[notify.ops]\ntype = \"dingtalk\"\nurl_file = \"/nowhere\"\nsecret_env = \"NOT_SET\"\n"
      "[remote_write.central]\nurl = \"https://h/\"\nca_file = \"/nowhere/ca.pem\"\n");
  EXPECT_THAT(reading.faults, IsEmpty());
  EXPECT_THAT(reading.notes,
              ElementsAre(HasSubstr("notify.ops.url_file: /nowhere is not there; "),
                          HasSubstr("remote_write.central.ca_file: cannot open /nowhere/ca.pem")));
}

TEST_F(NamedFilesTest, AWrongTemplateIsAFault) {
  const auto with = [this](const std::string& file) {
    return check("[notify.sms]\ntype = \"webhook\"\nurl = \"https://h/\"\ntemplate_file = \"" +
                 file + "\"\n");
  };
  EXPECT_THAT(with(write("wrong", "x\n{{ titel }}")).faults,
              ElementsAre(HasSubstr("notify.sms: " + folder_ + "/wrong: ")));
  EXPECT_THAT(with(write("right", "{{ title }}")).faults, IsEmpty());
  EXPECT_THAT(with("/nowhere").notes, ElementsAre(HasSubstr("notify.sms.template_file: ")));
}

}  // namespace
}  // namespace everywatt::app
