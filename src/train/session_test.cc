#include "train/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace souk::train {
namespace {

using base::seconds;
using base::Time;
using ::testing::HasSubstr;

// Two shards of 100 samples in batches of 10: 20 steps an epoch, in units of 5.
Session::Spec spec(std::string rule = "downpour", std::int32_t workers = 3) {
  return {.plan = {.shards = {100, 100},
                   .validation = {50},
                   .epochs = 20,
                   .batch = 10,
                   .local_steps = 5},
          .rule = {std::move(rule), {}, workers}};
}

// A session whose parameters are a version number, and workers played by hand.
struct Play {
  Session session;
  Time now{1'000'000};
  std::int64_t version = 0;

  explicit Play(Session::Spec s = spec()) : session(*Session::make(std::move(s))) {
    const auto unit = next(1);
    EXPECT_EQ(unit.kind, UnitKind::init);
    session.training().initialised(unit.id, now);
  }
  Unit next(std::int64_t worker) { return session.training().next(worker, now); }
  // A unit to train on, however long it has to wait for one.
  Unit train(std::int64_t worker) {
    for (int i = 0; i < 100; ++i) {
      const auto unit = next(worker);
      if (unit.kind == UnitKind::train) return unit;
      if (unit.kind == UnitKind::evaluate)
        session.training().evaluated(unit.id, {50, 1, {{"accuracy", 0.5}}}, now);
      now = now + unit.wait;
    }
    ADD_FAILURE() << "worker " << worker << " gets nothing";
    return {};
  }
  // An honest answer, to be changed by tests.
  [[nodiscard]] Session::Claim claim(std::int64_t worker, const Unit& unit) const {
    return {.worker = worker,
            .unit = unit,
            .base = version,
            .samples = 10 * unit.steps,
            .evidence = {.stats = {.norm = 1},
                         .steps = unit.steps,
                         .loss = 1,
                         .direction = {0.6F, 0.8F},
                         .worker = worker}};
  }
  std::optional<Session::Refusal> judge(const Session::Claim& c) {
    now = now + seconds(1);
    return session.judge(c, version, now);
  }
  // Accepts and folds.
  void accept(const Session::Claim& c) {
    ASSERT_EQ(judge(c), std::nullopt);
    session.accept(c, now);
    session.training().folded();
    session.training().begin_check(++version, now);
  }
  bool open(std::int64_t worker, const Unit& unit) const {
    return session.training().find(worker, unit.id) != nullptr;
  }
};

TEST(Session, CodecsThatSendChangesDoNotGoWithRulesThatNeedWeights) {
  for (const auto& rule : aggregators()) {
    const auto made = make_aggregator({std::string(rule.name), {}, 3});
    const bool weights = (*made)->needs().sends == Sends::weights;
    for (const auto codec : codec_names()) {
      auto s = spec(std::string(rule.name));
      s.codec = codec;
      const bool refused = weights && (codec == "top-k" || codec == "sparse2");
      const auto session = Session::make(std::move(s));
      ASSERT_EQ(session.has_value(), !refused) << rule.name << " " << codec;
      if (session) continue;
      EXPECT_EQ(session.error().field, "codec");
      EXPECT_THAT(session.error().message, HasSubstr(std::string(rule.name)));
      EXPECT_THAT(session.error().hint, HasSubstr("fp32"));
    }
  }
}

TEST(Session, WhatItDoesNotKnowIsRefused) {
  EXPECT_FALSE(Session::make(spec("magic")));
  auto s = spec();
  s.codec = "zip";
  EXPECT_FALSE(Session::make(s));
  s = spec();
  s.validators = {"finite", "hunch"};
  EXPECT_FALSE(Session::make(s));
}

TEST(Session, ThePlanFollowsTheRule) {
  const auto immediate = *Session::make(spec("downpour", 7));
  EXPECT_EQ(immediate.training().plan().workers, 7);
  EXPECT_EQ(immediate.training().plan().arity, 1u);
  EXPECT_FALSE(immediate.training().plan().synchronous);
  const auto rounds = *Session::make(spec("fedavg", 7));
  EXPECT_EQ(rounds.training().plan().arity, 7u);
  EXPECT_TRUE(rounds.training().plan().synchronous);
}

TEST(Session, StepsAndSamplesThatWereNotAskedForAreRefused) {
  const struct {
    std::int64_t steps, samples;
    bool good;
  } cases[] = {{5, 50, true},  {3, 30, true},  {5, 1, true},   {0, 0, false},
               {0, 50, false}, {6, 50, false}, {-1, 5, false}, {5, 0, false},
               {5, 51, false}, {3, 31, false}, {5, -1, false}};
  for (const auto& c : cases) {
    Play play;
    const auto unit = play.train(1);
    ASSERT_EQ(unit.steps, 5);
    auto claim = play.claim(1, unit);
    claim.evidence.steps = c.steps;
    claim.samples = c.samples;
    const auto refusal = play.judge(claim);
    EXPECT_EQ(!refusal, c.good) << c.steps << " " << c.samples;
    EXPECT_EQ(play.open(1, unit), c.good) << "what is refused is taken back";
    if (!refusal) continue;
    EXPECT_THAT(refusal->why, HasSubstr("were not asked for"));
    EXPECT_EQ(refusal->by, "");
    EXPECT_EQ(play.next(1).kind, UnitKind::wait) << "whoever is to blame waits";
  }
}

TEST(Session, AVersionOfTheFutureIsRefused) {
  Play play;
  play.version = 3;
  for (const std::int64_t base : {4, -1}) {
    const auto unit = play.train(1);
    auto claim = play.claim(1, unit);
    claim.base = base;
    const auto refusal = play.judge(claim);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->why, "there is no version " + std::to_string(base));
    EXPECT_FALSE(play.open(1, unit));
  }
  auto late = play.claim(1, play.train(1));
  late.base = 0;
  EXPECT_EQ(play.judge(late), std::nullopt) << "an old one is fine with this rule";
}

