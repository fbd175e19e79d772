#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "agent/testing/coaching.h"

// What a coach does while its trainer computes.

namespace souk::agent {
namespace {

using base::testing::eventually;
using testing::CoachTest;
using ::testing::Each;
using testing::field;
using testing::kAsk;
using testing::kPull;
using testing::parameters;
using testing::PlayedTrainer;
using testing::refused;
using testing::TrainingMarket;

class Overlap : public CoachTest {
 protected:
  // Does what a unit usually does, if `ready` comes true in the meantime.
  PlayedTrainer::Answer training_until(std::function<bool(int call)> ready) {
    return [this, ready](const auto& request) -> std::string {
      const int call = ++calls_;
      if (!eventually([&] { return ready(call); })) return R"({"ok":false,"error":"alone"})";
      trainer->write(request.at("out").get_string(), std::vector<float>(4, 1));
      return R"({"ok":true,"steps":10,"samples":10})";
    };
  }
  // What is never answered is waited for longer than this test has.
  void never_give_up() { timeout = options.grace = base::hours(1); }
  base::Duration spent(std::string_view part) {
    base::Duration sum;
    for (const auto& ask : market.bodies(kAsk))
      if (const auto text = field(ask, fmt::format("spent.{}", part)); !text.empty())
        sum = sum + *base::parse_duration(text);
    return sum;
  }

 private:
  std::atomic<int> calls_ = 0;
};

TEST_F(Overlap, WhileAUnitIsComputedTheOneBeforeIsHandedInAndTheNextIsFetched) {
  for (int i = 0; i < 3; ++i) market.add_unit(base::UnitKind::train);
  start({{"train", training_until([&](int call) {
            // Unit 2 ends only when unit 1 was judged and all of unit 3 is there.
            if (call == 2)
              return report(1, "steps") == "10" && market.count(kAsk) == 3 &&
                     market.count(kPull) == 3;
            return true;
          })}});
  EXPECT_EQ(finish(), "");
  for (const std::int64_t unit : {1, 2, 3}) {
    EXPECT_EQ(report(unit, "error"), "") << said();
    EXPECT_THAT(market.update(unit), Each(1));
  }
  const auto asks = market.bodies(kAsk);
  EXPECT_EQ(field(asks[0], "keeps"), "");
  EXPECT_EQ(field(asks[1], "keeps"), "1");
  EXPECT_EQ(field(asks[2], "keeps"), "2") << "it has two at most";
}

TEST_F(Overlap, AUnitIsHandedInWithTheVersionItWasMadeFrom) {
  for (int i = 0; i < 3; ++i) market.add_unit(base::UnitKind::train);
  std::atomic<int> version = 4;
  market.usually(kPull, [&](const net::Request&) {
    const int v = ++version;
    return net::Response{.body = parameters(v, std::vector<float>(4, static_cast<float>(v)))};
  });
  std::vector<float> began;
  start({{"train", [&](const auto& request) {
            // The next unit's parameters arrive before this one looks at its own.
            const auto wanted = std::min<std::size_t>(began.size() + 2, 3);
            if (!eventually([&] { return market.count(kPull) >= wanted; })) return "";
            began.push_back(trainer->read(request.at("base").get_string())[0]);
            trainer->write(request.at("out").get_string(), std::vector<float>(4, began.back()));
            return R"({"ok":true,"steps":10,"samples":10})";
          }}});
  EXPECT_EQ(finish(), "");
  EXPECT_THAT(began, ::testing::ElementsAre(5, 6, 7));
  for (const std::int64_t unit : {1, 2, 3}) {
    EXPECT_EQ(report(unit, "base"), std::to_string(unit + 4));
    EXPECT_THAT(market.update(unit), Each(static_cast<float>(unit + 4)));
  }
}

TEST_F(Overlap, ChecksAndReplicasAreFetchedAheadToo) {
  market.add_unit(base::UnitKind::train);
  market.add_unit(base::UnitKind::evaluate, {.version = 12});
  market.add_unit(base::UnitKind::train, {.version = 9});
  market.add_unit(base::UnitKind::train);
  start({{"train",
          training_until([&](int call) { return market.count(kPull) >= (call == 1 ? 2U : 4U); })}});
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(2, "metrics.accuracy"), "0.75") << said();
  EXPECT_EQ(report(3, "base"), "9");
  EXPECT_EQ(report(4, "base"), "1");
}

// A round is over when its updates are in: the market has nothing until then.
TEST_F(Overlap, WhereTheNextUnitCannotBeHadYetItIsAskedForWhenTheLastIsHandedIn) {
  market.add_unit(base::UnitKind::train);
  market.add_unit(base::UnitKind::wait, {.wait = base::hours(1)});
  market.add_unit(base::UnitKind::train);
  start({{"train", training_until([&](int) { return market.count(kAsk) >= 2; })}});
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "steps"), "10");
  EXPECT_EQ(report(3, "steps"), "10") << "not after an hour";
  EXPECT_EQ(field(market.bodies(kAsk)[2], "keeps"), "");
}

