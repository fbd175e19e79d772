#include "lab/worlds/population.h"

#include <gtest/gtest.h>

#include "lab/testing/scenarios.h"
#include "lab/worlds/market_time.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using testing::scenario;

constexpr std::string_view kFiftyUsers = R"(name: p
world: market
horizon: 4d
mechanisms: [k-double]
lenders:
  - name: desktops
    count: 40
    units: {uniform: [1, 8]}
    costs: {uniform: [0.1, 0.5]}
    churn: {up: {exponential: 10h}, down: {exponential: 2h}}
borrowers:
  - name: users
    count: 50
    arrivals: {poisson: 1}
    run_time: {exponential: 1h}
    values: {uniform: [0.2, 1]}
)";

std::size_t arrivals(const Draws& d, double from, double until) {
  std::size_t n = 0;
  for (const auto& j : d.jobs) n += j.arrival >= from && j.arrival < until;
  return n;
}

TEST(Population, JobsComeAtTheRateTheyShould) {
  const auto s = scenario(kFiftyUsers);
  const auto d = draw_market(s, {}, 1);
  EXPECT_NEAR(static_cast<double>(d.jobs.size()), 50 * 96, 4 * 70);
  EXPECT_TRUE(std::ranges::is_sorted(d.jobs, {}, &JobDraw::arrival));
  EXPECT_EQ(d.users.size(), 50u);
}

TEST(Population, AShockDoublesDemandWhileItLasts) {
  const auto s = scenario(std::string(kFiftyUsers) + "shocks:\n  - {at: 1d, for: 1d, demand: 2}\n");
  const auto d = draw_market(s, {}, 1);
  EXPECT_NEAR(static_cast<double>(arrivals(d, 86'400, 172'800)), 2400, 200);
  EXPECT_NEAR(static_cast<double>(arrivals(d, 172'800, 259'200)), 1200, 150);
}

TEST(Population, ItsSizeIsKnownBeforeItIsDrawn) {
  const std::string calm(kFiftyUsers);
  for (const auto& text :
       {calm, calm + "shocks:\n  - {at: 0s, for: 4d, demand: 3}\n",
        std::string(calm).replace(calm.find("poisson: 1"), 10, "every: 2h"),
        std::string(calm).replace(calm.find("poisson: 1"), 10, "at: [1h, 2h]")}) {
    const auto s = scenario(text);
    const auto d = draw_market(s, {}, 1);
    const auto size = draw_size(s);
    double absences = 0;
    for (const auto& m : d.machines) absences += static_cast<double>(m.away.size());
    EXPECT_NEAR(size.jobs / static_cast<double>(d.jobs.size()), 1, .1) << text;
    EXPECT_NEAR(size.departures / absences, 1, .15) << text;
  }
  const auto windows = std::string(calm).replace(calm.find("churn:"), 6,
                                                 "windows: [\"daily 20:00-08:00\"]\n    churn:");
  EXPECT_NEAR(draw_size(scenario(windows)).departures,
              draw_size(scenario(kFiftyUsers)).departures + 40 * 4, 1);
}

TEST(Population, MachinesAreAwayAsOftenAsTheyShould) {
  const auto s = scenario(kFiftyUsers);
  const auto d = draw_market(s, {}, 1);
  double open = 0;
  for (const auto& m : d.machines) {
    open += seconds_open(m, 4 * 86'400) / (4 * 86'400);
    for (std::size_t i = 1; i < m.away.size(); ++i) EXPECT_GT(m.away[i].from, m.away[i - 1].until);
  }
  EXPECT_NEAR(open / 40, 10.0 / 12, .04);
}

TEST(Population, ADeadClassNeverReturns) {
  const auto s = scenario(std::string(kFiftyUsers) + "shocks:\n  - {at: 1d, dies: desktops}\n");
  const auto d = draw_market(s, {}, 1);
  for (const auto& m : d.machines) EXPECT_EQ(m.away.back().until, kForever);
}

TEST(Population, AgentsKeepTheirDrawsWhenOthersJoin) {
  auto s = scenario(kFiftyUsers);
  const auto few = draw_market(s, {}, 1);
  s.borrowers[0].count = 51;
  const auto more = draw_market(s, {}, 1);
  const auto of = [](const Draws& d, std::uint32_t user) {
    std::vector<double> out;
    for (const auto& j : d.jobs)
      if (j.user == user) out.push_back(j.value + j.arrival);
    return out;
  };
  EXPECT_EQ(of(few, 7), of(more, 7));
}

TEST(Population, ATraceIsDealtToTheUsersInTurn) {
  auto s = scenario(kFiftyUsers);
  s.borrowers[0].arrivals = {.kind = ArrivalKind::trace};
  s.borrowers[0].trace = TraceSource{};
  s.borrowers[0].count = 2;
  const auto d = draw_market(s, {{"users", {{0, 60, 1}, {10, 120, 4}, {20, 30, 2}}}}, 1);
  ASSERT_EQ(d.jobs.size(), 3u);
  EXPECT_EQ(d.jobs[1].workers, 4);
  EXPECT_EQ(d.jobs[1].user, 1u);
  EXPECT_EQ(d.jobs[2].user, 0u);
  EXPECT_EQ(d.users[0].mean_run_time, 45);
}

TEST(Population, TheBoundMatchesTheBestWithTheCheapest) {
  auto s = scenario(kFiftyUsers);
  const Population* lenders = &s.lenders[0];
  const Population* users = &s.borrowers[0];
  Draws d;
  d.users = {{users, 0}};
  d.jobs = {{0, 0, 1, 1.0, 3600}, {0, 0, 1, .4, 7200}, {0, 0, 1, .1, 3600}};
  d.machines = {{lenders, 0, 1, .2, {{7200, kForever}}}, {lenders, 1, 1, .9, {{3600, kForever}}}};
  const auto b = bound_of(s, d, "c1");
  EXPECT_NEAR(b.gain, (1 - .2) + (.4 - .2), 1e-9);  // The machine at .9 is dear for .4.
  EXPECT_NEAR(b.offered, 3, 1e-9);
  EXPECT_GE(b.price, .2);
  EXPECT_LE(b.price, .4);
  EXPECT_EQ(bound_of(s, d, "c4").gain, 0);
}

}  // namespace
}  // namespace souk::lab
