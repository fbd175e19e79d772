// The lab: events of a whole simulated market a second on one core, beside the same loop written
// plainly in Python, and one clearing of a million orders by every rule. See README.md.

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bench/report.h"
#include "lab/worlds/market_world.h"
#include "mechanism/mechanism.h"

namespace souk::bench {
namespace {

// The market of bench/lab_loop.py.
constexpr std::string_view kMarket = R"(
name: bench
world: market
horizon: {}h
round: 1m
seeds: 1
mechanisms: [k-double]
market: {{term: 1h, settle_every: 5m, price: 0.4}}
lenders:
  - name: lenders
    count: 300
    units: 4
    costs: {{uniform: [0.1, 0.6]}}
borrowers:
  - name: borrowers
    count: 600
    arrivals: {{poisson: 1}}
    run_time: {{exponential: 40m}}
    values: {{lognormal: [0.6, 0.5]}}
    patience: 1h
)";

struct Speed {
  double events = 0, seconds = 0;
  [[nodiscard]] double rate() const { return events / seconds; }
};

Speed ours(std::size_t hours) {
  const auto scenario =
      must(lab::parse_scenario(fmt::format(fmt::runtime(kMarket), hours), "bench", "."));
  const CpuWatch watch;
  const auto record = must(lab::run_market(scenario, {}, scenario.mechanisms.front(), 1));
  return {static_cast<double>(record.events), watch.seconds()};
}

Speed pythons(const std::string& script, std::size_t hours) {
  auto* pipe = ::popen(fmt::format("python3 '{}' {}", script, hours).c_str(), "r");
  if (pipe == nullptr) give_up("cannot start python3");
  char line[200] = {};
  const bool read = std::fgets(line, sizeof line, pipe) != nullptr;
  if (::pclose(pipe) != 0 || !read) give_up(script + " did not answer");
  Speed out;
  if (std::sscanf(line, R"({"events": %lf, "seconds": %lf})", &out.events, &out.seconds) != 2)
    give_up(script + " said " + line);
  return out;
}

// Orders of one unit each, half of them bids, at prices that mostly cross.
mechanism::Book book(std::size_t orders) {
  base::Random random(1);
  mechanism::Book out{.reference = base::Credits(300'000)};
  for (std::uint64_t i = 0; i < orders / 2; ++i) {
    out.bids.push_back({i + 1, base::Credits(random.between(100'000, 500'000)), 1, 1, i % 1'000});
    out.asks.push_back({i + 1, base::Credits(random.between(100'000, 500'000))});
  }
  return out;
}

double sort_seconds(const mechanism::Book& b) {
  auto bids = b.bids;
  auto asks = b.asks;
  const CpuWatch watch;
  std::ranges::sort(bids, std::ranges::greater(), &mechanism::Bid::limit);
  std::ranges::sort(asks, {}, &mechanism::Ask::reserve);
  const auto seconds = watch.seconds();
  if (bids.front().limit < bids.back().limit) give_up("std::sort is broken");
  return seconds;
}

// Rules that solve a program first get a tenth of the orders.
void clear_all(std::size_t most_orders, Report& report) {
  const auto all = book(most_orders), tenth = book(most_orders / 10);
  const auto sorting_all = sort_seconds(all), sorting_tenth = sort_seconds(tenth);
  for (const auto& entry : mechanism::all()) {
    const auto rule = must(mechanism::make(entry.name));
    const auto& b = rule->wants_rates() ? tenth : all;
    const auto orders = b.bids.size() + b.asks.size();
    const auto sorting = rule->wants_rates() ? sorting_tenth : sorting_all;
    if (!rule->accepts(b)) continue;  // Combinatorial: no such book.
    base::Random random(1);
    const CpuWatch watch;
    const auto outcome = rule->clear(b, random);
    const auto seconds = watch.seconds();
    if (!mechanism::verify(b, outcome)) give_up(fmt::format("{} broke a rule", entry.name));
    if (outcome.trades.empty()) give_up(fmt::format("{} traded nothing", entry.name));
    report.add({.what = fmt::format("{}, {} orders", entry.name, orders),
                .result = seconds,
                .unit = "s",
                .baseline = sorting,
                .baseline_is = "sorting both sides",
                .bar = 0.5,
                .at_most = true});
  }
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"hours", "orders", "python"});
  Report report("lab", flags);
  const auto hours = flags.number("hours", 240);
  const auto own = ours(hours);
  const auto loop = pythons(flags.text("python", "bench/lab_loop.py"), 24);
  report.add({.what = fmt::format("a market of {} hours, {:.0f} events", hours, own.events),
              .result = own.rate(),
              .unit = "events/s",
              .baseline = loop.rate(),
              .baseline_is = "the loop in Python",
              .bar = 1e6});
  clear_all(flags.number("orders", 1'000'000), report);
  report.note("processor time of one thread; events are those of the market's journal");
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
