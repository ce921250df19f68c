// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/boot_id.h"

#include <gtest/gtest.h>

namespace everywatt::recorder {
namespace {

TEST(BootId, IsReadAndWrittenAsTheKernelDoes) {
  const std::string text = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
  const BootId id = parse_boot_id(text);
  EXPECT_EQ(id[0], 0x0f);
  EXPECT_EQ(id[15], 0xf0);
  EXPECT_EQ(format_boot_id(id), text);
}

TEST(BootId, IsZerosWhereThereIsNone) {
  for (const char* text : {"", "0f1e", "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0ff",
                           "no boot id at all", "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"}) {
    EXPECT_EQ(parse_boot_id(text), BootId{}) << text;
  }
  EXPECT_EQ(format_boot_id({}), "00000000-0000-0000-0000-000000000000");
}

TEST(BootId, ThisBootHasOne) {
  EXPECT_EQ(read_boot_id(), read_boot_id());
}

}  // namespace
}  // namespace everywatt::recorder
