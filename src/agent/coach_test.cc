#include "agent/coach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/coaching.h"

namespace souk::agent {
namespace {

using base::Code;
using base::testing::eventually;
using testing::CoachTest;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kAsk;
using testing::kPull;
using testing::parameters;
using testing::PlayedTrainer;
using testing::refused;
using ::testing::SizeIs;
using testing::TrainingMarket;

TEST_F(CoachTest, AUnitIsTrainedFromTheMarketsParametersPushedAndReported) {
  market.usually(kPull, [](const net::Request&) {
    return net::Response{.body = parameters(3, {1, 2, 3, 4})};
  });
  market.add_unit(base::UnitKind::train, {.steps = 20});
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_THAT(trainer->asked(), ElementsAre("hello", "train", "bye"));
  EXPECT_THAT(trainer->read("base-0.safetensors"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(market.update(1), ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(report(1, "epoch"), "7");
  EXPECT_EQ(report(1, "base"), "3");
  EXPECT_EQ(report(1, "steps"), "20");
  EXPECT_EQ(report(1, "samples"), "2000");
  EXPECT_EQ(report(1, "loss"), "0.25");
  EXPECT_EQ(report(1, "error"), "");
}

TEST_F(CoachTest, TheFirstParametersAreMadeAndNamed) {
  market.add_unit(base::UnitKind::init);
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "tensors.0.name"), "w");
  EXPECT_THAT(market.update(1), ElementsAre(0.5, 0.5, 0.5, 0.5));
}

TEST_F(CoachTest, ACheckIsOfExactlyTheVersionThatWasAskedFor) {
  market.add_unit(base::UnitKind::evaluate, {.version = 12});
  start();
  EXPECT_EQ(finish(), "");
  ASSERT_THAT(market.server().asked(kPull), SizeIs(1));
  EXPECT_EQ(market.server().asked(kPull)[0].param("version"), "12");
  EXPECT_EQ(report(1, "metrics.accuracy"), "0.75");
  EXPECT_EQ(report(1, "samples"), "50");
}

TEST_F(CoachTest, AModelThatTheLeaseHasNoMemoryForIsNotMadeRoomFor) {
  start({{"hello", [](const auto&) {
            return R"({"ok":true,"name":"x","tensors":[{"name":"w","shape":[1073741823]}]})";
          }}});
  EXPECT_THAT(finish(), HasSubstr("more than 8388608 parameters"));
  EXPECT_EQ(market.count(kAsk), 0U);
}

TEST_F(CoachTest, AShardLargerThanTheMachineTakesIsReported) {
  const auto large = market.add_folder({{"a", blob::testing::noise(1'200, 1)}});
  market.add_unit(base::UnitKind::train, {.shard = large});
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_THAT(report(1, "error"), HasSubstr("a shard of 1200 bytes"));
}

TEST_F(CoachTest, WhereThereIsNothingToDoYetItAsksAgain) {
  for (int i = 0; i < 3; ++i)
    market.add_unit(base::UnitKind::wait, {.wait = base::milliseconds(1)});
  market.add_unit(base::UnitKind::train);
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(market.count(kAsk), 5U);
  EXPECT_NE(field(market.bodies(kAsk)[1], "spent.waiting"), "");
  EXPECT_EQ(report(4, "steps"), "10");
}

TEST_F(CoachTest, AMarketThatIsAwayForAWhileLosesNoUnit) {
  const auto gateway = testing::bad_gateway();
  market.add_unit(base::UnitKind::train);
  market.on(kAsk, {gateway});
  market.on(kPull, {gateway, gateway});
  market.on("PUT /v1/leases/l1/units/1", {gateway});
  market.on(TrainingMarket::report_of(1), {gateway});
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_THAT(market.update(1), ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(report(1, "error"), "");
  EXPECT_EQ(market.server().keys(TrainingMarket::report_of(1)).size(), 1U);
  EXPECT_EQ(trainer->count("train"), 1U) << "trained once";
}

TEST_F(CoachTest, AMarketThatIsAwayForTooLongEndsTheWork) {
  options.grace = base::milliseconds(100);
  market.set_away(true);
  start();
  EXPECT_THAT(finish(), HasSubstr("gateway"));
  EXPECT_THAT(trainer->asked(), ElementsAre("hello", "bye"));
}

TEST_F(CoachTest, AReportWhoseAnswerIsLostIsSentAgainUnderItsKeyAndSoCountsOnce) {
  market.add_unit(base::UnitKind::train);
  market.on(TrainingMarket::report_of(1), {testing::lost_answer()});
  start();
  EXPECT_EQ(finish(), "");
  const auto reports = market.bodies(TrainingMarket::report_of(1));
  ASSERT_THAT(reports, SizeIs(2));
  EXPECT_EQ(reports[0], reports[1]);
  EXPECT_THAT(market.server().keys(TrainingMarket::report_of(1)), SizeIs(1));
}

TEST_F(CoachTest, ALeaseThatHasEndedEndsTheWork) {
  market.on(kAsk, {refused(Code::conflict, "the lease is closed")});
  start();
  EXPECT_EQ(finish(), "the lease is closed");
  EXPECT_THAT(said(), HasSubstr("the lease is closed"));
}

TEST_F(CoachTest, ALeaseThatEndsInTheMiddleOfAUnitEndsTheWork) {
  market.add_unit(base::UnitKind::train);
  market.add_unit(base::UnitKind::train);
  const auto closed = refused(Code::conflict, "the lease is closed");
  start({{"train", [&](const auto& request) {
            for (const auto& what : {TrainingMarket::report_of(1), std::string(kAsk)})
              market.on(what, {closed, closed});
            trainer->write(request.at("out").get_string(), std::vector<float>(4, 1));
            return R"({"ok":true,"steps":1,"samples":1})";
          }}});
  EXPECT_EQ(finish(), "the lease is closed");
  EXPECT_THAT(said(), HasSubstr("the lease is closed"));
  EXPECT_LE(trainer->count("train"), 2U) << "the one that it had, and one that it had fetched";
}

TEST_F(CoachTest, ATrainerThatDiesIsReportedSoThatSomebodyElseGetsTheUnit) {
  for (int i = 0; i < 5; ++i) market.add_unit(base::UnitKind::train);
  start({{"train", [](const auto&) { return ""; }}});
  EXPECT_EQ(finish(), "the trainer has ended");
  EXPECT_EQ(report(1, "error"), "the trainer has ended");
  EXPECT_EQ(report(3, "error"), "the trainer has ended");
  EXPECT_EQ(report(4, "error"), "") << "after three in a row it leaves, and gives back the next";
  EXPECT_EQ(report(4, "steps"), "0");
}

TEST_F(CoachTest, AUnitThatTheTrainerCannotDoDoesNotEndTheOthers) {
  std::atomic<int> calls = 0;
  for (int i = 0; i < 6; ++i) market.add_unit(base::UnitKind::evaluate, {.version = 1});
  start({{"evaluate", [&](const auto&) {
            return ++calls % 3 == 0 ? R"({"ok":true,"samples":1})"
                                    : R"({"ok":false,"error":"out of memory"})";
          }}});
  EXPECT_EQ(finish(), "") << "no three failures in a row";
  EXPECT_EQ(report(1, "error"), "the trainer: out of memory");
  EXPECT_EQ(report(3, "error"), "");
  EXPECT_EQ(report(5, "error"), "the trainer: out of memory");
  EXPECT_EQ(report(6, "samples"), "1");
}

TEST_F(CoachTest, AUnitThatSomebodyElseWasFasterWithIsNoFailure) {
  for (int i = 1; i <= 5; ++i) {
    market.add_unit(base::UnitKind::train);
    if (i < 5)
      market.on(fmt::format("PUT /v1/leases/l1/units/{}", i),
                {refused(Code::conflict, "the unit was given to somebody else")});
  }
  start();
  EXPECT_EQ(finish(), "") << "however often that happens";
  for (const std::int64_t unit : {1, 2, 3, 4}) EXPECT_EQ(report(unit, "error"), "no report");
  EXPECT_EQ(report(5, "steps"), "10");
}

TEST_F(CoachTest, ATrainerThatDoesNotBeginIsAFailure) {
  start({{"hello", [](const auto&) { return R"({"ok":false,"error":"no model 'x'"})"; }}});
  EXPECT_EQ(finish(), "the trainer: no model 'x'");
  EXPECT_EQ(market.count(kAsk), 0U);
}

TEST_F(CoachTest, ARefusedUpdateIsExplainedInTheLogAndTheNextUnitIsAskedFor) {
  market.add_unit(base::UnitKind::train);
  market.add_unit(base::UnitKind::train);
  market.on(TrainingMarket::report_of(1),
            {net::Response{.body = R"({"accepted":false,"reason":"too stale"})"}});
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_THAT(said(), HasSubstr("unit 1 was not accepted: too stale"));
  EXPECT_EQ(report(2, "steps"), "10");
}

// What a lossy codec leaves out of an accepted update goes into the next one. After a refusal it
// must not: the market never had the rest.
TEST_F(CoachTest, WhatALossyCodecLeftOutIsOwedOnlyIfTheUpdateWasAccepted) {
  for (int i = 0; i < 4; ++i) market.add_unit(base::UnitKind::train, {.codec = "top-k"});
  market.on(TrainingMarket::report_of(3),
            {net::Response{.body = R"({"accepted":false,"reason":"no"})"}});
  std::atomic<int> calls = 0;
  const auto train = [&](const auto& request) {
    const int n = ++calls;
    // Odd units are large everywhere, even ones zero: those send what is owed.
    trainer->write(request.at("out").get_string(), std::vector<float>(4, n % 2 == 1 ? 8.F : 0.F));
    return R"({"ok":true,"steps":10,"samples":10})";
  };
  start({{"train", train}});
  EXPECT_EQ(finish(), "");
  const auto sum = [&](std::int64_t unit) {
    double out = 0;
    for (const auto v : market.update(unit, "top-k")) out += v;
    return out;
  };
  EXPECT_GT(sum(1), 0);
  EXPECT_GT(sum(2), 0) << "the rest of unit 1";
  EXPECT_EQ(sum(4), sum(2)) << "nothing of the refused unit 3 beyond what was owed before";
}

// The market chooses for each unit. What one codec left out waits for the next that leaves out.
TEST_F(CoachTest, EachUpdateTravelsInTheCodecOfItsUnit) {
  const std::vector<std::string> codecs{"fp32", "sparse2:0.5", "int8", "sparse2:0.5"};
  for (const auto& codec : codecs) market.add_unit(base::UnitKind::train, {.codec = codec});
  const auto train = [&](const auto& request) {
    trainer->write(request.at("out").get_string(), std::vector<float>{8, 4, 3, 1});
    return R"({"ok":true,"steps":10,"samples":10})";
  };
  start({{"train", train}}, "auto");
  EXPECT_EQ(finish(), "");
  EXPECT_THAT(market.update(1, "fp32"), ElementsAre(8, 4, 3, 1));
  EXPECT_THAT(market.update(2, "sparse2"), ElementsAre(8, 4, 0, 0));
  EXPECT_THAT(market.update(3, "fp32"), IsEmpty()) << "it is int8";
  EXPECT_NEAR(market.update(3, "int8").at(2), 3, 0.05);
  // The 3 that was left out makes the new one 6, which is now more than 4.
  EXPECT_THAT(market.update(4, "sparse2"), ElementsAre(8, 0, 6, 0));
}

TEST_F(CoachTest, AStopHandsBackWhatIsDoneOfTheUnit) {
  market.add_unit(base::UnitKind::train);
  market.add_unit(base::UnitKind::train);
  std::atomic<bool> training = false;
  start({{"train", [&](const auto& request) {
            trainer->write(request.at("out").get_string(), std::vector<float>(4, 1));
            training = true;
            return trainer->hear().contains("stop") ? R"({"ok":true,"steps":3,"samples":96})" : "";
          }}});
  ASSERT_TRUE(eventually([&] { return training.load() && market.count(kPull) == 2; }));
  coach->drain();
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "steps"), "3");
  EXPECT_THAT(market.update(1), Each(1));
  EXPECT_EQ(market.count(kAsk), 2U) << "and asks for no more";
  EXPECT_EQ(trainer->count("train"), 1U);
  EXPECT_EQ(report(2, "steps"), "0") << "what was fetched is given back";
  EXPECT_EQ(trainer->asked().back(), "bye");
}

TEST_F(CoachTest, AStopBeforeTheFirstStepGivesTheUnitBack) {
  market.add_unit(base::UnitKind::train);
  std::atomic<bool> training = false;
  start({{"train", [&](const auto&) {
            training = true;
            return trainer->hear().contains("stop") ? R"({"ok":true,"steps":0})" : "";
          }}});
  ASSERT_TRUE(eventually([&] { return training.load(); }));
  coach->drain();
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "steps"), "0");
  EXPECT_EQ(report(1, "error"), "");
}

TEST_F(CoachTest, ACheckThatWasCutShortIsGivenBack) {
  market.add_unit(base::UnitKind::evaluate, {.version = 1});
  std::atomic<bool> checking = false;
  start({{"evaluate", [&](const auto&) {
            checking = true;
            return trainer->hear().contains("stop") ? R"({"ok":true,"samples":3})" : "";
          }}});
  ASSERT_TRUE(eventually([&] { return checking.load(); }));
  coach->drain();
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "samples"), "0");
}

TEST_F(CoachTest, OneThatIsDroppedWaitsForNobody) {
  market.add_unit(base::UnitKind::train);
  std::atomic<bool> training = false;
  start({{"train", [&](const auto&) {
            training = true;
            (void)trainer->hear();  // The goodbye: it computes until then.
            return "";
          }}});
  ASSERT_TRUE(eventually([&] { return training.load(); }));
  coach.reset();
  EXPECT_EQ(report(1, "error"), "no report");
}

TEST_F(CoachTest, ShardsAreFetchedOnceAndTheOldestMakesRoom) {
  const auto big = market.add_folder({{"a", blob::testing::noise(600, 1)}});
  const auto other = market.add_folder({{"b", blob::testing::noise(600, 2)}});
  for (const auto& shard : {big, big, other, big})
    market.add_unit(base::UnitKind::train, {.shard = shard});
  start();
  EXPECT_EQ(finish(), "");
  const auto asks = market.bodies(kAsk);
  ASSERT_THAT(asks, SizeIs(5));
  EXPECT_EQ(field(asks[0], "holds"), "[]");
  for (const std::size_t i : {1, 2, 4}) EXPECT_EQ(field(asks[i], "holds"), "[\"" + big + "\"]");
  EXPECT_EQ(field(asks[3], "holds"), "[\"" + other + "\"]");
}

TEST_F(CoachTest, AShardThatCannotBeFetchedIsReported) {
  market.add_unit(base::UnitKind::train, {.shard = std::string(64, 'a')});
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_THAT(report(1, "error"), HasSubstr("there is no blob"));
  EXPECT_EQ(trainer->count("train"), 0U);
}

TEST_F(CoachTest, OnlyWhatChangedIsPulledAndAMarketThatWentBackIsBelieved) {
  for (int i = 0; i < 3; ++i) market.add_unit(base::UnitKind::train);
  const auto at = [](std::int64_t version, float value) {
    return net::Response{.body = parameters(version, std::vector<float>(4, value))};
  };
  market.on(kPull, {at(5, 1), at(9, 2), at(4, 3), at(4, 3)});
  start();
  EXPECT_EQ(finish(), "");
  std::vector<std::string> since;
  for (const auto& r : market.server().asked(kPull))
    since.emplace_back(r.param("since").value_or("all"));
  EXPECT_THAT(since, ElementsAre("all", "5", "9", "all")) << "a crash lost versions 5 to 9";
  EXPECT_EQ(report(3, "base"), "4");
  EXPECT_THAT(trainer->read("base-0.safetensors"), Each(3));
}

TEST_F(CoachTest, AHubCarriesTheBytesAndTheMarketHearsTheReport) {
  std::atomic<std::size_t> pushed = 0;
  testing::ScriptedServer hub([&](const net::Request& r) -> net::Response {
    if (r.method == "GET") return {.body = parameters(2, {1, 1, 1, 1})};
    pushed = r.body.size();
    return {.body = wire::to_json(wire::LogSize{std::ssize(r.body)})};
  });
  market.add_unit(base::UnitKind::train, {.hub = wire::UnitHub{hub.url(), "u1", "ticket"}});
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_GT(pushed, 0U);
  for (const auto& r : hub.asked()) EXPECT_EQ(r.header("Authorization"), "Bearer ticket");
  EXPECT_EQ(hub.asked("PUT /v1/hub/j1/updates/u1").size(), 1U);
  EXPECT_EQ(market.count(kPull), 0U);
  EXPECT_EQ(report(1, "base"), "2");
}

TEST_F(CoachTest, AHubThatFailsIsLeftAloneForAWhileAndTheMarketDoesItsPart) {
  base::FakeClock clock(base::Time(1'000'000));
  options.clock = &clock;
  testing::ScriptedServer hub(
      [](const net::Request&) { return refused(Code::unavailable, "it restarts"); });
  std::atomic<int> trained = 0;
  for (int i = 0; i < 3; ++i)
    market.add_unit(base::UnitKind::train, {.hub = wire::UnitHub{hub.url(), "u", "ticket"}});
  start({{"train", [&](const auto& request) {
            trainer->write(request.at("out").get_string(), std::vector<float>(4, 1));
            if (++trained == 2) clock.advance(base::seconds(31));
            return R"({"ok":true,"steps":1,"samples":1})";
          }}});
  EXPECT_EQ(finish(), "");
  // Asked at the first unit's beginning and, half a minute later, at the second's end.
  EXPECT_EQ(hub.asked().size(), 2U);
  EXPECT_THAT(said(), HasSubstr("it restarts; the market is used instead"));
  for (const std::int64_t unit : {1, 2, 3}) EXPECT_THAT(market.update(unit), Each(1));
}

class LargeModel : public CoachTest {
 protected:
  LargeModel() : CoachTest(kFloats) {}
  static constexpr std::size_t kFloats = (5 << 20) / sizeof(float);
};

TEST_F(LargeModel, AnUpdateOfSeveralPiecesArrivesWhole) {
  market.add_unit(base::UnitKind::init);
  std::vector<float> made(kFloats);
  start({{"init", [&](const auto& request) {
            base::Random random(1);  // They do not compress.
            for (auto& v : made) v = static_cast<float>(random.next() >> 40);
            trainer->write(request.at("out").get_string(), made);
            return R"({"ok":true})";
          }}});
  EXPECT_EQ(finish(), "");
  const auto pieces = market.server().asked("PUT /v1/leases/l1/units/1");
  ASSERT_THAT(pieces, SizeIs(2));
  EXPECT_EQ(pieces[1].param("offset"), std::to_string(pieces[0].body.size()));
  EXPECT_EQ(market.update(1), made);
}

// More than the coach keeps of a model: pieces go into the trainer's file as they come.
class InPieces : public CoachTest {
 protected:
  InPieces() : CoachTest(kFloats) {}
  // Answers with what it should be trained from: counting up, at the version of each piece.
  void answer_with(std::vector<std::int64_t> versions) {
    market.usually(kPull, [versions](const net::Request& r) {
      std::vector<float> values(kFloats);
      for (std::size_t i = 0; i < kFloats; ++i) values[i] = static_cast<float>(i);
      const auto from = std::stoul(std::string(r.param("from").value_or("0")));
      const auto version = versions[std::min(versions.size() - 1, from / 4)];
      return net::Response{.body = testing::piece_of(version, values, from)};
    });
  }
  static constexpr std::size_t kFloats = 11 * train::kBlock + 7;
};

TEST_F(InPieces, ALargeModelIsPulledIntoTheTrainersFileAndItsUpdateArrivesWhole) {
  answer_with({3});
  market.add_unit(base::UnitKind::train);
  market.add_unit(base::UnitKind::evaluate, {.version = 12});
  start();
  EXPECT_EQ(finish(), "");
  const auto base = trainer->read("base-0.safetensors");
  ASSERT_EQ(base.size(), kFloats);
  for (std::size_t i = 0; i < kFloats; ++i) ASSERT_EQ(base[i], static_cast<float>(i));
  EXPECT_EQ(report(1, "base"), "3");
  EXPECT_THAT(market.update(1), Each(1));
  EXPECT_NE(report(1, "bytes"), "") << "so that the market knows whether all has arrived";
  const auto asked = market.server().asked(kPull);
  ASSERT_THAT(asked, SizeIs(6)) << "three pieces each";
  EXPECT_EQ(asked[1].param("from"), "4");
  EXPECT_EQ(asked[1].param("at"), "3") << "if the market keeps that version";
  EXPECT_EQ(asked[5].param("version"), "12");
}

TEST_F(InPieces, AnUpdateFromPiecesOfDifferentVersionsIsOfTheOldest) {
  answer_with({5, 4, 6});
  market.add_unit(base::UnitKind::train);
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "base"), "4");
}

TEST_F(InPieces, AConnectionThatIsLostCostsAPiece) {
  const auto gateway = testing::bad_gateway();
  answer_with({3});
  market.add_unit(base::UnitKind::train);
  market.on(kPull, {gateway, gateway});
  market.on("PUT /v1/leases/l1/units/1", {gateway});
  start();
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "base"), "3");
  EXPECT_THAT(market.update(1), Each(1));
  EXPECT_EQ(trainer->count("train"), 1U);
}

}  // namespace
}  // namespace souk::agent
