// One round of one class with a large book: the whole Clear command, from reading the supply to the
// last lease applied. See README.md.

#include <algorithm>
#include <vector>

#include "bench/report.h"
#include "bench/world.h"

namespace souk::bench {
namespace {

struct Case {
  std::string mechanism;
  bool constrained = false;       // A tenth of the jobs.
  std::int32_t most_workers = 1;  // Each job wants 1 to this many.
};

struct Measured {
  double ms = 0;
  double apply_ms = 0;  // Of `ms`.
  std::size_t leases = 0;
};

market::Constraints any_constraints(base::Random& random) {
  market::Constraints c;
  switch (random.below(4)) {
    case 0:
      c.packages = {"python3-torch"};
      break;
    case 1:
      c.regions = {"eu-west", "us-east"};
      break;
    case 2:
      c.max_rtt_ms = 100;
      break;
    default:
      c.lenders_refused = {base::AccountId(2 + random.below(4))};
      break;
  }
  return c;
}

Measured measure(const Case& c, std::uint64_t offers, std::uint64_t jobs, std::uint64_t seed) {
  World world({.lenders = 10'000, .borrowers = 1'000, .machines = offers, .slots = 1}, {}, seed);
  auto slot_class = world.state.slot_class(kClass);
  slot_class.mechanism = c.mechanism;
  if (c.mechanism == "posted") slot_class.params["price"] = "0.25";
  world.run(World::kOperator, market::SetClass{slot_class});
  // A market clears every few seconds, so it knows its offers' windows when the jobs arrive.
  world.run(market::kSystem, market::Clear{kClass, seed});
  for (std::uint64_t i = 0; i < jobs; ++i) {
    auto terms = world.any_job(c.most_workers);
    if (c.constrained && world.random.chance(10)) terms.constraints = any_constraints(world.random);
    world.run(world.borrower(i), market::SubmitJob{"job", "batch", kClass, std::move(terms)});
  }
  const Request request{world.now + base::seconds(1), market::kSystem, market::Clear{kClass, seed}};
  const CpuWatch whole;
  const auto decision = must(market::decide(world.state, request));
  const CpuWatch applying;
  for (const auto& event : decision.events) apply(world.state, decision.at, event);
  const double apply_ms = applying.seconds() * 1e3;
  return {whole.seconds() * 1e3, apply_ms, world.state.leases.size()};
}

// What no clearing can do without: the same prices, put in order.
double sort_ms(std::uint64_t offers, std::uint64_t jobs) {
  base::Random random(1);
  std::vector<std::pair<std::int64_t, std::uint32_t>> asks, bids;
  for (std::uint32_t i = 0; i < offers; ++i) asks.emplace_back(random.between(100'000, 300'000), i);
  for (std::uint32_t i = 0; i < jobs; ++i) bids.emplace_back(random.between(200'000, 400'000), i);
  const CpuWatch watch;
  std::ranges::sort(asks);
  std::ranges::sort(bids);
  const double ms = watch.seconds() * 1e3;
  if (asks.front() > asks.back() || bids.front() > bids.back()) give_up("std::sort is broken");
  return ms;
}

struct Medians {
  double ms = 0, apply_ms = 0;
  std::size_t leases = 0;
};

Medians medians(const Case& c, std::uint64_t offers, std::uint64_t jobs, std::uint64_t runs) {
  std::vector<double> times, applies;
  Medians out;
  for (std::uint64_t i = 0; i < runs; ++i) {
    const auto m = measure(c, offers, jobs, i + 1);
    times.push_back(m.ms);
    applies.push_back(m.apply_ms);
    out.leases = m.leases;
  }
  out.ms = median(times);
  out.apply_ms = median(applies);
  return out;
}

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"offers", "jobs", "runs"});
  const auto offers = flags.number("offers", 100'000), jobs = flags.number("jobs", 10'000);
  const auto runs = flags.number("runs", 3);
  Report report(
      fmt::format("clearing_bench: {} offers against {} jobs of one class, whole command, "
                  "median of {} runs",
                  offers, jobs, runs),
      flags);
  std::vector<double> sorts;
  for (std::size_t i = 0; i < runs; ++i) sorts.push_back(sort_ms(offers, jobs));
  for (const std::int32_t workers : {1, 4}) {
    for (const char* mechanism : {"k-double", "posted"}) {
      for (const bool constrained : {false, true}) {
        const Case c{mechanism, constrained, workers};
        const auto m = medians(c, offers, jobs, runs);
        const auto what =
            fmt::format("{}, jobs of {}{}", mechanism,
                        workers == 1 ? "1 worker" : fmt::format("1-{} workers", workers),
                        constrained ? ", 10% with constraints" : "");
        report.add({.what = what,
                    .result = m.ms,
                    .unit = "ms",
                    .baseline = median(sorts),
                    .baseline_is = "std::sort of the prices",
                    .bar = 50,
                    .at_most = true});
        report.note(fmt::format("{}: {} leases; {:.1f} ms of it applying them", what, m.leases,
                                m.apply_ms));
      }
    }
  }
  // Rules that solve a program first.
  for (const char* mechanism : {"las", "ftf", "makespan", "cost-slo", "hadar", "price-discovery"}) {
    const auto m = medians({mechanism, false, 4}, offers, jobs, runs);
    report.add({.what = fmt::format("{}, jobs of 1-4 workers", mechanism),
                .result = m.ms,
                .unit = "ms",
                .baseline = median(sorts),
                .baseline_is = "std::sort of the prices",
                .bar = 500,
                .at_most = true});
  }
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
