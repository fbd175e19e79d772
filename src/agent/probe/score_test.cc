#include "agent/probe/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/random.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Measure : public ::testing::Test {
 protected:
  Measure() {
    std::string name = (fs::temp_directory_path() / "souk-score-XXXXXX").string();
    o_.folder = mkdtemp(name.data());
    o_.threads = 2;
    o_.multiply_time = o_.memory_time = o_.disk_time = base::milliseconds(1);
    o_.memory_bytes = 12 << 20;
    o_.disk_bytes = 16 << 20;
  }
  ~Measure() override {
    std::error_code ignored;
    fs::remove_all(o_.folder, ignored);
  }
  ScoreOptions o_;
};

TEST_F(Measure, EveryFigureIsThere) {
  std::vector<int> percents;
  o_.progress = [&](std::string_view, int percent) { percents.push_back(percent); };
  const auto score = measure(o_);
  EXPECT_EQ(score.threads, 2);
  EXPECT_GT(score.gflops, 0);
  EXPECT_GT(score.memory_gbs, 0);
  EXPECT_GT(score.disk_write_mbs.value_or(0), 0);
  EXPECT_GT(score.disk_read_mbs.value_or(0), 0);
  EXPECT_THAT(score.notes, IsEmpty());
  EXPECT_TRUE(std::ranges::is_sorted(percents));
  EXPECT_EQ(percents.back(), 100);
}

TEST_F(Measure, NothingIsLeftOnTheDisk) {
  measure(o_);
  EXPECT_TRUE(fs::is_empty(o_.folder));
}

TEST_F(Measure, AFolderThatCannotBeWrittenCostsOnlyTheDiskFigures) {
  o_.folder += "/nowhere";
  const auto score = measure(o_);
  EXPECT_GT(score.gflops, 0);
  EXPECT_FALSE(score.disk_write_mbs);
  ASSERT_EQ(score.notes.size(), 1u);
  EXPECT_THAT(score.notes[0], HasSubstr("/nowhere"));
  o_.folder = fs::path(o_.folder).parent_path();
}

}  // namespace
}  // namespace souk::agent
