#include "base/id_map.h"

#include <gtest/gtest.h>

#include <map>

#include "base/id.h"
#include "base/random.h"

namespace souk::base {
namespace {

TEST(IdMap, IsAMapWhateverComesAndGoes) {
  // Ids as they are given out, in order; and any, some of which share their place.
  for (const std::uint64_t apart : {1, 4096}) {
    Random random(apart);
    IdMap<JobId, std::int64_t> ours;
    std::map<JobId, std::int64_t> plain;
    std::uint64_t newest = 0;
    for (int n = 0; n < 20'000; ++n) {
      const bool fresh = plain.empty() || random.chance(2);
      const JobId id(fresh ? ++newest * apart : (1 + random.below(newest)) * apart);
      if (fresh || random.chance(4)) {
        ours[id] = plain[id] = n;
      } else {
        ours.erase(id);
        plain.erase(id);
      }
      ASSERT_EQ(ours.size(), plain.size());
      const auto* found = ours.find(id);
      ASSERT_EQ(found != nullptr, plain.contains(id));
      if (found != nullptr) {
        ASSERT_EQ(*found, plain.at(id));
      }
    }
    const std::vector<std::pair<JobId, std::int64_t>> expected(plain.begin(), plain.end());
    EXPECT_EQ(ours.sorted(), expected);
  }
}

TEST(IdMap, NothingIsNamedByNoId) {
  IdMap<JobId, int> map;
  EXPECT_EQ(map.find(JobId()), nullptr);
  map[JobId(1)] = 5;
  EXPECT_EQ(map.find(JobId()), nullptr);
  map.erase(JobId());
  map.erase(JobId(2));
  EXPECT_EQ(map.size(), 1u);
  IdMap<JobId, int> same;
  same[JobId(2)] = 1;
  same[JobId(1)] = 5;
  EXPECT_NE(map, same);
  same.erase(JobId(2));
  EXPECT_EQ(map, same);
}

}  // namespace
}  // namespace souk::base