TEST_F(Overlap, AMarketThatFailsWhileAUnitIsComputedLosesNothing) {
  bool refuses = false;
  for (int i = 0; i < 2; ++i) market.add_unit(base::UnitKind::train);
  start({{"train", training_until([&](int call) {
            if (!std::exchange(refuses, true))
              market.on(kAsk, {refused(base::Code::internal, "not now")});
            return market.count(kAsk) > static_cast<std::size_t>(call);
          })}});
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "steps"), "10");
  EXPECT_EQ(report(2, "steps"), "10");
}

TEST_F(Overlap, WhenTheLeaseHasEndedNothingMoreIsSent) {
  const auto unit = market.add_unit(base::UnitKind::train);
  market.on(kAsk, {net::Response{.body = wire::to_json(unit)},
                   refused(base::Code::conflict, "the lease is closed")});
  start({{"train", training_until([&](int) { return market.count(kAsk) >= 2; })}});
  EXPECT_EQ(finish(), "the lease is closed");
  EXPECT_EQ(market.count("PUT /v1/leases/l1/units/1"), 0U);
  EXPECT_EQ(report(1, "steps"), "no report");
}

TEST_F(Overlap, ARefusedUpdateDoesNotDisturbTheNext) {
  for (int i = 0; i < 3; ++i) market.add_unit(base::UnitKind::train);
  market.on(TrainingMarket::report_of(1),
            {net::Response{.body = R"({"accepted":false,"reason":"too stale"})"}});
  start({{"train",
          training_until([&](int call) { return call != 2 || report(1, "steps") == "10"; })}});
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(2, "error"), "");
  EXPECT_THAT(market.update(2), Each(1));
  EXPECT_THAT(market.update(3), Each(1));
}

// On a slow line parameters take longer than the notice that a machine has to leave.
TEST_F(Overlap, AStopDoesNotWaitForWhatIsBeingFetched) {
  market.add_unit(base::UnitKind::train);
  market.add_unit(base::UnitKind::train);
  market.on(kPull, {net::Response{.body = parameters(1, std::vector<float>(4))}, std::nullopt});
  never_give_up();
  start({{"train", [&](const auto& request) {
            trainer->write(request.at("out").get_string(), std::vector<float>(4, 1));
            return trainer->hear().contains("stop") ? R"({"ok":true,"steps":3,"samples":96})" : "";
          }}});
  ASSERT_TRUE(eventually([&] { return market.count(kPull) == 2; }));
  coach->drain();
  EXPECT_EQ(finish(), "") << "the pull is never answered";
  EXPECT_EQ(report(1, "steps"), "3");
  EXPECT_THAT(market.update(1), Each(1));
  EXPECT_EQ(report(2, "steps"), "0");
  EXPECT_EQ(report(2, "error"), "");
}

