#include "agent/probe/busy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace souk::agent {
namespace {

using base::Duration;
using base::minutes;
using base::seconds;
using base::Time;
using ::testing::HasSubstr;

// A machine of four cores whose clock and load the test sets. The agent may use two of them.
class BusyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "souk-busy-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    std::filesystem::create_directories(root_ + "/proc");
    write();
    watch_.emplace(BusyOptions{.root = root_, .cores = {0, 2}, .lent = 2});
    watch_->set_unproved(true);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write() {
    std::ofstream out(root_ + "/proc/stat");
    const auto ticks = [](double cpu) {
      return static_cast<long>(cpu * static_cast<double>(sysconf(_SC_CLK_TCK)));
    };
    out << "cpu  " << ticks(worked_[0] + worked_[1] + worked_[2] + worked_[3])
        << " 0 0 5000 0 0 0 0 0 0\n";
    for (int core = 0; core < 4; ++core)
      out << "cpu" << core << " " << ticks(worked_[core] / 2) << " 0 " << ticks(worked_[core] / 2)
          << " 5000 0 0 0 0 0 0\n";
    out << "intr 77 1 2 3\nctxt 99\n";
  }
  // Time in which each core works so much, and the agent's programs `own` of it.
  void pass(Duration time, std::vector<double> cores, double own = 0) {
    for (std::size_t i = 0; i < cores.size(); ++i) worked_[i] += cores[i] * time.seconds();
    own_ += own * time.seconds();
    now_ = now_ + time;
    write();
    watch_->look(own_, now_);
  }
  void start() { watch_->look(own_, now_); }

  std::string root_;
  double worked_[4] = {100, 200, 300, 400};
  double own_ = 7;
  Time now_{1'800'000'000'000'000};
  std::optional<BusyWatch> watch_;
};

TEST_F(BusyTest, OnlyTheCoresThatTheAgentMayUseCount) {
  EXPECT_EQ(worked_seconds(root_), 1000);
  const int second[] = {1};
  EXPECT_EQ(worked_seconds(root_, second), 200);
  start();
  pass(seconds(1), {0, 1, 0, 1});
  EXPECT_FALSE(watch_->report(now_));
  pass(seconds(2), {1, 0, 0.9, 0});
  const auto busy = watch_->report(now_);
  ASSERT_TRUE(busy);
  EXPECT_NEAR(busy->cores, 1.9, 0.02);
  EXPECT_EQ(busy->of, 2);
  EXPECT_EQ(busy->lasting, seconds(2));
  EXPECT_FALSE(busy->put_off) << "it is to be tried once, whatever was measured";
}

TEST_F(BusyTest, OneOfTwoBusyCoresIsNoReasonToWait) {
  start();
  for (int i = 0; i < 5; ++i) pass(seconds(1), {1, 0, 0, 0});
  EXPECT_FALSE(watch_->report(now_));
  EXPECT_EQ(watch_->challenge_failed("it was slow", now_), "it was slow");
  EXPECT_FALSE(watch_->report(now_));
}

TEST_F(BusyTest, WhatTheAgentAndItsProgramsUseIsNotOthers) {
  start();
  for (int i = 0; i < 5; ++i) pass(seconds(1), {1, 0, 1, 0}, 1.8);
  EXPECT_FALSE(watch_->report(now_));
  // What was computed for a challenge took time from the others.
  pass(seconds(1), {1, 0, 1, 0});
  ASSERT_TRUE(watch_->report(now_));
  watch_->skip();
  pass(seconds(1), {1, 0, 1, 0}, 1);
  EXPECT_TRUE(watch_->report(now_));
  pass(seconds(1), {1, 0, 1, 0}, 1);
  EXPECT_FALSE(watch_->report(now_));
}

TEST_F(BusyTest, TriesAreSpacedAndTheFirstQuietSecondIsUsed) {
  start();
  pass(seconds(1), {1, 0, 1, 0});
  for (const auto pause : {5, 10, 20, 40, 80, 160, 300, 300}) {
    (void)watch_->challenge_failed("it was too busy", now_);
    EXPECT_EQ(watch_->report(now_)->put_off, seconds(pause));
    pass(seconds(pause), {1, 0, 1, 0});
    EXPECT_FALSE(watch_->report(now_)->put_off) << "it is tried, busy or not";
  }
  (void)watch_->challenge_failed("it was too busy", now_);
  EXPECT_EQ(watch_->report(now_)->put_off, minutes(5));
  pass(seconds(1), {0.2, 0, 0.3, 0});
  EXPECT_FALSE(watch_->report(now_)) << "it is asked at once";
  pass(seconds(1), {1, 0, 1, 0});
  EXPECT_EQ(watch_->report(now_)->lasting, seconds(1));
  EXPECT_FALSE(watch_->report(now_)->put_off);
  watch_->challenge_met();
  (void)watch_->challenge_failed("it was too busy", now_);
  EXPECT_EQ(watch_->report(now_)->put_off, seconds(5)) << "a proof begins anew";
}

TEST_F(BusyTest, ALenderIsToldOnceAndWhenItChanges) {
  start();
  pass(seconds(60), {1, 0, 1, 0});
  const auto told = watch_->challenge_failed("it was too busy", now_);
  EXPECT_THAT(told, HasSubstr("not yet proved: other programs use 2.0 of 2 cores since "));
  EXPECT_THAT(told, HasSubstr("; tried again by "));
  for (int i = 0; i < 20; ++i) {
    pass(minutes(5), {1, 0, 0.9, 0});
    EXPECT_EQ(watch_->challenge_failed("it was too busy", now_), "");
  }
  // Of one that lends a check failed: it is told as it is, and nothing is put off.
  watch_->set_unproved(false);
  EXPECT_EQ(watch_->challenge_failed("it was too busy", now_), "it was too busy");
  EXPECT_FALSE(watch_->report(now_));
}

TEST_F(BusyTest, WithoutProcAndWithAClockThatIsSetBackNothingIsMadeUp) {
  start();
  pass(seconds(1), {1, 0, 1, 0});
  now_ = now_ - minutes(5);
  watch_->look(own_, now_);
  EXPECT_EQ(watch_->report(now_)->lasting, Duration());
  pass(seconds(1), {0, 0, 0, 0});
  EXPECT_FALSE(watch_->report(now_)) << "measured anew";
  std::filesystem::remove(root_ + "/proc/stat");
  watch_->look(own_, now_ + seconds(1));
  EXPECT_FALSE(watch_->report(now_));
  EXPECT_FALSE(worked_seconds(root_));
}

}  // namespace
}  // namespace souk::agent