TEST(Session, NobodyIsBlamedForARoundThatIsOver) {
  Play play(spec("fedavg", 2));
  const auto unit = play.train(1);
  auto claim = play.claim(1, unit);
  play.version = 1;
  const auto refusal = play.judge(claim);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->why, "the round it belongs to is over");
  EXPECT_FALSE(play.open(1, unit));
  const auto again = play.next(1);
  EXPECT_EQ(again.kind, UnitKind::train);
  EXPECT_EQ(again.shard, unit.shard);
  EXPECT_EQ(again.first_step, unit.first_step);
  EXPECT_EQ(play.session.training().workers().at(1).rejected, 0);
}

TEST(Session, AValidatorsRefusalNamesItAndTakesTheUnitBack) {
  Play play;
  const auto unit = play.train(1);
  auto claim = play.claim(1, unit);
  claim.evidence.stats = {.finite = false, .norm = std::numeric_limits<double>::quiet_NaN()};
  const auto refusal = play.judge(claim);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->by, "finite");
  EXPECT_NE(refusal->why, "");
  EXPECT_FALSE(play.open(1, unit));
  EXPECT_EQ(play.session.history().size(), 0u);
  EXPECT_EQ(play.next(1).kind, UnitKind::wait);
  const auto other = play.next(2);
  EXPECT_EQ(other.shard, unit.shard);
  EXPECT_EQ(other.first_step, unit.first_step);
  EXPECT_EQ(play.session.training().workers().at(1).rejected, 1);
}

TEST(Session, OnlyTheValidatorsThatWereAskedForJudge) {
  auto s = spec();
  s.validators = {"loss"};
  Play play(std::move(s));
  auto claim = play.claim(1, play.train(1));
  claim.evidence.stats = {.finite = false};
  EXPECT_EQ(play.judge(claim), std::nullopt);
}

TEST(Session, WholeWeightsAreNotJudgedByTheirSizeOrDirection) {
  for (const auto* rule : {"downpour", "easgd"}) {
    Play play(spec(rule));
    for (int i = 0; i < 12; ++i) play.accept(play.claim(1, play.train(1)));
    const auto unit = play.train(2);
    auto claim = play.claim(2, unit);
    claim.evidence.stats.norm = 1'000;
    claim.evidence.direction = {-0.6F, -0.8F};
    const auto refusal = play.judge(claim);
    EXPECT_EQ(refusal.has_value(), std::string_view(rule) == "downpour") << rule;
  }
}

