#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "lab/strategies/strategy.h"
#include "lab/worlds/distribution.h"
#include "market/window.h"
#include "mechanism/mechanism.h"

// An experiment: who trades, for how long, under which mechanisms. What a scenario file says
// (scenario_file.cc; examples/lab has some), checked: whatever a Scenario holds can be run.

namespace souk::lab {

using base::Credits;
using base::Duration;
using base::Result;

// book: in each period every trader names one price and the mechanism clears one book.
// market: the market's own core under a virtual clock.
SOUK_ENUM(World, book, market)

struct MechanismChoice {
  std::string name;
  mechanism::Params params;
  std::string label;  // Unique: "posted", "posted(price=2)".
};

// When jobs come. once: at the beginning. poisson: `per_hour` from each user. every: one each
// `every` seconds. at: at these seconds. trace: as the trace says.
enum class ArrivalKind : std::uint8_t { once, poisson, every, at, trace };
struct Arrivals {
  ArrivalKind kind = ArrivalKind::once;
  double per_hour = 0;
  double every = 0;
  std::vector<double> at;
};

// Machines leave after `up` and return after `down` seconds; with notice they first let their work
// finish or save itself.
struct Churn {
  Distribution up, down;
  bool notice = false;
};

// Jobs from a file: when they come, how long they run, on how many workers. Users take them in
// turn.
SOUK_ENUM(TraceFormat, gavel, philly)
struct TraceSource {
  TraceFormat format = TraceFormat::gavel;
  std::string file;
  std::string throughputs;      // Gavel: steps per second of each kind of job, a JSON file,
  std::string worker = "v100";  // on this kind of worker,
  double steps_per_second = 0;  // or the same for all.
  std::int64_t most = 100'000;  // Jobs.
  double from = 0;              // Seconds of it that are left out at the beginning.
  double speed = 1;             // Arrivals come so many times faster.
};

struct Population {
  std::string name;
  bool lends = false;
  std::int32_t count = 1;
  Distribution units = Distribution::always(1);  // Slots of a machine, workers of a job.
  Distribution prices;                           // Values or costs, per slot-hour.
  bool keep = false;                             // A book's traders keep their first draw.
  StrategyChoice strategy;
  double credits = 10'000;  // Of each at the beginning.

  // Of a market:
  std::string slot_class = "c1";
  Duration revise;  // How often prices are reconsidered; 0: never.
  // borrowers
  Arrivals arrivals;
  Distribution run_time = Distribution::always(3600);
  bool gang = false;                 // All workers at once, or none.
  std::optional<Duration> patience;  // Jobs that waited so long are withdrawn.
  bool leaves = false;               // Users who waited too long submit nothing more.
  Duration checkpoint;               // Work is saved so often; 0: never.
  std::optional<TraceSource> trace;
  // lenders
  std::vector<market::WeeklyWindow> windows;
  std::optional<Churn> churn;
  Duration longest_lease = base::hours(24);
};

// From `at`, for `length`: demand or supply times a factor, or a population of lenders dies.
struct Shock {
  double at = 0, length = 0;  // Seconds, or periods.
  double demand = 1, supply = 1;
  std::string dies;  // For good.

  [[nodiscard]] bool covers(double t) const { return at <= t && t < at + length; }
};

// At `at` a share of the lenders vanishes without a word, for good.
struct Fault {
  double at = 0;
  std::string lenders;  // Which population; empty: all.
  double share = 0;
};

struct MarketRules {
  Duration term = base::hours(1);
  Duration settle_every = base::minutes(5);
  Duration start_after = base::seconds(10);  // From lease to running program.
  std::optional<Credits> price;              // Suggested at first; else the class's own.
  double fee = 0;
};

struct RegretSearch {
  std::int32_t books = 8;    // Sampled from the run.
  std::int32_t traders = 8;  // Of each book.
  std::int32_t prices = 24;  // That each of them tries.
};

inline constexpr std::size_t kMostSeeds = 10'000;

struct Scenario {
  std::string name, description;
  World world = World::book;
  std::int64_t periods = 1;  // Of a book.
  std::int32_t rounds = 1;   // In each period: whoever has not traded may try again.
  Duration horizon;          // Of a market.
  Duration round = base::minutes(1);
  std::vector<std::uint64_t> seeds;
  std::vector<MechanismChoice> mechanisms;
  std::vector<Population> lenders, borrowers;
  std::vector<Shock> shocks;
  std::vector<Fault> faults;
  MarketRules rules;
  RegretSearch regret;
  std::string file;    // Its name, for messages.
  std::string folder;  // That traces are looked for in.
  std::string hash;    // Of its text.

  // The product of the factors in force.
  [[nodiscard]] double demand_at(double t) const;
  [[nodiscard]] double supply_at(double t) const;
  // Prices that anybody could think of: no more than any value or cost.
  [[nodiscard]] double lowest_price() const;
  [[nodiscard]] double highest_price() const;
};

// "k-double", "posted:price=2": as on a command line. Checked like those of a file.
[[nodiscard]] Result<MechanismChoice> parse_mechanism(std::string_view text, World world);

// Runs `scenario` under these instead, each as parse_mechanism() takes it, and with the seeds 1 to
// `seeds`; what is not given stays.
[[nodiscard]] Result<> change(Scenario& scenario, const std::vector<std::string>& mechanisms,
                              std::optional<std::uint64_t> seeds);

// `file` is the name used in errors; `folder` is where traces are.
[[nodiscard]] Result<Scenario> parse_scenario(std::string_view text, std::string_view file,
                                              std::string folder);
[[nodiscard]] Result<Scenario> load_scenario(const std::string& path);

}  // namespace souk::lab
