// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "base/file.h"
#include "record/recorder/example_file.h"
#include "record/recorder/read_everything.h"
#include "record/recorder/reseal.h"

namespace everywatt::recorder {
namespace {

using Image = std::vector<std::byte>;

// The seeds of the fuzzer, which are also what files of format 1 must stay readable as.
std::map<std::string, Image> corpus() {
  std::map<std::string, Image> images;
  for (const auto& each :
       std::filesystem::directory_iterator(EVERYWATT_SOURCE_DIR "/tests/corpus/reader")) {
    const std::string bytes = base::read_file(each.path()).value();
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    images[each.path().filename()] = Image(first, first + bytes.size());
  }
  return images;
}

TEST(ReaderCorpus, FilesOfFormatOneStayReadable) {
  const auto images = corpus();
  EXPECT_EQ(images.at("empty_ring.rec"), example_image(0));
  EXPECT_EQ(images.at("wrapped_ring.rec"), example_image(3));
  EXPECT_EQ(read_everything(*open_image(images.at("wrapped_ring.rec")).value()).rows, 2U);
  const auto met = read_everything(*open_image(images.at("instances_and_text.rec")).value());
  EXPECT_EQ(met.rows, 1U);
  EXPECT_EQ(met.devices, 2U);
}

// Numbers that matter to one who lies about sizes.
std::uint64_t odd_number(std::minstd_rand& random) {
  constexpr std::array<std::uint64_t, 12> kOdd{
      0, 1, 7, 8, 0x7f, 0xff, 0xffff, 0x7fff'ffff, 0xffff'ffff, 4096, 1ULL << 63, ~0ULL};
  return kOdd[random() % kOdd.size()];
}

// Changes a few places, mostly among the words that are not zero: those mean something.
void mutate(Image& image, const std::vector<std::size_t>& places, std::minstd_rand& random) {
  const std::size_t changes = 1 + random() % 4;
  for (std::size_t i = 0; i < changes; ++i) {
    std::size_t place = places[random() % places.size()] + random() % 8;
    if (random() % 8 == 0) place = random() % image.size();
    const std::uint64_t number = random() % 2 == 0 ? odd_number(random) : random();
    const std::size_t width = std::size_t{1} << (random() % 4);
    std::memcpy(&image[place], &number, std::min(width, image.size() - place));
  }
}

TEST(ReaderCorpus, NoChangedFileIsEverACrash) {
  std::minstd_rand random(1);
  std::uint64_t opened = 0;
  const auto images = corpus();
  const std::size_t turns = 20'000 / images.size() + 1;
  for (const auto& [name, whole] : images) {
    std::vector<std::size_t> places{0};
    for (std::size_t i = 0; i + 8 <= whole.size(); i += 8) {
      if (peek<std::uint64_t>(whole, i) != 0) places.push_back(i);
    }
    // One file in memory for all: only its bytes change.
    const base::UniqueFd file = file_of(whole);
    for (std::size_t turn = 0; turn < turns; ++turn) {
      Image image = whole;
      mutate(image, places, random);
      if (turn % 4 != 0) reseal(image);
      ASSERT_EQ(::pwrite(file.get(), image.data(), image.size(), 0),
                static_cast<ssize_t>(image.size()));
      const auto reader = Reader::adopt(duplicate(file.get()), name);
      if (!reader) continue;
      ++opened;
      const Everything met = read_everything(**reader);
      ASSERT_LE(met.rows, image.size() / sizeof(Word));
    }
  }
  // Else the reader was hardly tried.
  EXPECT_GT(opened, 2000U);
}

}  // namespace
}  // namespace everywatt::recorder
