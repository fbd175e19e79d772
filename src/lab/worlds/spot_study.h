#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"

// One-machine trainings on recorded spot prices: staying where it was cheapest at the start, of the
// places that make the deadline alone; moving as advisor/spot_move.h says; and the best that could
// have been done knowing all prices.

namespace souk::lab {

// Prices of one machine type at one place, from each time until the next.
struct SpotSeries {
  std::string place;  // "us-east-1a p3.2xlarge"
  std::string type;
  std::vector<std::pair<base::Time, double>> prices;  // In order, per hour.

  [[nodiscard]] double at(base::Time t) const;  // The first price before there is any.
};

// Reads "timestamp,region,az,instance_type,product,spot_price_usd_per_hour" and keeps the types
// asked for, at places with a price before the last tenth of the time recorded.
[[nodiscard]] base::Result<std::vector<SpotSeries>> read_spot_prices(
    std::string_view csv, const std::map<std::string, double>& rates, std::string_view name);

struct SpotStudy {
  std::vector<SpotSeries> series;
  std::map<std::string, double> rates;  // Work per second by type.
  double hours = 24;                    // Of work, on the fastest type.
  double slack = 1.5;                   // The deadline, in times of that.
  int runs = 200;                       // That begin at even distances over the record.
  base::Duration period = base::minutes(5);
  base::Duration restart = base::minutes(3);
};

struct SpotOutcome {
  double cost = 0;  // Mean over the runs.
  double over = 0;  // Mean cost over that of hindsight, less 1.
  double over_p95 = 0;
  double moves = 0;  // Mean.
  int late = 0;      // Runs that missed the deadline.
  SOUK_FIELDS(SpotOutcome, cost, over, over_p95, moves, late)
};

struct SpotResult {
  int runs = 0;
  int places = 0;
  double hindsight = 0;  // Mean cost of the bound.
  SpotOutcome stays, moves;
  SOUK_FIELDS(SpotResult, runs, places, hindsight, stays, moves)
};

// Hindsight is a lower bound: in each period any place or none, moves that cost nothing, parts of a
// period, the work done by the deadline.
// `progress` hears of each run.
[[nodiscard]] base::Result<SpotResult> study_spot(
    const SpotStudy& study, const std::function<void(int runs)>& progress = {});

}  // namespace souk::lab
