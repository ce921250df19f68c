// SPDX-License-Identifier: Apache-2.0
#include "serve/outgoing/secret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>

namespace everywatt::outgoing {
namespace {

// What cannot be written cannot be written by mistake.
template <typename T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };
static_assert(!Streamable<Secret>);
static_assert(!fmt::is_formattable<Secret>::value);

class SecretTest : public ::testing::Test {
 protected:
  SecretTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "everywatt-secret-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SecretTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& content) {
    std::ofstream(folder_ + "/secret", std::ios::binary) << content;
    return folder_ + "/secret";
  }

  std::string folder_;
};

TEST_F(SecretTest, ReadsAFileWithoutTheBlanksAroundIt) {
  const SecretSource source{.file = write("  SECabc \n\n")};
  EXPECT_EQ(source.read()->reveal(), "SECabc");
}

TEST_F(SecretTest, ReadsAChangedFileAnew) {
  const SecretSource source{.file = write("one")};
  EXPECT_EQ(source.read()->reveal(), "one");
  write("two");
  EXPECT_EQ(source.read()->reveal(), "two");
}

TEST_F(SecretTest, ReadsAVariable) {
  ::setenv("EVERYWATT_TEST_SECRET", "from-env", 1);
  const SecretSource source{.env = "EVERYWATT_TEST_SECRET"};
  EXPECT_EQ(source.read()->reveal(), "from-env");
  ::unsetenv("EVERYWATT_TEST_SECRET");
  EXPECT_EQ(source.read().error().code, base::Code::kNotFound);
}

TEST_F(SecretTest, IsEmptyWithoutASource) {
  EXPECT_FALSE(SecretSource{}.is_set());
  EXPECT_TRUE(SecretSource{}.read()->is_empty());
}

TEST_F(SecretTest, NamesTheFileAndNotWhatIsInIt) {
  for (const char* content : {"", " \n", "two\nlines", "a\rb"}) {
    const SecretSource source{.file = write(content)};
    const auto secret = source.read();
    ASSERT_FALSE(secret) << content;
    EXPECT_EQ(secret.error().code, base::Code::kInvalidArgument);
    EXPECT_TRUE(secret.error().message.starts_with(source.file));
    EXPECT_EQ(secret.error().message.find("two"), std::string::npos);
  }
  const auto missing = SecretSource{.file = folder_ + "/none"}.read();
  EXPECT_EQ(missing.error().code, base::Code::kNotFound);
  EXPECT_NE(missing.error().message.find("/none"), std::string::npos);
  EXPECT_EQ(SecretSource{.file = write(std::string(70'000, 'x'))}.read().error().code,
            base::Code::kInvalidArgument);
}

TEST_F(SecretTest, LeavesNothingInWhatItWasMovedFrom) {
  Secret first(std::string(100, 's'));
  const Secret second = std::move(first);
  EXPECT_TRUE(first.is_empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(second.reveal().size(), 100u);
}

}  // namespace
}  // namespace everywatt::outgoing
