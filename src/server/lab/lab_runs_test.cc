#include "server/lab/lab_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "lab/files/scenario.h"
#include "lab/worlds/experiment.h"
#include "server/http/embedded.h"
#include "server/http/version.h"
#include "server/testing/lab_tasks.h"
#include "server/testing/market.h"

// Experiments that people ask the server for.

namespace souk::server {
namespace {

using base::AccountId;
using testing::Answer;
using testing::endless;
using testing::eventually;
using testing::Fair;
using ::testing::HasSubstr;
using testing::kAnn;
using testing::kBob;
using testing::Person;
using testing::quick;
using ::testing::StartsWith;
using testing::task;
using wire::LabRunId;
using wire::LabState;

class Lab {
 public:
  explicit Lab(base::Duration limit = base::hours(1)) : runs(clock, {.limit = limit}) {}

  LabRunId add(AccountId who, LabTask t) {
    const auto run = runs.add(who, std::move(t), ticket());
    EXPECT_TRUE(run) << (run ? "" : run.error().message);
    return run ? run->id : LabRunId();
  }
  LabRuns::Ticket ticket() { return {testing::new_key(), 0}; }
  LabState state(AccountId who, LabRunId id) { return runs.find(who, id)->run.state; }
  bool becomes(AccountId who, LabRunId id, LabState wanted) {
    return eventually([&] { return state(who, id) == wanted; });
  }

  base::SystemClock clock;
  LabRuns runs;
};

// --- The queue -----------------------------------------------------------------------------------

TEST(LabRuns, OneComputesAtATimeAndTheOthersWaitInOrder) {
  Lab lab;
  const auto first = lab.add(kAnn, endless()), second = lab.add(kBob, endless());
  ASSERT_TRUE(lab.becomes(kAnn, first, LabState::running));
  EXPECT_EQ(lab.state(kBob, second), LabState::queued);
  ASSERT_TRUE(lab.runs.remove(kAnn, first, lab.ticket()));
  EXPECT_TRUE(lab.becomes(kBob, second, LabState::running));
}

TEST(LabRuns, WhatComputesLeavesTheProcessorToTheMarket) {
  const auto before = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
  Lab lab;
  std::atomic<int> nice = 0;
  const auto id = lab.add(kAnn, task([&](const lab::Watch&) -> Result<LabResult> {
                            nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
                            return LabResult{};
                          }));
  ASSERT_TRUE(lab.becomes(kAnn, id, LabState::done));
  EXPECT_EQ(nice, 19);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())), before);
}

TEST(LabRuns, AnAccountHasThreeAtATimeAndTheServerTwenty) {
  Lab lab;
  std::vector<LabRunId> mine;
  for (std::size_t i = 0; i < LabRuns::kWaiting; ++i) mine.push_back(lab.add(kAnn, endless()));
  const auto fourth = lab.runs.add(kAnn, endless(), lab.ticket());
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().code, base::Code::exhausted);
  EXPECT_THAT(fourth.error().message, HasSubstr("3 of your runs"));
  for (auto n = mine.size(); n < LabRuns::kWaitingInAll; ++n) lab.add(AccountId(10 + n), endless());
  const auto too_many = lab.runs.add(kBob, endless(), lab.ticket());
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().message, HasSubstr("20 runs are waiting"));
  ASSERT_TRUE(lab.runs.remove(kAnn, mine[1], lab.ticket()));
  EXPECT_TRUE(lab.runs.add(kBob, endless(), lab.ticket()));
}

TEST(LabRuns, ACancelledRunStopsAndAnotherCallForgetsIt) {
  Lab lab;
  const auto running = lab.add(kAnn, endless()), waiting = lab.add(kAnn, endless());
  ASSERT_TRUE(lab.becomes(kAnn, running, LabState::running));
  const auto ticket = lab.ticket();
  for (const auto id : {waiting, running}) {
    const auto cancelled = lab.runs.remove(kAnn, id, ticket);
    ASSERT_TRUE(cancelled);
    EXPECT_EQ(cancelled->state, LabState::cancelled);
    EXPECT_TRUE(cancelled->finished);
    EXPECT_TRUE(lab.runs.remove(kAnn, id, ticket)) << "a lost answer is asked for again";
    EXPECT_EQ(lab.state(kAnn, id), LabState::cancelled);
    EXPECT_TRUE(lab.runs.remove(kAnn, id, lab.ticket()));
    EXPECT_FALSE(lab.runs.find(kAnn, id));
  }
  EXPECT_TRUE(lab.becomes(kAnn, lab.add(kAnn, quick()), LabState::done)) << "the thread is free";
}

