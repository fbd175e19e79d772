#include "server/files/logs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

namespace souk::server {
namespace {

using base::Code;
using base::JobId;
using base::LeaseId;

class LogsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "souk-logs-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
  JobId job_{1};
  LeaseId lease_{2};
  LogOwner owner_{base::AccountId(3)};
  base::Budget budget_{
      "log-bytes", "of logs", base::BudgetUnit::bytes, {.each = 80 << 20, .all = 90 << 20}};
};

TEST_F(LogsTest, APieceSentTwiceAppearsOnce) {
  Logs logs(folder_, budget_);
  EXPECT_EQ(logs.append(job_, lease_, owner_, 0, "hello "), 6);
  EXPECT_EQ(logs.append(job_, lease_, owner_, 0, "hello "), 6);
  EXPECT_EQ(logs.append(job_, lease_, owner_, 6, "world"), 11);
  EXPECT_EQ(logs.read(job_, lease_, 0), "hello world");
  EXPECT_EQ(logs.read(job_, lease_, 6), "world");
  EXPECT_EQ(logs.read(job_, lease_, 99), "");
  EXPECT_EQ(logs.read(job_, lease_, std::numeric_limits<std::int64_t>::max()), "");
}

TEST_F(LogsTest, AGapIsRefused) {
  Logs logs(folder_, budget_);
  EXPECT_EQ(logs.append(job_, lease_, owner_, 3, "x").error().code, Code::conflict);
  EXPECT_EQ(logs.append(job_, lease_, owner_, -1, "x").error().code, Code::conflict);
}

TEST_F(LogsTest, AFloodIsCutAtTheLimit) {
  Logs logs(folder_, budget_);
  const std::string block(16 << 20, 'x');
  for (std::int64_t i = 0; i < 5; ++i)
    (void)logs.append(job_, lease_, owner_, std::min(i * std::ssize(block), Logs::kMost), block);
  EXPECT_EQ(logs.append(job_, lease_, owner_, Logs::kMost, "more"), Logs::kMost);
}

TEST_F(LogsTest, AForgottenJobLeavesNothing) {
  Logs logs(folder_, budget_);
  ASSERT_TRUE(logs.append(job_, lease_, owner_, 0, "x"));
  logs.forget(job_);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LogsTest, LogsOfEndedJobsMakeRoomTheOldestFirst) {
  budget_.set_limit({.each = 100, .all = 1'000});
  Logs logs(folder_, budget_);
  const std::string text(40, 'x');
  for (const auto job : {JobId(1), JobId(2)})
    EXPECT_EQ(logs.append(job, lease_, owner_, 0, text), 40);
  EXPECT_EQ(logs.append(JobId(3), lease_, owner_, 0, text), 0) << "nothing has ended";
  logs.ended(JobId(2));
  logs.ended(JobId(1));
  EXPECT_EQ(logs.append(JobId(3), lease_, owner_, 0, text), 40);
  EXPECT_EQ(logs.read(JobId(1), lease_, 0), "");
  EXPECT_EQ(logs.read(JobId(2), lease_, 0), text);
  EXPECT_EQ(budget_.used("a3"), 80u);
  EXPECT_EQ(logs.append(JobId(4), lease_, {base::AccountId(4)}, 0, text), 40)
      << "another account has a budget of its own";
}

TEST_F(LogsTest, AnotherStartCountsWhatIsThere) {
  {
    Logs logs(folder_, budget_);
    ASSERT_TRUE(logs.append(job_, lease_, owner_, 0, "twelve bytes"));
    ASSERT_TRUE(logs.append(JobId(9), lease_, owner_, 0, "of a job that is forgotten"));
  }
  base::Budget fresh("log-bytes", "of logs", base::BudgetUnit::bytes, {.each = 100, .all = 100});
  Logs logs(folder_, fresh);
  logs.recall([&](JobId job) -> std::optional<LogOwner> {
    if (job != job_) return std::nullopt;
    return LogOwner{owner_.account, true};
  });
  EXPECT_EQ(fresh.used("a3"), 12u);
  EXPECT_EQ(logs.read(job_, lease_, 0), "twelve bytes");
  EXPECT_EQ(logs.read(JobId(9), lease_, 0), "");
  logs.forget(job_);
  EXPECT_EQ(fresh.used("a3"), 0u);
}

TEST_F(LogsTest, NothingPrintedYetIsAnEmptyLog) {
  EXPECT_EQ(Logs(folder_, budget_).read(job_, lease_, 0), "");
}

}  // namespace
}  // namespace souk::server
