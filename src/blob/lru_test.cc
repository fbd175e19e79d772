#include "blob/lru.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace souk::blob {
namespace {

Digest name(std::uint64_t n) { return name_of(std::to_string(n)); }

TEST(Lru, APinnedChunkIsNeverTheOldestAndIsJustUsedWhenFreed) {
  Lru lru;
  for (std::uint64_t i = 1; i <= 3; ++i) lru.use({name(i), 10 * i, 0});
  const std::vector pinned{name(1), name(9)};
  lru.pin(pinned);
  EXPECT_EQ(lru.oldest()->name, name(2));
  EXPECT_EQ(lru.pinned_bytes(), 10u);
  lru.use({name(9), 5, 0});  // Pinned before it came.
  EXPECT_EQ(lru.pinned_bytes(), 15u);
  lru.unpin(pinned);
  lru.erase(name(2));
  lru.erase(name(3));
  EXPECT_EQ(lru.oldest()->name, name(1));
  EXPECT_EQ(lru.pinned_bytes(), 0u);
  EXPECT_EQ(lru.bytes(), 15u);
}

// Against the plainest thing that could work.
TEST(Lru, CountsBytesRightWhateverHappensInWhateverOrder) {
  struct Plain {
    std::uint64_t bytes = 0, order = 0;
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    base::Random random(seed);
    Lru lru;
    std::map<std::uint64_t, Plain> have;
    std::map<std::uint64_t, int> pins;
    for (std::uint64_t step = 1; step < 500; ++step) {
      const auto n = random.below(12);
      const std::vector names{name(n)};
      switch (random.below(4)) {
        case 0:
          have[n] = {1 + random.below(100), step};
          lru.use({name(n), have[n].bytes, 0});
          break;
        case 1:
          have.erase(n);
          lru.erase(name(n));
          break;
        case 2:
          ++pins[n];
          lru.pin(names);
          break;
        default:
          if (pins[n] == 0) break;
          if (--pins[n] == 0 && have.contains(n)) have[n].order = step;
          lru.unpin(names);
      }
      std::uint64_t bytes = 0, pinned = 0, least = ~std::uint64_t{0}, oldest = 0;
      for (const auto& [key, plain] : have) {
        bytes += plain.bytes;
        if (pins[key] > 0) pinned += plain.bytes;
        if (pins[key] == 0 && plain.order < least) least = plain.order, oldest = key;
      }
      ASSERT_EQ(lru.bytes(), bytes) << seed;
      ASSERT_EQ(lru.pinned_bytes(), pinned) << seed;
      ASSERT_EQ(lru.count(), have.size()) << seed;
      ASSERT_EQ(lru.oldest().has_value(), ~least != 0) << seed;
      if (lru.oldest()) ASSERT_EQ(lru.oldest()->name, name(oldest)) << seed;
    }
  }
}

}  // namespace
}  // namespace souk::blob