TEST(LabRuns, ARunThatTakesTooLongIsStoppedAndSaysSo) {
  Lab lab(base::milliseconds(20));
  const auto id = lab.add(kAnn, endless());
  ASSERT_TRUE(lab.becomes(kAnn, id, LabState::failed));
  EXPECT_THAT(*lab.runs.find(kAnn, id)->run.error, HasSubstr("stopped after 20ms"));
}

TEST(LabRuns, AFailureIsToldWithItsReason) {
  Lab lab;
  const auto id = lab.add(kAnn, task([](const lab::Watch&) -> Result<LabResult> {
                            return base::fail(base::Code::invalid, "no such thing", "try another");
                          }));
  ASSERT_TRUE(lab.becomes(kAnn, id, LabState::failed));
  const auto found = lab.runs.find(kAnn, id);
  EXPECT_EQ(*found->run.error, "no such thing (try another)");
  EXPECT_EQ(found->result, nullptr);
}

TEST(LabRuns, ARunThatEatsAllMemoryDoesNotEndTheServer) {
  Lab lab;
  const auto id =
      lab.add(kAnn, task([](const lab::Watch&) -> Result<LabResult> { throw std::bad_alloc(); }));
  ASSERT_TRUE(lab.becomes(kAnn, id, LabState::failed));
  EXPECT_THAT(*lab.runs.find(kAnn, id)->run.error, HasSubstr("memory"));
}

TEST(LabRuns, TheNewestTwentyOfAnAccountAreKept) {
  Lab lab;
  std::vector<LabRunId> ids;
  for (std::size_t i = 0; i < LabRuns::kKept + 2; ++i) {
    ids.push_back(lab.add(kAnn, quick()));
    ASSERT_TRUE(lab.becomes(kAnn, ids.back(), LabState::done));
  }
  const auto all = lab.runs.list(kAnn);
  ASSERT_EQ(all.size(), LabRuns::kKept);
  EXPECT_EQ(all.front().id, ids.back()) << "newest first";
  EXPECT_EQ(all.back().id, ids[2]);
  EXPECT_FALSE(lab.runs.find(kAnn, ids[1]));
}

TEST(LabRuns, LargeResultsPushOutTheOldest) {
  Lab lab;
  const auto large = [&] {
    return task([](const lab::Watch&) {
      return LabResult{.trades = std::string(LabRuns::kKeptBytes / 2, ' ')};
    });
  };
  const auto ada = lab.add(kAnn, large());
  ASSERT_TRUE(lab.becomes(kAnn, ada, LabState::done));
  const auto bob = lab.add(kBob, large());
  ASSERT_TRUE(lab.becomes(kBob, bob, LabState::done));
  EXPECT_FALSE(lab.runs.find(kAnn, ada));
  EXPECT_TRUE(lab.runs.find(kBob, bob)->result);
}

TEST(LabRuns, ARepeatedRequestIsTheSameRun) {
  Lab lab;
  const auto first = lab.runs.add(kAnn, quick(), {"key", 7});
  ASSERT_TRUE(lab.becomes(kAnn, first->id, LabState::done));
  EXPECT_EQ(lab.runs.add(kAnn, quick(), {"key", 7})->id, first->id);
  EXPECT_FALSE(lab.runs.add(kAnn, quick(), {"key", 8})) << "another request";
  EXPECT_NE(lab.runs.add(kBob, quick(), {"key", 7})->id, first->id) << "another account";
}

TEST(LabRuns, StoppingEndsWhatComputes) {
  Lab lab;
  const auto id = lab.add(kAnn, endless());
  ASSERT_TRUE(lab.becomes(kAnn, id, LabState::running));
  lab.runs.stop();
  EXPECT_EQ(lab.state(kAnn, id), LabState::interrupted);
  EXPECT_FALSE(lab.runs.add(kAnn, quick(), lab.ticket()));
}

// --- What may be asked for -----------------------------------------------------------------------

constexpr std::string_view kBook = R"(name: small
world: book
horizon: 10
seeds: 3
mechanisms: [k-double, posted]
borrowers: [{count: 4, values: {uniform: [0, 1]}}]
lenders: [{count: 4, costs: {uniform: [0, 1]}}]
)";

