#include "lab/worlds/replay.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "market/decide/decide.h"

namespace souk::lab {
namespace {

using base::AccountId;
using base::Time;
using market::Actor;
using market::Scope;

constexpr Time kStart{1'767'571'200'000'000};

// A market of ten lenders and thirty jobs over some rounds; every event is kept.
struct History {
  market::State state;
  Time now = kStart;
  std::vector<std::pair<Time, market::Event>> events;

  History() {
    for (const auto& event : market::founding_events()) {
      apply(state, now, event);
      events.emplace_back(now, event);
    }
    base::Random random(5);
    for (std::uint64_t i = 1; i <= 20; ++i) {
      run(market::kSystem, market::CreateAccount{"user" + std::to_string(i), "-"});
      run(market::kSystem, market::GrantCredits{AccountId(i), Credits(1'000'000'000), ""});
    }
    for (std::uint64_t i = 1; i <= 10; ++i) {
      const Actor owner{AccountId(i), Scope::user, {}};
      run(owner, market::AddMachine{"m", {.cores = 2, .memory_mib = 4096}});
      run(owner,
          market::PostOffer{base::MachineId(i),
                            market::ClassId(1),
                            {.slots = 2, .reserve = Credits(random.between(100'000, 400'000))}});
    }
    for (int round = 0; round < 10; ++round) {
      for (int j = 0; j < 3; ++j)
        run({AccountId(11 + random.below(10)), Scope::user, {}},
            market::SubmitJob{.slot_class = market::ClassId(1),
                              .terms = {.limit = Credits(random.between(200'000, 600'000)),
                                        .budget = Credits(1'000'000)}});
      now = now + base::minutes(1);
      run(market::kSystem, market::Clear{market::ClassId(1), random.next(), {}});
    }
  }

  void run(const Actor& actor, market::Command command) {
    auto made = market::execute(state, {now, actor, std::move(command)});
    ASSERT_TRUE(made) << made.error().message;
    for (auto& event : *made) events.emplace_back(now, std::move(event));
  }
};

std::vector<ReplayRow> replay(const History& h, std::initializer_list<const char*> mechanisms,
                              double shading = 0, ReplayScope scope = {}) {
  std::vector<MechanismChoice> choices;
  for (const auto* m : mechanisms) choices.push_back(*parse_mechanism(m, World::market));
  Replay r(std::move(choices), shading, scope);
  for (const auto& [at, event] : h.events) r.next(at, event);
  return r.rows();
}

TEST(Replay, UnderItsOwnRuleHistoryRepeatsItself) {
  const auto rows = replay(History(), {"vickrey"});  // The default of a new market.
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_GT(rows[0].slots, 10);
  EXPECT_EQ(rows[0].slots, rows[1].slots);
  EXPECT_EQ(rows[0].paid, rows[1].paid);
  EXPECT_EQ(rows[0].traded_in, rows[1].traded_in);
  EXPECT_EQ(rows[0].gain_low, rows[1].gain_low);
}

TEST(Replay, AnotherRuleWouldHaveDoneSomethingElse) {
  const auto rows = replay(History(), {"posted:price=0.3", "k-double:kappa=1"});
  EXPECT_NEAR(rows[1].price, .3, 1e-9);
  EXPECT_GE(rows[2].price, rows[0].price);
}

TEST(Replay, ShadingGivesABoundAndNotAGuess) {
  const auto plain = replay(History(), {"k-double"}), shaded = replay(History(), {"k-double"}, .2);
  EXPECT_NEAR(plain[1].gain_low, plain[1].gain_high, 1e-9);
  EXPECT_EQ(shaded[1].gain_low, plain[1].gain_low);
  EXPECT_GT(shaded[1].gain_high, shaded[1].gain_low);
}

TEST(Replay, RoundsOfAnotherClassOrTimeAreLeftOut) {
  const History h;
  const auto all = replay(h, {"posted"});
  const auto of_class = replay(h, {"posted"}, 0, {.slot_class = market::ClassId(1)});
  EXPECT_EQ(of_class[0].slots, all[0].slots);
  EXPECT_EQ(of_class[1].rounds, all[1].rounds);
  for (const auto& row : replay(h, {"posted"}, 0, {.slot_class = market::ClassId(2)})) {
    EXPECT_EQ(row.rounds, 0);
    EXPECT_EQ(row.slots, 0);
  }
  // Of ten rounds, a minute apart, those after the fourth.
  const auto late = replay(h, {"posted"}, 0, {.since = kStart + base::minutes(5)});
  EXPECT_EQ(late[0].rounds + 4, all[0].rounds);
  EXPECT_EQ(late[1].rounds, late[0].rounds);
  EXPECT_GT(late[0].slots, 0);
  EXPECT_LT(late[0].slots, all[0].slots);
}

}  // namespace
}  // namespace souk::lab
