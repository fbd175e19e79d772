#include "journal/records/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace souk::journal {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr RecordKind kUsage{"usage", true}, kRuns{"lab_runs", false};

base::Time day(int n) { return *base::parse_time("2026-11-01T12:00:00Z") + base::days(n); }

// Every way to keep records, held to the same.
class RecordsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("souk-records-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    where_ = "sqlite:" + (folder_ / "telemetry.db").string();
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::unique_ptr<Records> open() const {
    auto opened = open_records(where_);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return *std::move(opened);
  }

  fs::path folder_;
  std::string where_;
};

TEST_P(RecordsTest, WhatWasPutIsThereForTheNextProcess) {
  const std::string bytes("\0binary\xff", 8);
  const std::vector<Record> rows{{7, day(0), bytes}, {7, day(1), "b"}, {8, day(1), "c"}};
  ASSERT_TRUE(open()->put(kUsage, rows));
  ASSERT_TRUE(open()->put(kRuns, std::vector<Record>{{1, {}, "run"}}));
  const auto records = open();
  EXPECT_THAT(*records->of(kUsage, 7, day(0), day(5)), ElementsAre(rows[0], rows[1]));
  EXPECT_THAT(*records->of(kUsage, 7, day(0) + base::hours(1), day(1)), ElementsAre(rows[1]));
  EXPECT_THAT(*records->of(kUsage, 9, day(0), day(5)), ElementsAre());
  EXPECT_THAT(*records->of(kRuns, 1, {}, {}), ElementsAre(Record{1, {}, "run"}));
  EXPECT_THAT(*records->latest(kUsage, 2), ElementsAre(rows[2], rows[1]));
  EXPECT_THAT(*records->latest(kUsage, 9), ElementsAre(rows[2], rows[1], rows[0]));
}

TEST_P(RecordsTest, TheSameIdAndTimeIsTheSameRecord) {
  const auto records = open();
  ASSERT_TRUE(records->put(kRuns, std::vector<Record>{{1, {}, "queued"}, {2, {}, "other"}}));
  ASSERT_TRUE(records->put(kRuns, std::vector<Record>{{1, {}, "done"}}));
  EXPECT_THAT(*records->latest(kRuns, 9),
              ElementsAre(Record{2, {}, "other"}, Record{1, {}, "done"}));
  ASSERT_TRUE(records->remove(kRuns, 1));
  ASSERT_TRUE(records->remove(kRuns, 1));
  EXPECT_THAT(*records->latest(kRuns, 9), ElementsAre(Record{2, {}, "other"}));
}

TEST_P(RecordsTest, DaysLeaveWholeAndWhatHasNoDateStays) {
  const auto records = open();
  std::vector<Record> rows;
  for (int i = 0; i < 10; ++i)
    for (std::uint64_t id = 1; id <= 20; ++id)
      rows.push_back({id, day(i), std::string(2'000, 'x')});
  ASSERT_TRUE(records->put(kUsage, rows));
  ASSERT_TRUE(records->put(kRuns, std::vector<Record>{{1, {}, "run"}}));
  const auto before = *records->bytes();
  EXPECT_EQ(*records->drop_before(day(7)), 7u);
  EXPECT_EQ(*records->drop_before(day(7)), 0u);
  EXPECT_EQ(records->of(kUsage, 3, day(0), day(30))->size(), 3u);
  EXPECT_EQ(records->latest(kRuns, 9)->size(), 1u);
  EXPECT_LT(*records->bytes(), before / 2);
  ASSERT_TRUE(records->put(kUsage, std::vector<Record>{{1, day(0), "late"}}));
  EXPECT_EQ(records->of(kUsage, 1, day(0), day(30))->size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(All, RecordsTest, ::testing::Values("sqlite"));

TEST(Records, WhatIsNotOneIsAnError) {
  const auto file = fs::temp_directory_path() / ("souk-no-records-" + std::to_string(::getpid()));
  std::ofstream(file) << std::string(10'000, 'x');
  const auto damaged = open_records("sqlite:" + file.string());
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, base::Code::damaged);
  fs::remove(file);
  EXPECT_THAT(open_records("mysql:x").error().message, HasSubstr("mysql:x"));
}

TEST(Records, DaysAreThoseOfUtc) {
  EXPECT_EQ(day_of(*base::parse_time("2026-02-28T23:59:59.999999Z")), 20260228);
  EXPECT_EQ(day_of(*base::parse_time("2026-03-01T00:00:00Z")), 20260301);
}

}  // namespace
}  // namespace souk::journal
