#include "hub/spill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>
#include <vector>

namespace souk::hub {
namespace {

using base::Code;

class SpillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  SpillOptions options(std::size_t over) {
    return {.folder = folder_.string(), .over = over, .disk = &disk_, .owner = "a1"};
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("souk-spill-" + std::to_string(::getpid()));
  base::Budget disk_{"training-disk", "of files", base::BudgetUnit::bytes, {100, 100}};
};

TEST_F(SpillTest, WhatIsSmallStaysInMemoryAndWhatIsLargeIsTheSameInAFile) {
  for (const std::size_t over : {100, 5, 0}) {
    ArrivingBytes bytes(options(over));
    ASSERT_TRUE(bytes.write(0, "abc"));
    ASSERT_TRUE(bytes.write(2, "cdef"));
    EXPECT_EQ(bytes.size(), 6U);
    EXPECT_EQ(bytes.in_memory(), over == 100 ? 6U : 0U);
    EXPECT_EQ(disk_.used("a1"), over == 100 ? 0U : 6U);
    const auto kept = bytes.finish();
    ASSERT_TRUE(kept);
    EXPECT_EQ((*kept)->bytes(), "abcdef");
    (*kept)->let_go(0, 6);
    EXPECT_EQ((*kept)->bytes(), "abcdef");
    EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "it has no name, so nothing is left behind";
  }
  EXPECT_EQ(disk_.used_in_all(), 0U) << "and takes nothing once it is gone";
}

TEST_F(SpillTest, AFullBudgetOrDiskIsWaitedForAndNothingIsLost) {
  ArrivingBytes one(options(0)), two(options(0));
  ASSERT_TRUE(one.write(0, std::string(80, 'a')));
  ASSERT_TRUE(two.write(0, std::string(20, 'b')));
  const auto refused = two.write(20, "b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("training-disk"));
  one = ArrivingBytes(options(0));
  EXPECT_TRUE(two.write(20, "b"));
  EXPECT_EQ((*two.finish())->bytes(), std::string(21, 'b'));
  auto nowhere = options(0);
  nowhere.folder += "/none";
  EXPECT_EQ(ArrivingBytes(nowhere).write(0, "a").error().code, Code::unavailable);
}

TEST_F(SpillTest, AVersionInAFileIsReadAndFoldedIntoLikeAnyOther) {
  disk_.set_limit({std::size_t{1} << 30, std::size_t{1} << 30});
  const std::size_t size = 2 * train::kBlock + 3;
  std::vector<float> values(size), out(size);
  std::iota(values.begin(), values.end(), 0.F);
  const auto blocks = spilled(train::blocks_of(values), options(1024));
  ASSERT_TRUE(blocks);
  EXPECT_TRUE((*blocks)[0]->is_elsewhere());
  EXPECT_EQ(disk_.used("a1"), size * sizeof(float));
  train::copy_out(*blocks, out);
  EXPECT_EQ(out, values);
  EXPECT_EQ((*spilled(*blocks, options(1024)))[0], (*blocks)[0]) << "it is there already";
  train::Parameters parameters(size, 0);
  parameters.load(*blocks, {}, 1);
  parameters.change(1)[0] = -1;
  EXPECT_EQ((*(*blocks)[1])[0], values[train::kBlock]) << "readers keep what they saw";
  EXPECT_EQ(parameters.block(1)[0], -1);
  EXPECT_FALSE((*spilled(train::blocks_of(values), {}))[0]->is_elsewhere());
}

}  // namespace
}  // namespace souk::hub
