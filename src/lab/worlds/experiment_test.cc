#include "lab/worlds/experiment.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/report/charts.h"
#include "lab/report/report.h"
#include "lab/report/summary.h"
#include "lab/testing/scenarios.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using testing::scenario;

constexpr std::string_view kBook = R"(name: two <rules>
world: book
horizon: 20
seeds: 6
mechanisms: [k-double, posted]
borrowers:
  - count: 8
    values: {uniform: [0, 1]}
    strategy: zero-intelligence
lenders:
  - count: 8
    costs: {uniform: [0, 1]}
)";

constexpr std::string_view kMarket = R"(name: market
world: market
horizon: 6h
seeds: 3
mechanisms: [k-double, posted]
market: {price: 0.3}
borrowers:
  - count: 10
    arrivals: {poisson: 1}
    run_time: {exponential: 20m}
    values: {uniform: [0.2, 1]}
lenders:
  - count: 10
    costs: {uniform: [0.1, 0.4]}
)";

std::vector<Run> runs_of(const Scenario& s, std::int32_t threads) {
  auto runs = run_experiment(s, {.threads = threads});
  EXPECT_TRUE(runs) << (runs ? "" : wire::one_line(runs.error()));
  return runs ? *std::move(runs) : std::vector<Run>{};
}

TEST(Experiment, TheNumberOfThreadsChangesNotOneByte) {
  for (const auto text : {kBook, kMarket}) {
    const auto s = scenario(text);
    const auto one = runs_of(s, 1), many = runs_of(s, 5);
    EXPECT_EQ(trades_csv(s, one), trades_csv(s, many));
    EXPECT_EQ(wire::to_json(summarise(s, one, "1")), wire::to_json(summarise(s, many, "1")));
  }
}

TEST(Experiment, RunsAreInOrderOfMechanismThenSeed) {
  const auto runs = runs_of(scenario(kBook), 3);
  ASSERT_EQ(runs.size(), 12u);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].mechanism, i / 6);
    EXPECT_EQ(runs[i].seed, i % 6 + 1);
  }
}

TEST(Experiment, AFailureIsReported) {
  auto s = scenario(kMarket);
  s.borrowers[0].slot_class = "nothing";
  const auto runs = run_experiment(s, {.threads = 2});
  ASSERT_FALSE(runs);
  EXPECT_NE(runs.error().message.find("nothing"), std::string::npos);
}

TEST(Experiment, CanBeStoppedAnywhere) {
  for (const auto text : {kBook, kMarket}) {
    auto s = scenario(text);
    s.seeds.resize(1'000, 1);
    std::stop_source stop;
    // At the first sign of life, long before the end.
    const auto runs = run_experiment(
        s,
        {.threads = 2, .progress = [&](double) { stop.request_stop(); }, .stop = stop.get_token()});
    ASSERT_FALSE(runs) << text;
    EXPECT_NE(runs.error().message.find("stopped"), std::string::npos) << runs.error().message;
  }
}

TEST(Experiment, MoreTradesThanMayBeKeptAreAnError) {
  for (const auto text : {kBook, kMarket}) {
    const auto s = scenario(text);
    std::size_t trades = 0;
    for (const auto& r : runs_of(s, 1)) trades += r.trades.size();
    EXPECT_TRUE(run_experiment(s, {.threads = 2, .most_trades = trades}));
    for (const auto most : {trades - 1, trades / 100}) {
      const auto refused = run_experiment(s, {.threads = 2, .most_trades = most});
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, base::Code::too_large);
      EXPECT_NE(refused.error().message.find(std::to_string(most)), std::string::npos);
    }
  }
}

TEST(Experiment, PairedDifferencesAreSharperThanTheirParts) {
  const auto s = scenario(kBook);
  const auto runs = runs_of(s, 2);
  for (const auto& row : compare(s, runs, 0, 1)) {
    EXPECT_NEAR(row.difference.mean, row.b.mean - row.a.mean, 1e-9);
    if (row.metric == "units") {
      EXPECT_TRUE(row.significant || row.difference.low <= 0);
    }
  }
  const auto pairs = comparisons(s, runs);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].a, "k-double");
  EXPECT_EQ(pairs[0].b, "posted");
  EXPECT_EQ(wire::to_json(pairs[0].metrics), wire::to_json(compare(s, runs, 0, 1)));
  // A rule compared with itself differs in nothing.
  for (const auto& row : compare(s, runs, 0, 0)) {
    EXPECT_EQ(row.difference.high, 0);
    EXPECT_FALSE(row.significant);
  }
}

TEST(Report, IsMadeFromTheTwoFilesAlone) {
  const auto s = scenario(kMarket);
  const auto runs = runs_of(s, 2);
  const auto summary = summarise(s, runs, "1.2.3");
  const auto again = wire::from_json<Summary>(wire::to_json(summary));
  ASSERT_TRUE(again) << wire::one_line(again.error());
  const auto prices = price_series(trades_csv(s, runs), "trades.csv");
  ASSERT_TRUE(prices) << wire::one_line(prices.error());
  EXPECT_EQ(prices->size(), 2u);
  const auto html = report_html(*again, *prices);
  EXPECT_EQ(html, report_html(summary, *prices));
  for (const auto* part : {"Price over time", "Efficiency", "Who gains", "Waits", "All metrics",
                           "How to reproduce", "1.2.3", "prefers-color-scheme"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  // Nothing is loaded from anywhere, and nothing runs.
  for (const auto* part : {"http:", "https:", "<script", "@import", "url("})
    EXPECT_EQ(html.find(part), std::string::npos) << part;
}

TEST(Report, NamesAreNotMarkup) {
  const auto s = scenario(kBook);
  const auto html = report_html(summarise(s, runs_of(s, 2), "1"), {});
  EXPECT_EQ(html.find("<rules>"), std::string::npos);
  EXPECT_NE(html.find("two &lt;rules&gt;"), std::string::npos);
}

TEST(Report, PricesThatDifferByRoundingAloneAreOnePrice) {
  const auto next = std::nextafter(2.978, 3.0);
  const std::vector<Line> lines{{"a", {{0, 2.978, 2.978, 2.978}, {1, next, 2.978, next}}}};
  const auto chart = line_chart("prices", {"time"}, {"price"}, lines);
  EXPECT_LT(chart.size(), 5'000u);
  EXPECT_NE(chart.find(">3<"), std::string::npos) << chart;
}

TEST(Report, DamagedTradesAreNamedByTheirLine) {
  const auto bad = price_series("mechanism,seed\nk-double,1,x\n", "t.csv");
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().message.starts_with("t.csv:2:"));
  EXPECT_TRUE(price_series("mechanism\n\"a, b\",1,0,1,2,3,0.5,0.5,1,0,1,0\n", "t.csv"));
}

}  // namespace
}  // namespace souk::lab
