#include "server/record/usage_log.h"

#include <gtest/gtest.h>

#include <mutex>

#include "server/testing/market.h"

namespace souk::server {
namespace {

using base::LeaseId;
using testing::eventually;

constexpr base::Time kStart(1'767'571'200'000'000);

wire::UsageSample sample(std::int64_t second) {
  return {kStart + base::seconds(second), {.cpu_seconds = static_cast<double>(second)}};
}

// Records that fail when told to.
class Failing final : public journal::Records {
 public:
  explicit Failing(journal::Records& inner) : inner_(inner) {}
  base::Result<> put(const journal::RecordKind& kind,
                     std::span<const journal::Record> records) override {
    ++puts;
    if (broken) return base::fail(base::Code::exhausted, "the disk is full");
    return inner_.put(kind, records);
  }
  base::Result<std::vector<journal::Record>> of(const journal::RecordKind& kind, std::uint64_t id,
                                                base::Time from, base::Time to) override {
    return inner_.of(kind, id, from, to);
  }
  base::Result<std::vector<journal::Record>> latest(const journal::RecordKind& kind,
                                                    std::size_t most) override {
    return inner_.latest(kind, most);
  }
  base::Result<> remove(const journal::RecordKind& kind, std::uint64_t id) override {
    return inner_.remove(kind, id);
  }
  base::Result<std::size_t> drop_before(base::Time time) override {
    return inner_.drop_before(time);
  }
  base::Result<std::uint64_t> bytes() override { return inner_.bytes(); }

  std::atomic<bool> broken = false;
  std::atomic<int> puts = 0;

 private:
  journal::Records& inner_;
};

struct UsageLogTest : ::testing::Test {
  testing::Folder folder;
  std::unique_ptr<journal::Records> records =
      *journal::open_records("sqlite:" + std::string(folder / "telemetry.db"));
  base::FakeClock clock{kStart};
  UsageLog::Options options{.every = base::milliseconds(5)};
};

TEST_F(UsageLogTest, WhatALeaseUsedIsThereForTheNextProcess) {
  {
    UsageLog log(*records, clock, options);
    for (int i = 0; i < 100; ++i) log.add(LeaseId(7), sample(10 * i));
    log.add(LeaseId(8), sample(5));
  }
  UsageLog log(*records, clock, options);
  const auto series = log.read(LeaseId(7), kStart, kStart + base::hours(1));
  ASSERT_EQ(series.size(), 100u);
  EXPECT_EQ(series[99].usage.cpu_seconds, 990);
  EXPECT_EQ(series[99].at, kStart + base::seconds(990));
  EXPECT_EQ(log.read(LeaseId(7), kStart + base::seconds(980), kStart + base::hours(1)).size(), 2u);
  EXPECT_TRUE(log.read(LeaseId(9), kStart, kStart + base::hours(1)).empty());
}

TEST_F(UsageLogTest, ALongLifeTakesLittleMoreThanAShortOne) {
  UsageLog log(*records, clock, options);
  for (int i = 0; i < 100'000; ++i) log.add(LeaseId(1), sample(5 * i));  // Six days.
  log.stop();
  const auto series = log.read(LeaseId(1), kStart, kStart + base::days(30));
  EXPECT_GT(series.size(), 1'000u);
  EXPECT_LT(series.size(), 2'500u);
  EXPECT_EQ(log.dropped(), 0u);
}

TEST_F(UsageLogTest, OldDaysAreForgotten) {
  options.keep = base::days(2);
  {
    UsageLog log(*records, clock, options);
    for (int day = 0; day < 6; ++day) log.add(LeaseId(1), sample(day * 86'400));
    log.note(kForecastRecords, {1, kStart, "{}"});
    log.note(kLabRunRecords, {1, {}, "{}"});
  }
  clock.advance(base::days(5));
  UsageLog log(*records, clock, options);
  EXPECT_TRUE(eventually(
      [&] { return log.read(LeaseId(1), kStart, kStart + base::days(30)).size() == 3; }));
  EXPECT_TRUE(records->latest(kForecastRecords, 9)->empty());
  EXPECT_EQ(records->latest(kLabRunRecords, 9)->size(), 1u);
}

TEST_F(UsageLogTest, AFullDiskCostsNothingWhileThereIsRoomInMemory) {
  Failing failing(*records);
  failing.broken = true;
  UsageLog log(failing, clock, options);
  for (int i = 0; i < 50; ++i) log.add(LeaseId(1), sample(10 * i));
  EXPECT_TRUE(eventually([&] { return failing.puts >= 2; }));
  failing.broken = false;
  EXPECT_TRUE(eventually(
      [&] { return log.read(LeaseId(1), kStart, kStart + base::days(1)).size() == 50; }));
  EXPECT_EQ(log.dropped(), 0u);
}

TEST_F(UsageLogTest, WhatDoesNotFitIsDroppedAndCounted) {
  options.every = base::hours(1);
  UsageLog log(*records, clock, options);
  for (std::uint64_t i = 0; i < UsageLog::kMostWaiting + 10; ++i) log.add(LeaseId(i), sample(1));
  EXPECT_EQ(log.dropped(), 10u);
}

}  // namespace
}  // namespace souk::server
