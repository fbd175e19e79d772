#include "base/disk.h"

#include <gtest/gtest.h>

namespace souk::base {
namespace {

TEST(Disk, TheReserveIsSmallOnASmallDisk) {
  EXPECT_EQ(usual_reserve({.total_bytes = 100ull << 20}), 5ull << 20);
  EXPECT_EQ(usual_reserve({.total_bytes = 4ull << 40}), 1ull << 30);
}

TEST(Disk, NothingIsWrittenIntoTheReserve) {
  const auto disk = disk_space("/");
  ASSERT_TRUE(disk);
  EXPECT_GT(disk->total_bytes, 0u);
  EXPECT_TRUE(check_reserve("/", 0, 1, "files"));
  const auto refused = check_reserve("/", disk->total_bytes, 1, "files");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_TRUE(refused.error().message.starts_with("the disk is full for files: it has "));
  EXPECT_FALSE(check_reserve("/", 0, disk->total_bytes + 1, "files"));
  EXPECT_TRUE(check_reserve("/", disk->total_bytes, 0, "files")) << "without a reserve";
}

TEST(Disk, WhereNothingCanBeSeenWritingDecides) {
  EXPECT_FALSE(disk_space("/no/such/folder"));
  EXPECT_TRUE(check_reserve("/no/such/folder", 1, 1, "files"));
}

}  // namespace
}  // namespace souk::base