// Enough accepted that norms are judged, by workers 1 to `workers` in turn.
Play judging(std::int32_t workers) {
  Play play;
  for (std::size_t i = 0; i < kEnough + 2; ++i) {
    const auto worker = 1 + static_cast<std::int64_t>(i) % workers;
    play.accept(play.claim(worker, play.train(worker)));
  }
  return play;
}

Session::Claim odd(const Play& play, std::int64_t worker, const Unit& unit) {
  auto claim = play.claim(worker, unit);
  claim.evidence.stats.norm = 1'000;
  return claim;
}

TEST(Session, TheThirdWorkerWithTheSameOddUpdateIsBelieved) {
  auto play = judging(5);  // Two of three would be most.
  const auto unit = play.train(1);
  ASSERT_EQ(play.judge(odd(play, 1, unit))->by, "norm");
  // The same work goes to the next; the first is not asked again before.
  const auto second = play.next(2);
  ASSERT_EQ(second.first_step, unit.first_step);
  ASSERT_EQ(second.shard, unit.shard);
  EXPECT_EQ(play.judge(odd(play, 2, second))->by, "norm");
  const auto third = play.next(3);
  ASSERT_EQ(third.first_step, unit.first_step);
  const auto claim = odd(play, 3, third);
  EXPECT_EQ(play.judge(claim), std::nullopt);
  play.session.accept(claim, play.now);
}

TEST(Session, OneWorkerCannotInsistWhileThereAreOthers) {
  auto play = judging(3);
  const auto first = play.train(1);
  for (const std::int64_t worker : {2, 3}) play.train(worker);  // At work elsewhere.
  auto unit = first;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(unit.first_step, first.first_step);
    ASSERT_EQ(unit.shard, first.shard);
    EXPECT_TRUE(play.judge(odd(play, 1, unit))) << i;
    unit = play.train(1);
  }
}

TEST(Session, OfTwoTheOtherIsBelieved) {
  auto play = judging(2);
  const auto unit = play.train(1);
  ASSERT_TRUE(play.judge(odd(play, 1, unit)));
  const auto again = play.next(2);
  ASSERT_EQ(again.first_step, unit.first_step);
  EXPECT_EQ(play.judge(odd(play, 2, again)), std::nullopt);
}

TEST(Session, OneThatWorksAloneIsBelievedTheThirdTime) {
  auto play = judging(1);
  const auto first = play.train(1);
  ASSERT_TRUE(play.judge(odd(play, 1, first)));
  const auto second = play.train(1);
  ASSERT_EQ(second.first_step, first.first_step);
  ASSERT_TRUE(play.judge(odd(play, 1, second)));
  const auto third = play.train(1);
  ASSERT_EQ(third.first_step, first.first_step);
  EXPECT_EQ(play.judge(odd(play, 1, third)), std::nullopt);
}

// When a model leaves a plateau the changes of all machines grow at once.
TEST(Session, WhereMostAreRefusedOneAfterTheOtherTheYardstickIsForgotten) {
  auto play = judging(4);
  const auto turned = [&](std::int64_t worker) {
    auto claim = play.claim(worker, play.train(worker));
    claim.evidence.direction = {-0.6F, -0.8F};
    return claim;
  };
  std::vector<bool> refused;
  for (int i = 0; i < 2; ++i)  // One odd update of each is believed.
    for (const std::int64_t worker : {1, 2, 3, 4}) {
      const auto claim = turned(worker);
      refused.push_back(play.judge(claim).has_value());
      if (!refused.back()) play.session.accept(claim, play.now);
    }
  EXPECT_LE(std::ranges::count(refused, true), 2);
}

TEST(Session, WaitsAreNotDoubledBeforeTheThirdRefusalInARow) {
  auto play = judging(3);
  std::vector<base::Duration> waits;
  for (int i = 0; i < 5; ++i) {
    const auto unit = play.train(1);
    auto claim = play.claim(1, unit);
    claim.samples = 0;
    ASSERT_TRUE(play.judge(claim));
    waits.push_back(play.next(1).wait);
    play.accept(play.claim(2, play.train(2)));
  }
  EXPECT_EQ(waits[1], waits[0]);
  for (std::size_t i = 2; i < waits.size(); ++i) EXPECT_EQ(waits[i], waits[i - 1] * 2) << i;
}

