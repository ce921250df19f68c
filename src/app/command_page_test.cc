// SPDX-License-Identifier: Apache-2.0
#include "app/command_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/command_line.h"

namespace everywatt::app {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

CommandPage find_page(const std::string& name, Language language = Language::kEn) {
  const auto pages = describe_commands(language);
  const auto page = std::ranges::find(pages, name, &CommandPage::name);
  EXPECT_NE(page, pages.end()) << name;
  return page == pages.end() ? CommandPage{} : *page;
}

const OptionLine* find_option(const CommandPage& page, const std::string& name) {
  for (const OptionLine& option : page.options) {
    if (std::ranges::find(option.names, name) != option.names.end()) return &option;
  }
  return nullptr;
}

TEST(CommandPage, TellsWhatIsDeclared) {
  const CommandPage page = find_page("serve");
  const OptionLine* listen = find_option(page, "--listen");
  ASSERT_NE(listen, nullptr);
  EXPECT_EQ(listen->value, "ADDR:PORT");
  EXPECT_FALSE(listen->is_required);
  const OptionLine* help = find_option(page, "--help");
  ASSERT_NE(help, nullptr);
  EXPECT_THAT(help->names, ElementsAre("-h", "--help"));
  EXPECT_EQ(help->value, "");
}

TEST(CommandPage, AnArgumentByItsPlaceHasNoNames) {
  const CommandPage page = find_page("record");
  const auto file = std::ranges::find_if(
      page.options, [](const OptionLine& option) { return option.names.empty(); });
  ASSERT_NE(file, page.options.end());
  EXPECT_EQ(file->value, "FILE");
  EXPECT_TRUE(file->is_required);
}

TEST(CommandPage, HelpDoesNotShowWhatIsForPackages) {
  for (const CommandPage& page : describe_commands(Language::kEn)) {
    EXPECT_NE(page.name, "manual");
    EXPECT_NE(page.name, "completions");
  }
  const auto help = parse_command_line({"--help"}, Language::kZh);
  ASSERT_TRUE(help);
  EXPECT_THAT(help->shown, AllOf(HasSubstr("check-config"), Not(HasSubstr("completions"))));
  EXPECT_EQ(parse_command_line({"completions", "zsh"}, Language::kEn)->shell, "zsh");
  EXPECT_EQ(parse_command_line({"manual", "get"}, Language::kEn)->page, "get");
  EXPECT_EQ(parse_command_line({"manual"}, Language::kEn)->page, "");
  EXPECT_EQ(parse_command_line({"completions", "tcsh"}, Language::kEn).error().message,
            "completions: SHELL: no completions for 'tcsh'; there are: bash, zsh, fish");
}

TEST(Manual, IsRoffWithEveryOption) {
  const CommandPage page{"walk",
                         "takes a \\ for a walk",
                         {{{"-n", "--now"}, "", ".soon", false}, {{}, "FILE", "where to", true}}};
  const std::string manual = format_manual({{"", "all", {}}, page}, page, Language::kEn);
  EXPECT_THAT(manual, HasSubstr(".TH \"EVERYWATT\\-WALK\" 1 \"\" \"everywatt " EVERYWATT_VERSION));
  EXPECT_THAT(manual, HasSubstr("everywatt\\-walk \\- takes a \\e for a walk\n"));
  EXPECT_THAT(manual, HasSubstr("\\fBeverywatt\\fR \\fBwalk\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR\n"));
  EXPECT_THAT(manual, HasSubstr(".TP\n\\fB\\-n\\fR, \\fB\\-\\-now\\fR\n\\&.soon\n"));
  EXPECT_THAT(manual, HasSubstr(".SH \"SEE ALSO\"\n.BR everywatt (1)\n"));
}

TEST(Manual, ChineseMayBreakBeforeEachCharacter) {
  const CommandPage page = find_page("drain", Language::kZh);
  const std::string manual = format_manual({page}, page, Language::kZh);
  EXPECT_THAT(manual, AllOf(HasSubstr(".SH \"名称\""), HasSubstr("\\:释\\:放\\:驱\\:动")));
}

TEST(Completions, OfEachShellKnowEveryCommandAndLongOption) {
  const auto pages = describe_commands(Language::kEn);
  const std::string bash = format_bash_completions(pages);
  const std::string zsh = format_zsh_completions(pages);
  const std::string fish = format_fish_completions(pages);
  for (const CommandPage& page : pages) {
    EXPECT_THAT(bash, HasSubstr("    " + (page.name.empty() ? "''" : page.name) + ") words='"));
    if (!page.name.empty()) {
      EXPECT_THAT(zsh, HasSubstr("'" + page.name + ":"));
      EXPECT_THAT(fish, HasSubstr("-a " + page.name + " -d "));
    }
    for (const OptionLine& option : page.options) {
      if (option.names.empty() || !option.names.back().starts_with("--")) continue;
      EXPECT_THAT(bash, HasSubstr(option.names.back()));
      EXPECT_THAT(zsh, HasSubstr("'*" + option.names.back() + "["));
      EXPECT_THAT(fish, HasSubstr(" -l " + option.names.back().substr(2) + " "));
    }
  }
}

TEST(Completions, OfferTheChoicesOfAValue) {
  const std::vector<CommandPage> pages{{"", "", {{{"--lang"}, "en|zh", "don't [mix]: it", false}}}};
  EXPECT_THAT(format_bash_completions(pages),
              HasSubstr("    --lang) COMPREPLY=($(compgen -W 'en zh' -- \"$word\")); return ;;\n"));
  EXPECT_THAT(format_zsh_completions(pages),
              HasSubstr("'*--lang[don'\\''t \\[mix\\]\\: it]:value:(en zh)'"));
  EXPECT_THAT(format_fish_completions(pages), HasSubstr(" -l lang -x -a 'en zh' -d 'don\\'t "));
}

}  // namespace
}  // namespace everywatt::app
