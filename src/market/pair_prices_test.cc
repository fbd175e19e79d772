#include "market/pair_prices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "market/testing/noon.h"

namespace souk::market {
namespace {

using base::AccountId;
using base::Credits;
using base::Time;
using testing::kNoon;

Credits plain_median(std::vector<Credits> prices) {
  std::ranges::sort(prices);
  const auto high = prices[prices.size() / 2], low = prices[(prices.size() - 1) / 2];
  return Credits(low.micro + (high.micro - low.micro) / 2);
}

// What PairPrices is, as its definition says, however long it takes.
struct Plain {
  std::map<OwnerPair, PairPrice> pairs;

  // Of those who make the rate, what each pays or gets; empty: too few.
  [[nodiscard]] std::map<AccountId, Credits> makers() const {
    std::map<AccountId, std::vector<Credits>> prices;
    std::map<AccountId, AccountId> oldest;  // Of the account's group.
    for (const auto& [pair, p] : pairs) {
      for (const auto account : {pair.borrower, pair.lender}) {
        prices[account].push_back(p.price);
        oldest.emplace(account, account);
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [pair, p] : pairs) {
        auto &a = oldest[pair.borrower], &b = oldest[pair.lender];
        changed = changed || a != b;
        a = b = std::min(a, b);
      }
    }
    std::map<AccountId, std::map<AccountId, Credits>> groups;
    for (const auto& [account, paid] : prices)
      groups[oldest[account]][account] = plain_median(paid);
    std::map<AccountId, Credits> most;
    for (const auto& [account, group] : groups)
      if (group.size() > most.size()) most = group;
    return most.size() < kLeastOwners ? std::map<AccountId, Credits>() : most;
  }

  [[nodiscard]] std::optional<Credits> rate() const {
    std::vector<Credits> medians;
    for (const auto& [account, price] : makers()) medians.push_back(price);
    return medians.empty() ? std::nullopt : std::optional(plain_median(medians));
  }

  template <class Wanted>
  bool drop_oldest(Wanted wanted) {
    auto oldest = pairs.end();
    for (auto it = pairs.begin(); it != pairs.end(); ++it)
      if (wanted(it->first) && (oldest == pairs.end() || it->second.at < oldest->second.at))
        oldest = it;
    if (oldest == pairs.end()) return false;
    pairs.erase(oldest);
    return true;
  }

  void note(Time at, const OwnerPair& pair, Credits price) {
    std::erase_if(pairs, [&](const auto& known) { return known.second.at + kPairsFor <= at; });
    if (!pairs.contains(pair)) make_room(pair);
    pairs[pair] = {pair, price, at};
  }