constexpr std::string_view kMarket = R"(name: small
world: market
horizon: 2d
mechanisms: [k-double]
borrowers: [{count: 4, arrivals: {poisson: 1}, values: 1}]
lenders: [{count: 4, costs: 0.1, churn: {up: 10h, down: 1h}}]
)";

// `text` with one thing replaced.
std::string with(std::string_view text, std::string_view what, std::string_view by) {
  std::string out(text);
  const auto at = out.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return out.replace(at, what.size(), by);
}

TEST(LabTask, WhatWouldReachTheServersDiskOrStartAProgramIsRefused) {
  const auto trace = "trace: {format: philly, file: /etc/passwd}";
  const struct {
    wire::NewLabRun body;
    std::string_view says;
  } rows[] = {
      {{.scenario = with(kMarket, "arrivals: {poisson: 1}", trace)}, "this server opens none"},
      {{.scenario = with(kBook, "posted", "{name: external, params: {program: \"touch /tmp/x\"}}")},
       "starts no program"},
      {{.scenario = std::string(kBook), .mechanisms = {"external:program=true"}},
       "starts no program"}};
  for (const auto& row : rows) {
    const auto refused = scenario_task(row.body);
    ASSERT_FALSE(refused) << row.body.scenario;
    EXPECT_EQ(refused.error().code, base::Code::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr(row.says));
  }
  const auto replay = replay_task({.mechanisms = {"external:program=true"}}, {}, {}, "journal.db");
  ASSERT_FALSE(replay);
  EXPECT_THAT(replay.error().message, HasSubstr("starts no program"));
}

TEST(LabTask, EverySizeHasALimitThatTheRefusalNames) {
  const struct {
    std::string scenario;
    std::string_view says, most;
  } rows[] = {
      {with(kBook, "seeds: 3", "seeds: 201"), "201 seeds", "200 at most"},
      {with(kBook, "count: 4", "count: 1997"), "2001 agents", "2000 at most"},
      {with(kBook, "horizon: 10", "horizon: 104167"), "5000016 prices named", "5000000 at most"},
      {with(kBook, "count: 4", "count: 4, units: 10001"), "10001 units", "10000 at most"},
      {with(kBook, "seeds: 3", "regret: {prices: 257}"), "257 books, traders or prices", "256 at"},
      {with(kMarket, "poisson: 1", "poisson: 261"), "50112 jobs", "50000 at most"},
      {with(
           kMarket, "mechanisms:",
           "shocks: [{at: 0s, for: 1h, demand: 100}, {at: 1d, for: 1h, demand: 100}]\nmechanisms:"),
       "1920000 jobs", "50000 at most"},
      {std::string(kBook) + "#" + std::string(64 << 10, ' '), "the scenario has", "65536 at most"},
  };
  for (const auto& row : rows) {
    const auto refused = scenario_task({.scenario = row.scenario});
    ASSERT_FALSE(refused) << row.says;
    EXPECT_EQ(refused.error().code, base::Code::too_large);
    EXPECT_THAT(refused.error().message, HasSubstr(row.says));
    EXPECT_THAT(refused.error().hint, HasSubstr(row.most));
    EXPECT_EQ(refused.error().field, "scenario");
  }
  EXPECT_TRUE(scenario_task({.scenario = with(kBook, "seeds: 3", "seeds: 200")}));
  EXPECT_TRUE(scenario_task({.scenario = with(kBook, "count: 4", "count: 1996")}));
}

TEST(LabTask, MachinesThatComeAndGoEverySecondAreTooMuch) {
  // What all machines share is no part of how long each is there.
  const auto restless =
      with(kMarket, "up: 10h, down: 1h", "up: {exponential: 1s, common: 100h}, down: 1s");
  const auto refused = scenario_task({.scenario = restless});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("345600 departures"));
}

TEST(LabTask, AMistakeInAScenarioIsNamedByItsLine) {
  const auto refused = scenario_task({.scenario = with(kBook, "horizon", "horizn")});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, StartsWith("scenario:3:"));
  EXPECT_EQ(refused.error().field, "scenario");
}

TEST(LabTask, WhatComputesEndsWhenItIsToldTo) {
  const auto task = scenario_task(
      {.scenario = with(with(kBook, "horizon: 10", "horizon: 100000"), "seeds: 3", "seeds: 1")});
  ASSERT_TRUE(task);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(task->compute({.stop = stop.get_token()}));
}

