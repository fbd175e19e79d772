#include <fmt/format.h>

#include <cstdlib>
#include <functional>

#include "base/random.h"
#include "market/testing/world.h"
#include "mechanism/mechanism.h"

// What it costs to move a price that others' contracts use, under each mechanism. The table that
// this prints is in docs/studies/pushing-prices.md:
//   market_test --gtest_filter='Pushing*'

namespace souk::market::testing {
namespace {

constexpr auto kDear = 2_cr;  // What the attacker would like a slot to cost; others pay about 0.25.
constexpr int kPeople = 8;    // Honest lenders, and as many borrowers.
constexpr int kRounds = 10;

// A market of honest people who trade in every round, each time with others, and of names that all
// belong to one attacker.
class PushedMarket : public World {
 public:
  PushedMarket(const std::string& mechanism, std::int32_t fee_ppm, std::uint64_t seed)
      : random_(seed) {
    auto v = s.settings;
    v.fee_ppm = fee_ppm;
    settings(v);
    for (int i = 0; i < kPeople; ++i) {
      lenders_.push_back(account("lender" + std::to_string(i)));
      machines_.push_back(machine(lenders_.back()));
      borrowers_.push_back(account("borrower" + std::to_string(i), 1000_cr));
    }
    for (int i = 0; i < kRounds; ++i) honest_round();
    auto c =
        s.slot_class(slot_class());  // Whose rate is known: `posted` has no other to begin with.
    c.mechanism = mechanism;
    run(kBoss, SetClass{c});
  }

  AccountId name() {
    return names_.emplace_back(account("eve" + std::to_string(names_.size()), kPurse));
  }
  MachineId machine_of(AccountId owner) {
    const auto& mine = s.index.machines_of[owner.value];
    return mine.empty() ? machine(owner) : mine.front();
  }

  // Honest people trade; `attack` adds what it likes before the round.
  void honest_round(const std::function<void()>& attack = {}) {
    std::vector<JobId> jobs;
    for (int i = 0; i < kPeople; ++i) {
      if (random_.chance(4)) continue;  // Not everybody comes each time.
      offer(machines_[i], {.reserve = Credits(random_.between(150'000, 250'000))});
    }
    for (const auto borrower : borrowers_)
      if (!random_.chance(4))
        job(borrower, wants(1, 1, Credits(random_.between(230'000, 330'000)), 1_cr));
    if (attack) attack();
    run(kSystem, Clear{slot_class(), random_.next()});
    s.leases.for_each([&](const Lease& l) {
      if (l.state == LeaseState::granted) jobs.push_back(l.job);
    });
    for (const auto id : jobs) start_all(id);
    pass(base::minutes(3));
    clean_up();
  }

  // A bid of `borrower` that only takes slots of `lender`, and the slots for it.
  void trade_between(AccountId borrower, AccountId lender, Credits price) {
    offer(machine_of(lender), {.reserve = price});
    auto terms = wants(1, 1, price, 1_cr);
    terms.constraints.lenders_allowed = {lender};
    job(borrower, terms);
  }

  [[nodiscard]] Credits rate() const { return s.prices[0].rate().value_or(Credits()); }
  // By all names together; what they paid each other is not gone.
  [[nodiscard]] Credits spent() const {
    Credits left;
    for (const auto id : names_) {
      const auto& b = balance(id);
      left += b.available + b.bonus + b.escrow;
    }
    return Credits(kPurse.micro * static_cast<std::int64_t>(names_.size())) - left;
  }
  [[nodiscard]] const std::vector<AccountId>& lenders() const { return lenders_; }

 private:
  static constexpr auto kPurse = 100_cr;

  void clean_up() {
    std::vector<JobId> live;
    s.jobs.for_each([&](const Job& j) {
      if (!is_final(j.state)) live.push_back(j.id);
    });
    for (const auto id : live) run(kBoss, CancelJob{id, ""});
    std::vector<OfferId> offers;
    s.offers.for_each([&](const Offer& o) { offers.push_back(o.id); });
    for (const auto id : offers) run(kBoss, RemoveOffer{id});
  }

