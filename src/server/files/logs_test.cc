#include "server/files/logs.h"

#include <gtest/gtest.h>

#include <filesystem>

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
};

TEST_F(LogsTest, APieceSentTwiceAppearsOnce) {
  const Logs logs(folder_);
  EXPECT_EQ(logs.append(job_, lease_, 0, "hello "), 6);
  EXPECT_EQ(logs.append(job_, lease_, 0, "hello "), 6);
  EXPECT_EQ(logs.append(job_, lease_, 6, "world"), 11);
  EXPECT_EQ(logs.read(job_, lease_, 0), "hello world");
  EXPECT_EQ(logs.read(job_, lease_, 6), "world");
  EXPECT_EQ(logs.read(job_, lease_, 99), "");
}

TEST_F(LogsTest, AGapIsRefused) {
  const Logs logs(folder_);
  EXPECT_EQ(logs.append(job_, lease_, 3, "x").error().code, Code::conflict);
  EXPECT_EQ(logs.append(job_, lease_, -1, "x").error().code, Code::conflict);
}

TEST_F(LogsTest, AFloodIsCutAtTheLimit) {
  const Logs logs(folder_);
  const std::string block(16 << 20, 'x');
  for (std::int64_t i = 0; i < 5; ++i)
    (void)logs.append(job_, lease_, std::min(i * std::ssize(block), Logs::kMost), block);
  EXPECT_EQ(logs.append(job_, lease_, Logs::kMost, "more"), Logs::kMost);
}

TEST_F(LogsTest, AForgottenJobLeavesNothing) {
  const Logs logs(folder_);
  ASSERT_TRUE(logs.append(job_, lease_, 0, "x"));
  logs.forget(job_);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LogsTest, NothingPrintedYetIsAnEmptyLog) {
  EXPECT_EQ(Logs(folder_).read(job_, lease_, 0), "");
}

}  // namespace
}  // namespace souk::server
