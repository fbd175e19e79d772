#include "agent/agent.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "agent/testing/leases.h"
#include "agent/testing/workshop.h"
#include "base/proof/challenge.h"

namespace souk::agent {
namespace {

using base::Code;
using base::seconds;
using base::testing::eventually;
using testing::batch_lease;
using testing::field;
using ::testing::HasSubstr;
using testing::lease;
using testing::refused;

constexpr const char* kAskWork = "GET /v1/machines/m1/work";
constexpr const char* kBeat = "POST /v1/machines/m1/heartbeat";

// An agent on its own thread, with a market and programs that the test plays.
class AgentTest : public ::testing::Test, protected testing::FakeWorkshop {
 protected:
  ~AgentTest() override {
    if (!agent) return;
    agent->stop();
    // Programs that do not end by themselves end with their notice.
    (void)eventually([&] {
      clock.advance(seconds(60));
      return ended();
    });
  }
  void start() {
    agent.emplace(options, shop);
    result = std::async(std::launch::async, [this] { return agent->run(); });
  }
  bool ended() {
    return !result.valid() || result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  // The last heartbeat names exactly these leases.
  bool beats_for(const std::vector<std::string>& leases) {
    return eventually([&] {
      const auto beats = market.bodies(kBeat);
      std::vector<std::string> held;
      for (std::size_t i = 0; !beats.empty(); ++i) {
        const auto id = field(beats.back(), fmt::format("leases.{}.lease", i));
        if (id.empty()) break;
        held.push_back(id);
      }
      return !beats.empty() && held == leases;
    });
  }

  AgentOptions options{.machine = base::MachineId(1),
                       .owner_every = base::milliseconds(1),
                       .after_trouble = base::milliseconds(1)};
  std::optional<Agent> agent;
  std::future<base::Result<bool>> result;
};

TEST_F(AgentTest, ALeaseIsRunAndWithOnceItsSuccessIsTheAgentsOwn) {
  for (const bool good : {true, false}) {
    options.once = true;
    market.set_leases({batch_lease("x")});
    const auto before = sandbox->count();
    start();
    sandbox->program(before)->end({.code = good ? 0 : 3, .text = "ended"});
    const auto succeeded = result.get();
    ASSERT_TRUE(succeeded) << succeeded.error().message;
    EXPECT_EQ(*succeeded, good);
    EXPECT_EQ(finish("outcome"), good ? "completed" : "failed");
  }
}

TEST_F(AgentTest, ALeaseThatComesLaterIsTakenUpAndHeartbeatsNameIt) {
  start();
  ASSERT_TRUE(beats_for({}));
  market.set_leases({batch_lease("x")});
  const auto program = sandbox->program();
  ASSERT_TRUE(beats_for({"l1"}));
  EXPECT_EQ(field(market.bodies(kBeat).back(), "leases.0.epoch"), "7");
  program->end({});
  EXPECT_TRUE(eventually([&] { return finish("outcome") == "completed"; }));
  EXPECT_EQ(sandbox->count(), 1U) << "a lease that is still listed is not run twice";
}

TEST_F(AgentTest, TwoLeasesRunSideBySideAndEndEachForItself) {
  market.set_leases({batch_lease("a"), batch_lease("b", {}, 2)});
  start();
  const auto first = sandbox->program(0), second = sandbox->program(1);
  ASSERT_TRUE(beats_for({"l1", "l2"}));
  const bool swapped = first->program().argv.back().contains('b');
  (swapped ? first : second)->end({});
  EXPECT_TRUE(eventually([&] { return finish("outcome", "l2") == "completed"; }));
  EXPECT_EQ(finish("outcome", "l1"), "no report");
  EXPECT_FALSE((swapped ? second : first)->gone());
}

TEST_F(AgentTest, ALeaseThatTheMarketNoLongerListsIsEndedWithoutAReport) {
  market.set_leases({batch_lease("a"), batch_lease("b", {}, 2)});
  start();
  (void)sandbox->program(1);
  market.set_leases({batch_lease("a")});
  ASSERT_TRUE(beats_for({"l1"}));
  EXPECT_EQ(finish("outcome", "l2"), "no report");
}

TEST_F(AgentTest, ALeaseThatIsDrainedEndsWithItsReason) {
  market.set_leases({batch_lease("x")});
  start();
  const auto program = sandbox->program();
  auto draining = batch_lease("x");
  draining.state = lease(1, base::LeaseState::draining).state;
  draining.until = clock.now() + seconds(60);
  draining.detail = "the job was cancelled";
  market.set_leases({draining});
  ASSERT_TRUE(eventually([&] { return program->terminated(); }));
  program->end({.code = 143});
  EXPECT_TRUE(eventually([&] { return finish("outcome") == "released"; }));
  EXPECT_EQ(finish("detail"), "the job was cancelled");
}

TEST_F(AgentTest, OrdersThatComeWithAHeartbeatAreFollowed) {
  struct Row {
    wire::OrderAction action;
    const char* outcome;
  };
  for (const auto& [action, outcome] :
       {Row{wire::OrderAction::drain, "released"}, Row{wire::OrderAction::stop, "no report"}}) {
    const auto number = sandbox->count() + 1;
    const auto id = fmt::format("l{}", number);
    if (!agent) start();
    market.set_leases({batch_lease("x", {}, number)});
    const auto program = sandbox->program(number - 1);
    wire::Order order{.lease = base::LeaseId(number), .epoch = 7, .until = clock.now()};
    order.action = action;
    market.set_orders({order});
    EXPECT_TRUE(eventually([&] {
      clock.advance(seconds(1));
      return program->gone();
    })) << to_string(action);
    EXPECT_EQ(finish("outcome", id), outcome) << to_string(action);
  }
}

TEST_F(AgentTest, AnAgentWhoseTokenWasRevokedSaysSoAndDrainsWhatRuns) {
  market.set_leases({batch_lease("x")});
  start();
  const auto program = sandbox->program();
  market.usually(kAskWork,
                 [](const net::Request&) { return refused(Code::unauthenticated, "bad token"); });
  ASSERT_TRUE(eventually([&] { return program->terminated(); }));
  program->end({.code = 143});
  const auto ran = result.get();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::unauthenticated);
  EXPECT_EQ(ran.error().message, "bad token");
}

TEST_F(AgentTest, WhenTheOwnerIsBackProgramsGetNoticeAndNewLeasesGoElsewhere) {
  std::atomic<bool> here = false, told = false;
  options.owner_is_here = [&](double) { return here.load(); };
  options.on_owner = [&](bool is_here) { told = is_here; };
  market.set_leases({batch_lease("x")});
  start();
  const auto program = sandbox->program();
  here = true;
  ASSERT_TRUE(eventually([&] { return program->terminated(); }));
  EXPECT_TRUE(told);
  clock.advance(seconds(19));
  EXPECT_FALSE(program->killed()) << "thirty seconds of notice, ten of them to save";
  clock.advance(seconds(2));
  ASSERT_TRUE(eventually([&] { return finish("outcome") == "released"; }));
  EXPECT_EQ(finish("detail"), "the owner is back");

  market.set_leases({batch_lease("x", {}, 2)});
  ASSERT_TRUE(eventually([&] { return finish("outcome", "l2") == "released"; }));
  EXPECT_EQ(finish("detail", "l2"), "this machine cannot run it now");

  here = false;
  ASSERT_TRUE(eventually([&] { return !told; }));
  market.set_leases({batch_lease("x", {}, 3)});
  (void)sandbox->program(1);
}

TEST_F(AgentTest, TheOwnersWatcherKnowsHowMuchTheProgramsUse) {
  std::atomic<double> seconds_used = 0;
  options.owner_is_here = [&](double used) {
    seconds_used = used;
    return false;
  };
  market.set_leases({batch_lease("a"), batch_lease("b", {}, 2)});
  start();
  const auto first = sandbox->program(0), second = sandbox->program(1);
  EXPECT_TRUE(eventually([&] { return seconds_used == 3; })) << seconds_used;  // 1.5 each.
  first->end({});
  ASSERT_TRUE(eventually([&] { return first->gone(); }));
  EXPECT_TRUE(eventually([&] { return seconds_used == 3; })) << "what has ended still counts";
}

TEST_F(AgentTest, WhatAKilledAgentLeftIsHandedBackAndAJobWithoutAProgramFails) {
  market.set_leases({lease(1, base::LeaseState::running), lease(2, base::LeaseState::granted)});
  start();
  ASSERT_TRUE(eventually([&] { return finish("outcome", "l2") != "no report"; }));
  EXPECT_EQ(finish("outcome", "l1"), "released");
  EXPECT_EQ(finish("detail", "l1"), "the agent was restarted");
  EXPECT_EQ(finish("outcome", "l2"), "failed");
  EXPECT_THAT(finish("detail", "l2"), HasSubstr("the job has no program"));
  EXPECT_EQ(sandbox->count(), 0U);
}

TEST_F(AgentTest, AMarketThatWasAwayIsToldAgainWhatTheMachineHolds) {
  start();
  ASSERT_TRUE(eventually([&] { return market.count(kBeat) >= 3; }));
  const auto telling = [&] {
    std::size_t out = 0;
    for (const auto& beat : market.bodies(kBeat))
      out += field(beat, "holds") != "null" && field(beat, "holds") != "";
    return out;
  };
  EXPECT_EQ(telling(), 1U) << "only when it has changed";
  market.set_away(true);
  const auto polls = market.count(kAskWork);
  ASSERT_TRUE(eventually([&] { return market.count(kAskWork) > polls + 2; }));
  market.set_away(false);
  const auto told = telling();
  EXPECT_TRUE(eventually([&] { return telling() > told; })) << "it may have forgotten";
  market.set_leases({batch_lease("x")});
  (void)sandbox->program();
}

TEST_F(AgentTest, AChallengeIsMet) {
  start();
  const auto* what = "POST /v1/machines/m1/challenge";
  const wire::Challenge fill{
      .id = "2", .kind = wire::ChallengeKind::fill, .seeds = {"5"}, .memory_mib = 1};
  const wire::Challenge read{.id = "3", .kind = wire::ChallengeKind::read, .seeds = {"6"}};
  const auto verdict = [](std::optional<wire::Challenge> next) {
    return net::Response{.body = wire::to_json(wire::ChallengeVerdict{true, {}, std::move(next)})};
  };
  market.on(what, {verdict(fill), verdict(read), verdict({})});
  market.set_orders({}, wire::Challenge{.id = "1", .seeds = {"7", "8"}, .steps = 100});
  ASSERT_TRUE(eventually([&] { return market.count(what) >= 3; }));
  market.set_orders({});
  const auto bodies = market.bodies(what);
  EXPECT_EQ(field(bodies[0], "id"), "1");
  EXPECT_EQ(field(bodies[0], "results.1"), std::to_string(base::lane(8, 100)));
  EXPECT_EQ(field(bodies[1], "id"), "2");
  EXPECT_EQ(field(bodies[2], "results.9"), std::to_string(base::group_of(5, 1, 6, 9, 1)));
  EXPECT_TRUE(eventually([&] { return told().contains("met a challenge"); }));
}

TEST_F(AgentTest, OnlyAnUnprovedMachineSaysThatOthersUseItAndItPutsChallengesOff) {
  const std::string root = folder / "root";
  std::filesystem::create_directories(root + "/proc");
  const auto work = [&](long seconds) {
    const auto path = root + "/proc/stat.new";
    std::ofstream(path) << "cpu0 " << seconds * sysconf(_SC_CLK_TCK) << " 0 0 0 0 0 0\n";
    std::filesystem::rename(path, root + "/proc/stat");
  };
  work(1'000'000);
  options.busy = {.root = root, .cores = {0}};
  const auto next_beat = [&] {
    const auto beats = market.count(kBeat);
    return eventually([&] { return market.count(kBeat) > beats + 1; });
  };
  const auto busy = [&](std::string_view what) {
    return field(market.bodies(kBeat).back(), std::string("busy.") + std::string(what));
  };
  market.set_orders({});
  start();
  ASSERT_TRUE(next_beat());
  work(1'000'099);
  clock.advance(seconds(100));
  ASSERT_TRUE(next_beat());
  EXPECT_EQ(busy("of"), "") << "it lends, so nobody needs to know";
  const auto* what = "POST /v1/machines/m1/challenge";
  market.usually(what, [](const net::Request&) {
    return net::Response{.body =
                             wire::to_json(wire::ChallengeVerdict{false, "it was too busy", {}})};
  });
  market.set_orders({}, wire::Challenge{.id = "1", .seeds = {"7"}, .steps = 100}, true);
  ASSERT_TRUE(eventually([&] { return !busy("put_off").empty(); }));
  market.set_orders({});
  EXPECT_EQ(busy("of"), "1");
  EXPECT_THAT(told(), HasSubstr("not yet proved: other programs use 1.0 of 1 core since "));
}

TEST_F(AgentTest, AChallengeThatCannotBeMetIsAnsweredWithTheReason) {
  start();
  const auto* what = "POST /v1/machines/m1/challenge";
  market.on(what,
            {net::Response{.body = wire::to_json(wire::ChallengeVerdict{false, "too slow"})}});
  market.set_orders({}, wire::Challenge{.id = "1",
                                        .kind = wire::ChallengeKind::fill,
                                        .seeds = {"5"},
                                        .memory_mib = std::int64_t{1} << 40});
  ASSERT_TRUE(eventually([&] { return market.count(what) > 0; }));
  market.set_orders({});
  EXPECT_THAT(field(market.bodies(what)[0], "trouble"), HasSubstr("MiB"));
  EXPECT_TRUE(eventually([&] { return told().contains("too slow"); }));
}

TEST_F(AgentTest, AStopEndsTheWaitForWorkAtOnce) {
  start();
  ASSERT_TRUE(eventually([&] { return market.count(kAskWork) > 0; }));
  agent->stop();
  const auto ran = result.get();
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_FALSE(*ran);
}

TEST_F(AgentTest, AStopDrainsWhatRunsAndTakesNoLongerThanItMay) {
  options.drain = seconds(90);
  market.set_leases({batch_lease("x"), batch_lease("y", {}, 2)});
  start();
  const auto stubborn = sandbox->program(0), other = sandbox->program(1);
  agent->stop();
  ASSERT_TRUE(eventually([&] { return stubborn->terminated() && other->terminated(); }));
  EXPECT_FALSE(ended());
  clock.advance(seconds(81));
  ASSERT_TRUE(eventually([&] { return ended(); }));
  EXPECT_TRUE(stubborn->gone());
  EXPECT_EQ(finish("outcome", "l1"), "released");
  EXPECT_EQ(finish("detail", "l2"), "the lender ends");
}

}  // namespace
}  // namespace souk::agent
