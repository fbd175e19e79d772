// The core alone: commands decided and applied per second, on one thread, with no journal and no
// network. See README.md.

#include <array>
#include <map>

#include "bench/report.h"
#include "bench/world.h"

namespace souk::bench {
namespace {

struct Measured {
  double commands_per_second = 0;
  double events_per_command = 0;
};

// Runs `count` commands of this mix. Making them is not timed.
Measured measure(World& world, const Traffic::Mix& mix, std::size_t count) {
  constexpr std::size_t chunk = 10'000;
  Traffic traffic(world, mix);
  double spent = 0;
  const auto before = world.state.events;
  for (std::size_t done = 0; done < count; done += chunk) {
    const auto requests = traffic.next(std::min(chunk, count - done));
    const CpuWatch watch;
    for (const auto& request : requests)
      if (const auto events = market::execute(world.state, request); !events)
        give_up(events.error().message);
    spent += watch.seconds();
  }
  const auto n = static_cast<double>(count);
  return {n / spent, static_cast<double>(world.state.events - before) / n};
}

// What any program that keeps its offers in an ordered map pays to change one: find it, replace
// its terms.
double map_updates_per_second(World& world, std::size_t count) {
  std::map<std::uint64_t, market::OfferTerms> offers;
  for (std::uint64_t i = 0; i < world.state.offers.size(); ++i) offers[i] = world.any_offer();
  std::vector<std::pair<std::uint64_t, market::OfferTerms>> updates;
  for (std::size_t i = 0; i < count; ++i)
    updates.emplace_back(world.random.below(offers.size()), world.any_offer());
  const CpuWatch watch;
  for (const auto& [id, terms] : updates) offers.find(id)->second = terms;
  return static_cast<double>(count) / watch.seconds();
}

struct Case {
  const char* what;
  Traffic::Mix mix;
  std::size_t share;  // Of --commands, in thousandths.
  double bar = 0;
};
constexpr double kBar = 500'000;
const std::array kCases{
    Case{"mix: 60% offer updates, 20% heartbeats, 10% submits, 10% cancels,"
         " ticks, a round in 10,000",
         {},
         1'000,
         kBar},
    Case{"offer updates alone", {.offers = 10'000}, 500, kBar},
    Case{"heartbeats that settle a lease, alone", {.offers = 0, .heartbeats = 10'000}, 300, kBar},
    Case{"job submits alone",
         {.offers = 0, .heartbeats = 0, .submits = 10'000, .cancels = 0, .ticks = 0, .rounds = 0},
         200,
         kBar},
    Case{
        "job submits and cancels",
        {.offers = 0, .heartbeats = 0, .submits = 5'000, .cancels = 5'000, .ticks = 0, .rounds = 0},
        200,
        kBar},
    Case{"ticks alone",
         {.offers = 0, .heartbeats = 0, .submits = 0, .cancels = 0, .ticks = 10'000, .rounds = 0},
         200,
         kBar},
};

int main(int argc, char** argv) {
  const Flags flags(argc, argv, {"commands", "machines", "only"});
  const auto count = flags.number("commands", 1'000'000);
  const WorldSize size{.machines = flags.number("machines", 20'000)};
  const auto only = flags.number("only", 0);  // The number of a case, for profilers; 0: all.
  Report report("core_bench: commands decided and applied, one thread, no I/O", flags);

  constexpr std::uint64_t jobs = 10'000;
  const auto fresh = [&] {
    auto world = std::make_unique<World>(size);
    world->fill(jobs, 4);
    return world;
  };
  auto world = fresh();
  report.note(fmt::format("market: {} accounts, {} offers, {} jobs, {} leases at the start",
                          world->state.accounts.size(), world->state.offers.size(),
                          world->state.jobs.size(), world->state.leases.size()));
  const auto floor = map_updates_per_second(*world, 500'000);

  for (std::size_t i = 0; i < kCases.size(); ++i) {
    if (only != 0 && only != i + 1) continue;
    const auto& c = kCases[i];
    world = fresh();
    const auto m = measure(*world, c.mix, std::max<std::size_t>(1, count * c.share / 1'000));
    report.add({.what = c.what,
                .result = m.commands_per_second,
                .unit = "commands/s",
                .baseline = floor,
                .baseline_is = "std::map updates",
                .bar = c.bar});
    report.note(fmt::format("{}: {:.2f} events a command", c.what, m.events_per_command));
  }
  if (only != 0 && only != kCases.size() + 1) return report.finish();
  world = fresh();
  const auto rounds = measure(
      *world,
      {.offers = 0, .heartbeats = 0, .submits = 0, .cancels = 0, .ticks = 0, .rounds = 10'000},
      std::max<std::size_t>(1, count / 10'000));
  report.add({.what = fmt::format("rounds alone, {} offers", world->state.offers.size()),
              .result = rounds.commands_per_second,
              .unit = "rounds/s",
              .baseline_is = ""});
  return report.finish();
}

}  // namespace
}  // namespace souk::bench

int main(int argc, char** argv) { return souk::bench::main(argc, argv); }