TEST(LabTask, EveryExampleIsAScenarioToBeginWith) {
  const auto& all = lab_scenarios();
  ASSERT_EQ(all.size(), example_scenarios().size());
  ASSERT_GE(all.size(), 4u);
  for (const auto& s : all) EXPECT_FALSE(s.summary.empty()) << s.name;
}

// --- Over HTTP -----------------------------------------------------------------------------------

std::string example(std::string_view name) {
  for (const auto& s : lab_scenarios())
    if (s.name == name) return s.scenario;
  ADD_FAILURE() << "there is no example " << name;
  return {};
}

std::string body_of(const std::string& scenario, std::string_view more = "") {
  return fmt::format(R"({{"scenario":{}{}}})", wire::to_json(scenario), more);
}

struct Campus : Fair {
  explicit Campus(const Options& options = testing::in_memory()) : Fair(options) {}

  std::string start(const Person& who, const std::string& body) {
    return must("POST", "/v1/lab/runs", who.token, body).at("id");
  }
  Answer run(const Person& who, const std::string& id) {
    return must("GET", "/v1/lab/runs/" + id, who.token);
  }
  // The run when it has come to its end.
  Answer finished(const Person& who, const std::string& id) {
    EXPECT_TRUE(eventually([&] {
      const auto state = run(who, id).at("state");
      return state != "queued" && state != "running";
    }));
    return run(who, id);
  }
};

// Some minutes of computing.
std::string long_run() {
  return body_of(example("cluster"), R"(,"seeds":200,"mechanisms":["k-double","posted","mcafee"])");
}

TEST(LabOverHttp, AScenarioRunsAndItsSummaryIsWhatTheLabSays) {
  Campus campus;
  const auto& ada = campus.lender;
  const auto listed = campus.must("GET", "/v1/lab/scenarios", ada.token);
  EXPECT_EQ(listed.at("limits.time"), "2m");
  EXPECT_EQ(listed.count(), example_scenarios().size());

  const auto smith = example("smith");
  const auto made = campus.must("POST", "/v1/lab/runs", ada.token,
                                body_of(smith, R"(,"seeds":3,"mechanisms":["k-double","mcafee"])"));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("title"), "smith");
  EXPECT_EQ(made.at("seeds"), "3");
  EXPECT_EQ(made.at("mechanisms.1"), "mcafee");
  const auto id = made.at("id");
  const auto done = campus.finished(ada, id);
  ASSERT_EQ(done.at("state"), "done") << done;
  EXPECT_EQ(done.at("progress"), "1");
  EXPECT_NE(done.at("finished"), "");

  auto scenario = *lab::parse_scenario(smith, "smith", "");
  ASSERT_TRUE(lab::change(scenario, {"k-double", "mcafee"}, 3));
  const auto runs = *lab::run_experiment(scenario);
  EXPECT_EQ(done.at("summary"), wire::to_json(lab::summarise(scenario, runs, kVersion)));
  EXPECT_EQ(done.at("comparisons"), wire::to_json(lab::comparisons(scenario, runs)));
  EXPECT_EQ(done.at("comparisons.0.b"), "mcafee");

  const auto report = campus.must("GET", "/v1/lab/runs/" + id + "/report", ada.token);
  EXPECT_THAT(report.type, StartsWith("text/html"));
  EXPECT_THAT(report.body, HasSubstr("Price over time"));
  EXPECT_EQ(net::find_header(report.headers, "Content-Security-Policy"),
            "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'");
  const auto trades = campus.must("GET", "/v1/lab/runs/" + id + "/trades", ada.token);
  EXPECT_THAT(trades.type, StartsWith("text/csv"));
  EXPECT_EQ(trades.body, lab::trades_csv(scenario, runs));

  const auto list = campus.must("GET", "/v1/lab/runs", ada.token);
  ASSERT_EQ(list.count(), 1u);
  EXPECT_EQ(list.at("items.0.id"), id);
  EXPECT_EQ(list.at("items.0.summary"), "") << "a list is short";
}