  void make_room(const OwnerPair& pair) {
    const auto cap = [&](auto mine) {
      const auto count = std::ranges::count_if(pairs, [&](const auto& p) { return mine(p.first); });
      if (count >= static_cast<std::ptrdiff_t>(kPairsPerOwner)) drop_oldest(mine);
    };
    cap([&](const OwnerPair& p) { return p.borrower == pair.borrower; });
    cap([&](const OwnerPair& p) { return p.lender == pair.lender; });
    if (pairs.size() < kPairsKept) return;
    const auto counted = makers();
    if (!drop_oldest([&](const OwnerPair& p) { return !counted.contains(p.borrower); }))
      drop_oldest([](const OwnerPair&) { return true; });
  }
};

void expect_same(const PairPrices& ours, const Plain& plain, const std::string& when) {
  const auto list = ours.list();
  ASSERT_EQ(list.size(), plain.pairs.size()) << when;
  for (auto at = list.begin(); const auto& [pair, known] : plain.pairs) {
    ASSERT_EQ(at->pair, pair) << when;
    ASSERT_EQ(at->price, known.price) << when;
    ASSERT_EQ((at++)->at, known.at) << when;
  }
  ASSERT_EQ(ours.rate(), plain.rate()) << when;
  const auto makers = plain.makers();
  for (const auto& p : list)
    for (const auto account : {p.pair.borrower, p.pair.lender})
      ASSERT_EQ(ours.counts(account), makers.contains(account)) << when;
}

struct Crowd {
  const char* what;
  std::uint64_t borrowers, lenders;
  bool same_people;        // Whoever lends also borrows.
  std::int64_t apart_s;    // Seconds between payments, at most.
  std::uint64_t prices;    // Few: many payments repeat the last price.
  std::uint64_t compared;  // After every so many payments.
};
const Crowd kCrowds[] = {
    {"a few who all know each other", 5, 4, false, 600, 3, 1},
    {"people who lend and borrow", 30, 30, true, 300, 1'000'000, 3},
    {"just enough for one group", 120, 60, false, 120, 1'000'000, 7},
    {"small groups", 250, 250, false, 60, 1'000'000, 7},
    {"strangers", 5'000, 5'000, false, 60, 1'000'000, 7},
    {"all in the same second", 90, 90, true, 0, 5, 7},
    {"a slow market, where pairs grow old", 40, 40, true, 4'000, 1'000'000, 3},
};

TEST(PairPrices, TheRateAndWhatIsKeptAreWhatTheirDefinitionsSay) {
  std::uint64_t rates = 0, compared = 0;
  for (const auto& crowd : kCrowds) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      base::Random random(seed);
      PairPrices ours;
      Plain plain;
      auto now = kNoon;
      for (std::uint64_t n = 0; n < 900; ++n) {
        now = now + base::seconds(random.between(0, crowd.apart_s));
        const auto from = crowd.same_people ? 0 : crowd.borrowers;
        const OwnerPair pair{AccountId(1 + random.below(crowd.borrowers)),
                             AccountId(1 + from + random.below(crowd.lenders))};
        const Credits price(random.between(1, static_cast<std::int64_t>(crowd.prices)));
        ours.note(now, pair, price);
        plain.note(now, pair, price);
        if (n % crowd.compared != 0) continue;
        expect_same(ours, plain, fmt::format("{}, seed {}, {}", crowd.what, seed, n));
        if (HasFatalFailure()) return;
        rates += ours.rate().has_value();
        ++compared;
      }
    }
  }
  EXPECT_GT(rates, compared / 3);  // Else nothing was compared.
}

TEST(PairPrices, WhatIsReadGoesOnAsWhatWasWritten) {
  base::Random random(1);
  PairPrices ours;
  const auto pay = [&](PairPrices& prices, base::Random& r, int n) {
    const OwnerPair pair{AccountId(1 + r.below(100)), AccountId(1 + r.below(100))};
    prices.note(kNoon + base::seconds(n), pair, Credits(r.between(1, 1'000'000)));
  };
  for (int n = 0; n < 1'000; ++n) pay(ours, random, n);
  PairPrices read;
  ASSERT_TRUE(read.assign(ours.list()));
  auto again = random;
  for (int n = 1'000; n < 2'000; ++n) {
    pay(ours, random, n);
    pay(read, again, n);
    ASSERT_EQ(ours.rate(), read.rate());
  }
  const auto a = ours.list(), b = read.list();
  EXPECT_TRUE(std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.pair == y.pair && x.price == y.price && x.at == y.at;
  }));
}

TEST(PairPrices, AListThatNoHistoryLeadsToIsRefused) {
  const auto item = [](std::uint64_t borrower, std::uint64_t lender) {
    return PairPrice{{AccountId(borrower), AccountId(lender)}, Credits(1), kNoon};
  };
  PairPrices prices;
  EXPECT_TRUE(prices.assign(std::vector{item(1, 2), item(1, 3)}));
  EXPECT_FALSE(prices.assign(std::vector{item(1, 3), item(1, 2)}));  // Out of order.
  EXPECT_FALSE(prices.assign(std::vector{item(1, 2), item(1, 2)}));  // One twice.
  EXPECT_FALSE(prices.assign(std::vector{item(0, 2)}));              // Nobody.
  std::vector<PairPrice> many;
  for (std::uint64_t i = 1; i <= kPairsPerOwner + 1; ++i) many.push_back(item(1, 10 + i));
  EXPECT_FALSE(prices.assign(many));
  many.clear();
  for (std::uint64_t i = 1; i <= kPairsKept + 1; ++i) many.push_back(item(i, 1'000 + i));
  EXPECT_FALSE(prices.assign(many));
  EXPECT_EQ(prices.size(), 2u);  // The last that was good.
}

}  // namespace
}  // namespace souk::market
