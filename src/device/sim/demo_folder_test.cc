// SPDX-License-Identifier: Apache-2.0
#include "device/sim/demo_folder.h"

#include <gmock/gmock.h>

#include <fstream>

#include "device/sim/fake_trace_files.h"
#include "device/sim/scenario.h"

namespace everywatt::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DemoFolderTest : public testing::Test {
 protected:
  DemoFolderTest() {
    for (const char* name : {"zebra", "ant", "gemm", "fed"})
      files_.write_gpu(name, {{.t_ms = 0}, {.t_ms = 50}});
  }
  DemoOptions options(const std::string& demo) {
    return {.folder = files_.folder() + "/demo",
            .demo = demo,
            .traces_folder = files_.folder(),
            .pace = Pace::kStepped};
  }
  std::vector<std::string> played() {
    std::vector<std::string> names;
    const auto scenario = read_scenario(files_.folder() + "/demo");
    for (const DeviceEntry& device : scenario->devices) {
      names.push_back(device.trace.substr(device.trace.rfind('/') + 1));
    }
    return names;
  }

  FakeTraceFiles files_;
};

TEST_F(DemoFolderTest, ListsTheTracesOfTheProductFirstAndInItsOrder) {
  EXPECT_THAT(trace_names(files_.folder()), ElementsAre("fed", "gemm", "ant", "zebra"));
  EXPECT_THAT(trace_names(files_.folder() + "/none"), ElementsAre());
}

TEST_F(DemoFolderTest, PlaysTheNamedTracesInTheGivenOrder) {
  ASSERT_TRUE(make_demo_folder(options("gemm, ant")));
  EXPECT_THAT(played(), ElementsAre("gemm", "ant"));
  const auto playhead = Playhead::open(files_.folder() + "/demo/playhead");
  ASSERT_TRUE(playhead);
  EXPECT_TRUE(playhead->is_stepped());
}

TEST_F(DemoFolderTest, PlaysAllOrAFolder) {
  ASSERT_TRUE(make_demo_folder(options("all")));
  EXPECT_EQ(played().size(), 4u);
  DemoOptions of_folder = options(files_.folder());
  of_folder.traces_folder = "/nowhere";
  ASSERT_TRUE(make_demo_folder(of_folder));
  EXPECT_EQ(played().size(), 4u);
}

TEST_F(DemoFolderTest, NamesTheTracesThereAreForOneThatIsNot) {
  const base::Status made = make_demo_folder(options("gem"));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("no trace 'gem'"));
  EXPECT_THAT(made.error().hint, HasSubstr("fed, gemm, ant, zebra"));
}

TEST_F(DemoFolderTest, PlaysAScenarioByItsNameWithTheTracesWhereTheyAre) {
  std::filesystem::create_directories(files_.folder() + "/scenarios");
  std::ofstream(files_.folder() + "/scenarios/lost.toml")
      << "playhead = \"playhead\"\n[[device]]\ntrace = \"../traces/gemm\"\n[[device]]\n"
         "trace = \"../traces/ant\"\n[[event]]\nat_ms = 5\nxid = 31\n";
  std::filesystem::create_directories(files_.folder() + "/traces");
  for (const char* name : {"gemm", "ant"}) {
    std::filesystem::copy(files_.stem(name) + ".gpu.csv.gz", files_.folder() + "/traces");
  }
  DemoOptions scenario = options("scenario:lost");
  scenario.traces_folder = files_.folder() + "/traces";
  const base::Status made = make_demo_folder(scenario);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(played(), ElementsAre("gemm", "ant"));
  EXPECT_EQ(read_scenario(files_.folder() + "/demo")->events.size(), 1u);

  scenario.demo = "scenario:?";
  const base::Status refused = make_demo_folder(scenario);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no scenario '?'"));
  EXPECT_EQ(refused.error().hint, "there are: lost");

  scenario.demo = "lost";
  EXPECT_EQ(make_demo_folder(scenario).error().hint,
            "there is a scenario of that name: scenario:lost");
}

TEST_F(DemoFolderTest, RefusesAProfileThatIsNone) {
  DemoOptions wrong = options("gemm");
  wrong.profile = "v100";
  const base::Status made = make_demo_folder(wrong);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "no profile 'v100'");
}

TEST_F(DemoFolderTest, FindsADamagedTraceBeforeAnythingIsMade) {
  files_.write("gemm.gpu.csv.gz", "t_ms\n");
  const base::Status made = make_demo_folder(options("all"));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("gemm.gpu.csv.gz:1: "));
  EXPECT_FALSE(std::filesystem::exists(files_.folder() + "/demo"));
}

}  // namespace
}  // namespace everywatt::sim
