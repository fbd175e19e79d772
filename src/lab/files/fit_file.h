#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "advisor/fit.h"
#include "base/result.h"

// What `souk plan --fit` reads: measurements, as JSON or as the metrics.csv of a finished training.

namespace souk::lab {

struct Measurements {
  std::vector<advisor::LossPoint> loss;
  std::vector<advisor::BandwidthPoint> bandwidth;
  std::optional<double> request_mb_s, hub_mb_s;
};

//   {"loss": [{"iterations": 500, "loss": 2.1, "batch": 1024, "workers": 4}],
//    "bandwidth": [{"workers": 9, "mb_s": 140}], "request_mb_s": 142, "hub_mb_s": 1200}
//
// Either list alone will do. batch and workers are optional, for all points alike; bandwidth needs
// both of request_mb_s, what one worker alone reaches, and hub_mb_s, what the hub has.
//
// In a metrics.csv, as `souk results` leaves it, a row is an epoch and its loss is the epoch's
// mean: a point in the middle between the versions that the last epoch and this one ended with. A
// version is an iteration; samples per version are the batch. The run has one number of workers,
// the mean of its rows.
[[nodiscard]] base::Result<Measurements> parse_measurements(std::string_view text,
                                                            std::string_view name);

// Adds what another file has. Two that differ in request_mb_s or hub_mb_s do not go together.
[[nodiscard]] base::Result<> merge(Measurements& into, Measurements more, std::string_view name);

}  // namespace souk::lab
