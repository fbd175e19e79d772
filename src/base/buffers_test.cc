#include "base/buffers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace souk::base {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(Buffers, MemoryThatWasGivenBackIsUsedAgain) {
  BufferPool pool(4 * kMiB);
  const char* first = nullptr;
  {
    Buffer buffer(kMiB, pool);
    std::memset(buffer.data(), 1, buffer.size());
    first = buffer.data();
    EXPECT_EQ(pool.kept(), 0U);
  }
  EXPECT_EQ(pool.kept(), kMiB);
  const Buffer again(kMiB - 100, pool);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(again.size(), kMiB - 100);
  EXPECT_EQ(pool.kept(), 0U);
}

TEST(Buffers, NoMoreIsKeptThanTheLimit) {
  BufferPool pool(2 * kMiB);
  {
    std::vector<Buffer> many;
    for (int i = 0; i < 5; ++i) many.emplace_back(kMiB, pool);
  }
  EXPECT_EQ(pool.kept(), 2 * kMiB);
}

TEST(Buffers, ASmallBufferDoesNotTakeALargeOne) {
  BufferPool pool(64 * kMiB);
  {
    const Buffer large(32 * kMiB, pool);
  }
  const Buffer small(kMiB, pool);
  EXPECT_EQ(pool.kept(), 32 * kMiB);
}

TEST(Buffers, AMovedBufferGoesBackOnce) {
  BufferPool pool(64 * kMiB);
  {
    Buffer one(kMiB, pool);
    Buffer other = std::move(one);
    one = Buffer(2 * kMiB, pool);
    other = std::move(one);
  }
  EXPECT_EQ(pool.kept(), 3 * kMiB);
}

TEST(Buffers, NobodyGetsWhatAnotherStillHas) {
  BufferPool pool(8 * kMiB);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        Buffer buffer(kMiB / 4 * static_cast<std::size_t>(1 + i % 3), pool);
        std::memset(buffer.data(), t, buffer.size());
        if (buffer.data()[0] != t || buffer.data()[buffer.size() - 1] != t) ++wrong;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
TEST(BuffersDeathTest, WhoReadsABufferThatWasGivenBackIsFound) {
  BufferPool pool(4 * kMiB);
  const char* late = nullptr;
  {
    const Buffer buffer(kMiB, pool);
    late = buffer.data();
  }
  EXPECT_DEATH((void)*static_cast<const volatile char*>(late), "use-after-poison");
}
#endif
#endif

}  // namespace
}  // namespace souk::base
