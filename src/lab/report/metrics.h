#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"

// What a run of a world is judged by. Every number of a report is computed here, from what the
// world wrote down.

namespace souk::lab {

using base::Credits;

// One trade, as trades.csv has it. Prices are per slot-hour.
struct TradeRow {
  double time = 0;                 // The period of a book, or seconds of a market.
  std::uint64_t bid = 0, ask = 0;  // Of a book: the traders. Of a market: the job and the offer.
  std::int32_t units = 0;
  Credits pays, gets;
  Credits limit, reserve;  // What they had said,
  Credits value, cost;     // and what is true.
  double equilibrium = 0;  // The competitive price then; 0: there is none.
};

// One clearing that traded.
struct PricePoint {
  double time = 0;
  double price = 0;        // Mean, per unit.
  double equilibrium = 0;  // As above.
};

// What a world writes down while it runs. Money in credits, work in slot-hours.
struct Record {
  std::vector<TradeRow> trades;
  double gain = 0;                 // True values of the work done minus true costs.
  double most_gain = 0;            // The largest possible.
  double buyers_gain = 0;          // Values minus payments,
  double sellers_gain = 0;         // receipts minus costs,
  double platform = 0;             // and what is left between them.
  std::vector<PricePoint> prices;  // In order of time.
  std::vector<double> credits;     // Of each account at the end.
  std::vector<double> access;      // Of each borrower: had, of what it wanted.
  double used = 0, offered = 0;    // Slot-hours.
  std::vector<double> waits;       // Of each job, in seconds; of those still waiting, so far.
  std::int64_t users = 0, defectors = 0;
  std::int64_t jobs = 0, jobs_done = 0;
  std::optional<double> regret, false_name_gain;  // Credits, for one trader in one book.
  std::optional<double> shock_end;                // Of the first shock to demand or supply,
  double end = 0;                                 // and of the run; in seconds or periods.
  std::uint64_t events = 0;
};

// Absent: the world has no such thing.
struct Metrics {
  std::optional<double> efficiency;  // gain / most_gain
  // Of the gain realised; they sum to 1. Below 0 for a side that loses, as a subsidised platform.
  std::optional<double> buyers_share, sellers_share, platform_share;
  std::optional<double> price;  // Mean, weighted by units.
  std::optional<double> alpha;  // Smith's: root mean square distance from equilibrium, over it.
  std::optional<double> volatility;  // Deviation of the log of the price from clearing to clearing.
  std::optional<double> gini_credits, gini_access;
  std::optional<double> platform_drift;  // Credits that the platform gained.
  std::optional<double> utilisation;     // used / offered
  std::optional<double> wait_p50, wait_p95;
  std::optional<double> defection;  // Share of the users who waited longer than they put up with.
  std::optional<double> completed;  // Share of the jobs that ended well.
  std::optional<double> regret, false_name_gain;
  std::optional<double> recovery;  // After a shock, until the price is near equilibrium again.
  std::optional<double> units;     // Traded.

  SOUK_FIELDS(Metrics, efficiency, buyers_share, sellers_share, platform_share, price, alpha,
              volatility, gini_credits, gini_access, platform_drift, utilisation, wait_p50,
              wait_p95, defection, completed, regret, false_name_gain, recovery, units)
};

// For tables and charts: what each metric is called, in the order of the fields.
struct MetricName {
  std::string_view field;
  std::string_view title;
  std::string_view unit;  // "%", "s", "credits" or none.
  std::string_view means;
};
[[nodiscard]] std::span<const MetricName> metric_names();

[[nodiscard]] Metrics measure(const Record& record);

// Root mean square distance of the prices from `equilibrium`, as a share of it. Smith 1962.
[[nodiscard]] double smith_alpha(std::span<const double> prices, double equilibrium);
// 0: all have the same; 1 - 1/n: one has all. Negative amounts count as none.
[[nodiscard]] double gini(std::span<const double> amounts);
// The sample deviation of ln(p[i+1] / p[i]); prices of zero are left out.
[[nodiscard]] double log_volatility(std::span<const double> prices);

// From `since` to the first clearing within 5% of equilibrium, or to `end` if there is none.
[[nodiscard]] double recovery_time(std::span<const PricePoint> prices, double since, double end);

// Above this many times its mean run time a user does not wait again.
inline constexpr double kPatience = 15;

}  // namespace souk::lab