TEST(Session, WaitsAreNotDoubledWhereNobodyPasses) {
  auto play = judging(3);
  std::vector<base::Duration> waits;
  for (int i = 0; i < 5; ++i)
    for (const std::int64_t worker : {1, 2}) {
      auto claim = play.claim(worker, play.train(worker));
      claim.samples = 0;
      ASSERT_TRUE(play.judge(claim));
      waits.push_back(play.next(worker).wait);
    }
  EXPECT_THAT(waits, ::testing::Each(waits[0]));
}

TEST(Session, WhatIsNoNumberIsNeverBelieved) {
  auto play = judging(1);
  for (int i = 0; i < 6; ++i) {
    auto claim = play.claim(1, play.train(1));
    claim.evidence.stats = {.finite = false, .norm = std::numeric_limits<double>::infinity()};
    const auto refusal = play.judge(claim);
    ASSERT_TRUE(refusal) << i;
    EXPECT_EQ(refusal->by, "finite") << i;
  }
}

TEST(Session, RulesFoldWhenTheyHaveEnough) {
  const auto immediate = *Session::make(spec("downpour", 3));
  EXPECT_EQ(immediate.to_fold(0), 0u);
  EXPECT_EQ(immediate.to_fold(1), 1u);
  EXPECT_EQ(immediate.to_fold(9), 9u);
  auto s = spec("fedbuff", 3);
  s.rule.params = {{"buffer", 4}};
  auto buffered = *Session::make(std::move(s));
  const std::size_t want[] = {0, 0, 0, 0, 4, 4, 4};
  for (std::size_t waiting = 0; waiting < std::size(want); ++waiting)
    EXPECT_EQ(buffered.to_fold(waiting), want[waiting]) << waiting;
  // Nothing more will come.
  buffered.training().finish("it was stopped", 1);
  const std::size_t rest[] = {0, 1, 2, 3, 4, 4, 4};
  for (std::size_t waiting = 0; waiting < std::size(rest); ++waiting)
    EXPECT_EQ(buffered.to_fold(waiting), rest[waiting]) << waiting;
}

TEST(Session, TheLastUpdatesOfABufferedRuleAreFoldedThoughTheyAreFew) {
  auto s = spec("fedbuff", 3);
  s.rule.params = {{"buffer", 3}};
  s.plan.epochs = 1;
  Play play(std::move(s));
  for (std::size_t done = 1; done <= 4; ++done) {  // Four units are all there is.
    const auto claim = play.claim(1, play.train(1));
    ASSERT_EQ(play.judge(claim), std::nullopt);
    play.session.accept(claim, play.now);
    EXPECT_EQ(play.session.to_fold(done == 4 ? 1 : done), done >= 3 ? (done == 3 ? 3u : 1u) : 0u);
  }
}

TEST(Session, WhatWasSavedGoesOn) {
  auto play = judging(2);
  const auto given = play.train(1);
  const auto state = play.session.training().durable(play.now);
  const auto& history = play.session.history();

  auto again = *Session::make(spec());
  again.restore(state, history.sizes(), history.losses());
  EXPECT_EQ(again.training().state().useful_steps, play.session.training().state().useful_steps);
  EXPECT_EQ(again.training().plan().workers, 3);
  EXPECT_EQ(again.training().plan().arity, 1u);
  EXPECT_EQ(again.history().usual_norm(5), history.usual_norm(5));
  EXPECT_EQ(again.history().size(), kEnough + 2);
  EXPECT_EQ(again.training().find(1, given.id), nullptr) << "what was given out is not known";
  // It is given out again, under another name, and judged by what was usual.
  auto unit = again.training().next(2, play.now);
  while (unit.kind == UnitKind::evaluate) {
    again.training().evaluated(unit.id, {50, 1, {{"accuracy", 0.5}}}, play.now);
    unit = again.training().next(2, play.now);
  }
  ASSERT_EQ(unit.kind, UnitKind::train);
  EXPECT_NE(unit.id, given.id);
  EXPECT_EQ(unit.first_step, given.first_step);
  EXPECT_EQ(unit.shard, given.shard);
  const auto refusal = again.judge(odd(play, 2, unit), play.version, play.now);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->by, "norm");
}

}  // namespace
}  // namespace souk::train