TEST(LabOverHttp, NobodySeesAnothersRuns) {
  Campus campus;
  const auto id = campus.start(campus.lender, body_of(example("smith"), R"(,"seeds":1)"));
  campus.finished(campus.lender, id);
  for (const auto* other : {&campus.borrower, &campus.boss}) {
    EXPECT_EQ(campus.get("/v1/lab/runs", other->token).count(), 0u);
    for (const auto* what : {"", "/report", "/trades"}) {
      const auto a = campus.get("/v1/lab/runs/" + id + what, other->token);
      EXPECT_EQ(a.status, 404);
      EXPECT_THAT(a.at("detail"), HasSubstr("there is no run"));
    }
    EXPECT_EQ(campus.call("DELETE", "/v1/lab/runs/" + id, other->token).status, 404);
  }
  EXPECT_EQ(campus.get("/v1/lab/runs/x", campus.lender.token).status, 404);
}

TEST(LabOverHttp, ALongRunShowsItsProgressAndCanBeCancelled) {
  Campus campus;
  const auto& bob = campus.borrower;
  const auto id = campus.start(bob, long_run());
  EXPECT_TRUE(eventually([&] { return std::stod(campus.run(bob, id).at("progress")) > 0; }));
  EXPECT_EQ(campus.run(bob, id).at("state"), "running");
  EXPECT_EQ(campus.get("/v1/lab/runs/" + id + "/report", bob.token).status, 409);
  EXPECT_EQ(campus.must("DELETE", "/v1/lab/runs/" + id, bob.token).at("state"), "cancelled");
  EXPECT_EQ(campus.get("/v1/lab/runs/" + id + "/trades", bob.token).status, 409);
  const auto next = campus.start(bob, body_of(example("smith"), R"(,"seeds":1)"));
  EXPECT_EQ(campus.finished(bob, next).at("state"), "done") << "the cancelled one has left";
  campus.must("DELETE", "/v1/lab/runs/" + id, bob.token);
  EXPECT_EQ(campus.get("/v1/lab/runs/" + id, bob.token).status, 404);
}

TEST(LabOverHttp, ALongRunIsStoppedInTimeAndNeverHoldsTheMarketUp) {
  auto options = testing::in_memory();
  options.lab_limit = base::milliseconds(300);
  Campus campus(options);
  const auto id = campus.start(campus.borrower, long_run());
  campus.offer(campus.agent, campus.box);
  campus.job(campus.borrower);
  EXPECT_EQ(campus.work(campus.agent, campus.box).count("leases"), 1u);
  const auto ended = campus.finished(campus.borrower, id);
  EXPECT_EQ(ended.at("state"), "failed");
  EXPECT_THAT(ended.at("error"), HasSubstr("stopped after 300ms"));
}

TEST(LabOverHttp, AServerThatStopsDoesNotWaitForARun) {
  auto options = testing::in_memory();
  options.lab_limit = base::hours(10);
  Campus campus(options);
  const auto id = campus.start(campus.borrower, long_run());
  EXPECT_TRUE(eventually([&] { return campus.run(campus.borrower, id).at("state") == "running"; }));
  campus.server().stop();  // Else this test runs out of time.
}

TEST(LabOverHttp, RefusalsAreProblemsThatNameTheFix) {
  Campus campus;
  const auto& bob = campus.borrower.token;
  const auto post = [&](const std::string& body) {
    return campus.call("POST", "/v1/lab/runs", bob, body);
  };
  auto a = post(body_of(std::string(kBook), R"(,"seeds":201)"));
  EXPECT_EQ(a.status, 413);
  EXPECT_THAT(a.at("hint"), HasSubstr("200 at most"));
  a = post(body_of(std::string(kBook), R"(,"mechanisms":["kdouble"])"));
  EXPECT_EQ(a.status, 400);
  EXPECT_THAT(a.at("hint"), HasSubstr("k-double"));
  a = post(body_of(std::string(kBook), R"(,"mechanisms":["external:program=true"])"));
  EXPECT_EQ(a.status, 400);
  a = post(body_of("name: [", ""));
  EXPECT_EQ(a.status, 400);
  EXPECT_EQ(a.at("field"), "scenario");
  EXPECT_EQ(campus.get("/v1/lab/runs", bob).count(), 0u);
}

TEST(LabOverHttp, ALostAnswerIsAskedForAgainAndNothingRunsTwice) {
  Campus campus;
  const net::Headers key{{"Idempotency-Key", "once"}};
  const auto& bob = campus.borrower.token;
  const auto body = body_of(std::string(kBook));
  const auto first = campus.must("POST", "/v1/lab/runs", bob, body, key);
  EXPECT_EQ(campus.must("POST", "/v1/lab/runs", bob, body, key).at("id"), first.at("id"));
  EXPECT_EQ(campus.get("/v1/lab/runs", bob).count(), 1u);
  EXPECT_EQ(campus.call("POST", "/v1/lab/runs", bob, body_of(std::string(kMarket)), key).status,
            409);
}