  base::Random random_;
  std::vector<AccountId> lenders_, borrowers_, names_;
  std::vector<MachineId> machines_;
};

// What the attacker did to the rate, in per cent, and what that cost.
struct Push {
  double percent = 0;
  Credits cost;
};

Push pushed(PushedMarket& w, const std::function<void()>& attack) {
  const auto before = w.rate();
  for (int i = 0; i < kRounds; ++i) w.honest_round(attack);
  return {100.0 * static_cast<double>(w.rate().micro - before.micro) /
              static_cast<double>(before.micro),
          w.spent()};
}

// Of several markets: what each draws moves the rate by a few per cent.
Push on_average(const std::function<Push(std::uint64_t seed)>& one) {
  constexpr std::uint64_t seeds = 4;
  Push sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto push = one(seed);
    sum.percent += push.percent / seeds;
    sum.cost += push.cost;
  }
  sum.cost = Credits(sum.cost.micro / static_cast<std::int64_t>(seeds));
  return sum;
}

// In what honest rounds alone move.
double drift(const std::string& mechanism, std::int32_t fee_ppm) {
  return on_average([&](std::uint64_t seed) {
           PushedMarket w(mechanism, fee_ppm, seed);
           return pushed(w, {});
         })
      .percent;
}

Push with_oneself(const std::string& mechanism, std::int32_t fee_ppm) {
  return on_average([&](std::uint64_t seed) {
    PushedMarket w(mechanism, fee_ppm, seed);
    const auto eve = w.name();
    return pushed(w, [&] {
      for (int i = 0; i < 2; ++i) w.trade_between(eve, eve, kDear);
    });
  });
}

// `names` accounts in a ring. With a bridge each round one of them also deals with an honest
// lender.
Push in_a_circle(const std::string& mechanism, std::int32_t fee_ppm, std::size_t names,
                 bool bridge) {
  return on_average([&](std::uint64_t seed) {
    PushedMarket w(mechanism, fee_ppm, seed);
    std::vector<AccountId> ring;
    for (std::size_t i = 0; i < names; ++i) ring.push_back(w.name());
    std::size_t round = 0;
    return pushed(w, [&] {
      for (std::size_t i = 0; i < names; ++i)
        // Two of each, as some mechanisms need.
        for (int twice = 0; twice < 2; ++twice)
          w.trade_between(ring[i], ring[(i + 1) % names], kDear);
      if (!bridge) return;
      auto terms = wants(1, 1, 0.5_cr, 1_cr);
      terms.constraints.lenders_allowed = {w.lenders()[round % w.lenders().size()]};
      w.job(ring[round++ % names], terms);
    });
  });
}

// One account buys all it can get at a high price, of whoever sells.
Push by_volume(const std::string& mechanism, std::int32_t fee_ppm) {
  return on_average([&](std::uint64_t seed) {
    PushedMarket w(mechanism, fee_ppm, seed);
    const auto eve = w.name();
    return pushed(w, [&] { w.job(eve, wants(1, 8, kDear, 2_cr)); });
  });
}

constexpr const char* kMechanisms[] = {
    "k-double", "posted", "mcafee", "trade-reduction", "sbba", "huang", "ascending", "cda", "fifo"};

TEST(Pushing, TradesWithOneselfAndInCirclesMoveNothing) {
  for (const auto* mechanism : kMechanisms) {
    const auto alone = drift(mechanism, 0);
    EXPECT_NEAR(with_oneself(mechanism, 0).percent, alone, 5) << mechanism;
    EXPECT_NEAR(in_a_circle(mechanism, 0, 6, false).percent, alone, 5) << mechanism;
  }
}

TEST(Pushing, WhatItCostsToMoveAPriceByATenth) {
  constexpr std::int32_t fee = 50'000;
  // The whole table, which docs/studies/pushing-prices.md explains, takes a minute.
  const std::size_t most_names = std::getenv("SOUK_STUDY") != nullptr ? 24 : 2;
  fmt::print(
      "| mechanism | drift | with oneself | circle of 6 | one account's volume | names for +10% "
      "| their cost |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const auto* mechanism : kMechanisms) {
    const auto alone = drift(mechanism, fee);
    const auto own = with_oneself(mechanism, fee);
    const auto circle = in_a_circle(mechanism, fee, 6, false);
    const auto volume = by_volume(mechanism, fee);
    std::size_t names = 2;
    Push bridged;
    for (; names <= most_names; names += 2) {
      bridged = in_a_circle(mechanism, fee, names, true);
      if (bridged.percent >= alone + 10) break;
    }
    fmt::print("| {} | {:+.1f}% | {:+.1f}%, {} | {:+.1f}%, {} | {:+.1f}%, {} | {} | {} |\n",
               mechanism, alone, own.percent, to_string(own.cost), circle.percent,
               to_string(circle.cost), volume.percent, to_string(volume.cost),
               names <= most_names ? std::to_string(names) : fmt::format("over {}", most_names),
               to_string(bridged.cost));
    EXPECT_GE(names, 4U) << mechanism;
  }
}

// A contract of others follows what was pushed by a step for each term, and never beyond what both
// sides have said they accept.
TEST(Pushing, ARenewalFollowsByStepsWithinWhatBothSidesAccept) {
  base::Random random(3);
  for (int i = 0; i < 1'000; ++i) {
    const Credits from(random.between(0, 2'000'000)), to(random.between(0, 20'000'000));
    const auto next = step_towards(from, to);
    EXPECT_LE(next.micro * 10, from.micro * 11);
    EXPECT_GE(next.micro * 10, from.micro * 9);
  }
}

}  // namespace
}  // namespace souk::market::testing
