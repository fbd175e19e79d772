#include "train/audit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "train/opinions.h"

namespace souk::train {
namespace {

// A hundred owners, the first `liars` of whom send something that nobody else comes to.
struct AuditedOwners {
  explicit AuditedOwners(std::uint64_t liars, std::uint64_t seed) : liars(liars), random(seed) {}

  [[nodiscard]] bool lies(Audit::Owner who) const { return who <= liars; }
  Audit::Owner anybody_but(const std::set<Audit::Owner>& asked) {
    while (true)
      if (const auto who = 1 + random.below(kOwners); !asked.contains(who) && !audit.shunned(who))
        return who;
  }
  // One unit of `who`. Gives whether it did one at all.
  bool work(Audit::Owner who) {
    if (!audit.may_work(who, true)) return false;
    ++units;
    ++done[who];
    if (audit.choose(who, true, random)) compare(who);
    return true;
  }
  void compare(Audit::Owner who) {
    Opinions opinions;
    std::vector<Audit::Owner> asked{who};
    opinions.add({});
    while (!opinions.right() && !opinions.hopeless()) {
      if (asked.size() > 1) audit.asked_again();
      ++again;
      const auto next = anybody_but({asked.begin(), asked.end()});
      std::vector<bool> agrees;
      for (const auto before : asked) agrees.push_back(!lies(before) && !lies(next));
      opinions.add(agrees);
      asked.push_back(next);
    }
    if (!opinions.right()) return;
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (opinions.is_right(i)) {
        audit.right(asked[i]);
      } else {
        audit.wrong(asked[i]);
        caught.try_emplace(asked[i], done[asked[i]]);
      }
  }

  static constexpr std::uint64_t kOwners = 100;
  const std::uint64_t liars;
  base::Random random;
  Audit audit;
  std::map<Audit::Owner, std::int64_t> done, caught;  // Units of each; when it was caught.
  std::int64_t units = 0, again = 0;
};

TEST(Audit, AFifthOfLiarsIsCaughtWithinTwentyUnitsAtTheCostOfATwentieth) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    AuditedOwners floor(20, seed);
    while (floor.units < 100'000)
      for (Audit::Owner who = 1; who <= AuditedOwners::kOwners; ++who) floor.work(who);
    ASSERT_EQ(floor.caught.size(), 20u) << seed;
    std::vector<std::int64_t> when;
    for (const auto& [who, units] : floor.caught) {
      EXPECT_TRUE(floor.lies(who)) << "an honest one was punished";
      EXPECT_TRUE(floor.audit.shunned(who));
      when.push_back(units);
    }
    std::ranges::sort(when);
    EXPECT_LE(when[when.size() / 2], 20) << seed;
    EXPECT_LE(floor.again * 20, floor.units) << seed;
    for (Audit::Owner who = 21; who <= AuditedOwners::kOwners; ++who) {
      EXPECT_FALSE(floor.audit.shunned(who));
      EXPECT_LE(floor.audit.distrust(who), AuditLimits{}.newcomer);
    }
  }
}

TEST(Audit, WhoWasWrongWorksUnderAuditOnlyUntilItWasRightOften) {
  Audit audit;
  base::Random random(1);
  audit.wrong(1);
  EXPECT_EQ(audit.distrust(1), 1);
  EXPECT_TRUE(audit.may_work(1, true));
  EXPECT_TRUE(audit.choose(1, true, random));
  EXPECT_FALSE(audit.may_work(1, true));  // No room yet.
  for (int i = 0; i < 10; ++i) audit.right(1);
  EXPECT_LE(audit.distrust(1), AuditLimits{}.newcomer);
  EXPECT_TRUE(audit.may_work(1, true));
}

TEST(Audit, WhoIsWrongAgainAndAgainGetsNothingMore) {
  Audit audit;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(audit.shunned(7));
    audit.wrong(7);
  }
  EXPECT_TRUE(audit.shunned(7));
  EXPECT_FALSE(audit.may_work(7, true));
  EXPECT_FALSE(audit.shunned(8));
}

TEST(Audit, WithNobodyElseThereEverybodyWorks) {
  Audit audit;
  base::Random random(1);
  audit.wrong(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(audit.may_work(1, false));
    EXPECT_FALSE(audit.choose(1, false, random));
  }
}

TEST(Audit, WhereAllAreDistrustedTheWorkGoesOnSlowly) {
  Audit audit;
  base::Random random(1);
  for (Audit::Owner who = 1; who <= 3; ++who) audit.wrong(who);
  int units = 0;
  for (int asked = 0; asked < 1'000; ++asked)
    if (audit.may_work(1 + static_cast<Audit::Owner>(asked % 3), true)) {
      EXPECT_TRUE(audit.choose(1 + static_cast<Audit::Owner>(asked % 3), true, random));
      ++units;
    }
  EXPECT_GE(units, 5);
  EXPECT_LE(units, 20);
}

TEST(Audit, DoubtRaisesDistrustWithoutBlame) {
  Audit audit;
  for (int i = 0; i < 10; ++i) audit.doubted(1);
  EXPECT_GT(audit.distrust(1), AuditLimits{}.newcomer);
  EXPECT_LT(audit.distrust(1), 0.5);
  EXPECT_FALSE(audit.shunned(1));
}

}  // namespace
}  // namespace souk::train
