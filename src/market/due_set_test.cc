#include "market/due_set.h"

#include <gtest/gtest.h>

#include <set>

#include "base/id.h"
#include "base/random.h"

namespace souk::market {
namespace {

using base::LeaseId;
using base::Time;

// The first `most` of what is due.
std::vector<std::pair<Time, LeaseId>> first_of(const DueSet<LeaseId>& due, std::size_t most) {
  std::vector<std::pair<Time, LeaseId>> out;
  due.visit([&](Time when, LeaseId id) {
    out.emplace_back(when, id);
    return out.size() < most;
  });
  return out;
}

TEST(DueSet, IsInOrderHoweverTimesAreMoved) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    base::Random random(seed);
    DueSet<LeaseId> ours;
    std::map<LeaseId, Time> when;
    std::set<std::pair<Time, LeaseId>> order;
    const auto forget = [&](LeaseId id) {
      if (const auto it = when.find(id); it != when.end()) {
        order.erase({it->second, id});
        when.erase(it);
      }
    };
    Time now(1'000'000);
    for (int n = 0; n < 10'000; ++n) {
      now = now + base::seconds(random.between(0, 2));
      const LeaseId id(1 + random.below(200));
      forget(id);
      if (random.chance(5)) {
        random.chance(2) ? ours.erase(id) : ours.set(id, base::kNever);
      } else {
        // Near, far, in the past, and often at the same time as others, and as before.
        const auto at = Time((now.us / 60'000'000 + random.between(-1, 9)) * 60'000'000);
        ours.set(id, at);
        when[id] = at;
        order.insert({at, id});
      }
      const auto looked = random.below(4);
      if (looked == 0) continue;
      ASSERT_EQ(ours.soonest(), order.empty() ? std::nullopt : std::optional(order.begin()->first));
      const auto found = first_of(ours, looked * 20);
      ASSERT_LE(found.size(), order.size());
      ASSERT_TRUE(std::equal(found.begin(), found.end(), order.begin())) << "seed " << seed;
      if (found.size() < looked * 20) ASSERT_EQ(found.size(), order.size());
    }
  }
}

TEST(DueSet, TimesThatWereMovedAreNotKept) {
  DueSet<LeaseId> due;
  for (std::int64_t n = 1; n <= 100'000; ++n) due.set(LeaseId(1), Time(n * 10'000'000));
  EXPECT_EQ(first_of(due, 10).size(), 1u);
  EXPECT_EQ(due.soonest(), Time(100'000 * 10'000'000L));
  due.erase(LeaseId(1));
  EXPECT_FALSE(due.soonest());
}

}  // namespace
}  // namespace souk::market