TEST_F(Overlap, AUnitThatIsGivenWhileTheMachineLeavesIsGivenBack) {
  const auto first = market.add_unit(base::UnitKind::train);
  const auto second = market.add_unit(base::UnitKind::train);
  std::atomic<int> asks = 0;
  market.usually(kAsk, [&](const net::Request& r) {
    if (!r.path.ends_with("/units"))
      return net::Response{.body = R"({"accepted":true,"reason":""})"};
    const int ask = ++asks;
    if (ask == 2) coach->drain();
    return net::Response{.body = wire::to_json(ask == 1 ? first : second)};
  });
  start({{"train", [&](const auto& request) {
            trainer->write(request.at("out").get_string(), std::vector<float>(4, 1));
            return trainer->hear().contains("stop") ? R"({"ok":true,"steps":3,"samples":96})" : "";
          }}});
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "steps"), "3");
  EXPECT_EQ(report(2, "steps"), "0");
  EXPECT_EQ(report(2, "error"), "");
}

TEST_F(Overlap, AStopDoesNotWaitForAHub) {
  std::atomic<int> pulls = 0;
  testing::ScriptedServer hub([&](const net::Request& r) -> std::optional<net::Response> {
    if (r.method == "PUT")
      return net::Response{.body = wire::to_json(wire::LogSize{std::ssize(r.body)})};
    if (++pulls == 1) return net::Response{.body = parameters(2, std::vector<float>(4))};
    return std::nullopt;
  });
  for (int i = 0; i < 2; ++i)
    market.add_unit(base::UnitKind::train, {.hub = wire::UnitHub{hub.url(), "u", "ticket"}});
  never_give_up();
  start({{"train", [&](const auto& request) {
            trainer->write(request.at("out").get_string(), std::vector<float>(4, 1));
            return trainer->hear().contains("stop") ? R"({"ok":true,"steps":3,"samples":96})" : "";
          }}});
  ASSERT_TRUE(eventually([&] { return pulls == 2; }));
  coach->drain();
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(report(1, "steps"), "3");
  EXPECT_EQ(hub.asked("PUT /v1/hub/j1/updates/u").size(), 1U) << "what is sent still goes there";
  EXPECT_EQ(said().find("the market is used instead"), std::string::npos) << said();
}

// A slow line: almost half of what a unit takes to compute goes into its parameters, and as much
// into its update. The time is the test's, so all of it is known. It is short, as the coach also
// looks at how long requests really take: it must find that long beside the computing.
TEST_F(Overlap, TheTrainerWaitsForTheLineBeforeItsFirstUnitOnly) {
  constexpr auto computing = base::microseconds(120), moving = base::microseconds(45);
  constexpr int units = 12;
  base::FakeClock clock{base::Time(1'000'000)};
  options.clock = &clock;
  std::atomic<int> pulled = 0, reported = 0;
  for (int i = 0; i < units; ++i) market.add_unit(base::UnitKind::train);
  market.usually(kPull, [&](const net::Request&) {
    clock.advance(moving);
    ++pulled;
    return net::Response{.body = parameters(1, std::vector<float>(4))};
  });
  for (int i = 1; i <= units; ++i)
    market.usually(TrainingMarket::report_of(i), [&](const net::Request&) {
      clock.advance(moving);
      ++reported;
      return net::Response{.body = R"({"accepted":true,"reason":""})"};
    });
  const auto began = clock.now();
  start({{"train", training_until([&](int call) {
            const auto before = call - 1, after = std::min(call + 1, units);
            if (reported != before || pulled != after) return false;
            // What the line did meanwhile is part of it.
            clock.advance(computing - moving * ((call > 1) + (call < units)));
            return true;
          })}});
  EXPECT_EQ(finish(), "");
  const auto took = clock.now() - began;
  for (int i = 1; i <= units; ++i) EXPECT_EQ(report(i, "error"), "") << said();
  base::Duration all;
  for (const auto part :
       {"compute", "checking", "prepare", "fetch", "download", "upload", "waiting"})
    all = all + spent(part);
  EXPECT_LE(all, took) << "no moment counts twice";
  EXPECT_EQ(spent("compute"), computing * (units - 1)) << "the last is told to nobody";
  EXPECT_EQ(all - spent("compute"), moving) << "the parameters of the first";
}

}  // namespace
}  // namespace souk::agent