TEST(LabOverHttp, AnOperatorCanTurnItOff) {
  auto options = testing::in_memory();
  options.lab_limit = {};
  Campus campus(options);
  EXPECT_EQ(campus.must("GET", "/v1/lab/scenarios", campus.boss.token).at("limits.time"), "0s");
  const auto a =
      campus.call("POST", "/v1/lab/runs", campus.boss.token, body_of(std::string(kBook)));
  EXPECT_EQ(a.status, 503);
  EXPECT_THAT(a.at("hint"), HasSubstr("--lab-limit"));
}

// --- Replays -------------------------------------------------------------------------------------

// Rounds in which something trades.
void trade(Fair& fair, int jobs) {
  fair.offer(fair.agent, fair.box, jobs);
  for (int i = 0; i < jobs; ++i) {
    fair.job(fair.borrower);
    EXPECT_TRUE(eventually([&] {
      return fair.get("/v1/machines/" + fair.box + "/work", fair.agent).count("leases") ==
             static_cast<std::size_t>(i + 1);
    }));
  }
}

TEST(LabReplay, ThisMarketsOwnRoundsAreClearedAgain) {
  testing::Folder folder;
  Campus campus(testing::in_folder(folder / "data"));
  trade(campus, 3);
  const auto& boss = campus.boss;
  const auto replay = [&](const std::string& more) {
    const auto made =
        campus.must("POST", "/v1/lab/replays", boss.token,
                    fmt::format(R"({{"mechanisms":["k-double","posted:price=0.75"]{}}})", more));
    return campus.finished(boss, made.at("id"));
  };
  const auto all = replay("");
  ASSERT_EQ(all.at("state"), "done") << all;
  EXPECT_EQ(all.at("kind"), "replay");
  EXPECT_EQ(all.at("replay.items.0.mechanism"), "as it was");
  EXPECT_EQ(all.at("replay.items.0.slots"), "3");
  EXPECT_EQ(all.at("replay.items.1.slots"), "3") << "the rule that it had";
  EXPECT_EQ(all.at("replay.items.2.price"), "0.75") << all;
  EXPECT_EQ(replay(R"(,"class":"c1","days":1)").at("replay.items"), all.at("replay.items"));
  EXPECT_EQ(replay(R"(,"class":"g1")").at("replay.items.0.rounds"), "0");
  // The market goes on meanwhile and after.
  EXPECT_EQ(campus.get("/v1/jobs", campus.borrower.token).count(), 3u);
  campus.job(campus.borrower);

  const auto path = "/v1/lab/runs/" + all.at("id");
  for (const auto* what : {"/report", "/trades"})
    EXPECT_THAT(campus.get(path + what, boss.token).at("detail"), HasSubstr("is a replay"));
}

TEST(LabReplay, IsForOperatorsBecauseItShowsEverybodysBids) {
  testing::Folder folder;
  Campus campus(testing::in_folder(folder / "data"));
  const auto post = [&](const Person& who, std::string_view body) {
    return campus.call("POST", "/v1/lab/replays", who.token, body);
  };
  EXPECT_EQ(post(campus.borrower, R"({"mechanisms":["posted"]})").status, 403);
  EXPECT_EQ(post(campus.boss, R"({"mechanisms":[]})").at("field"), "mechanisms");
  EXPECT_EQ(post(campus.boss, R"({"mechanisms":["posted"],"days":0})").at("field"), "days");
  EXPECT_EQ(post(campus.boss, R"({"mechanisms":["posted"],"shading":1})").at("field"), "shading");
  EXPECT_EQ(post(campus.boss, R"({"mechanisms":["posted"],"class":"c9"})").at("field"), "class");
}

TEST(LabReplay, AMarketInMemoryHasNoHistory) {
  Campus campus;
  const auto a =
      campus.call("POST", "/v1/lab/replays", campus.boss.token, R"({"mechanisms":["posted"]})");
  EXPECT_EQ(a.status, 409);
  EXPECT_THAT(a.at("detail"), HasSubstr("no history"));
  EXPECT_THAT(a.at("hint"), HasSubstr("--data"));
}

}  // namespace
}  // namespace souk::server
