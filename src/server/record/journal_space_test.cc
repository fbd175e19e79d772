#include "server/record/journal_space.h"

#include <gtest/gtest.h>

#include "base/disk.h"

namespace souk::server {
namespace {

TEST(JournalSpace, NothingIsAcceptedWithoutRoomToWriteItDown) {
  EXPECT_TRUE(JournalSpace("/", 0).check());
  EXPECT_TRUE(JournalSpace("/", 1).check());
  const auto disk = base::disk_space("/");
  ASSERT_TRUE(disk);
  JournalSpace full("/", disk->total_bytes + 1);
  for (int i = 0; i < 2; ++i) {
    const auto refused = full.check();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::Code::unavailable);
  }
}

}  // namespace
}  // namespace souk::server
