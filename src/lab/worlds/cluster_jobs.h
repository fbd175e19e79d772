#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "lab/files/gavel_trace.h"

namespace souk::lab {

using base::Result;

// A job of a cluster with several types of machine.
struct ClusterJob {
  double arrival = 0;  // Seconds.
  double steps = 0;
  std::int32_t workers = 1;
  double weight = 1;
  std::vector<double> rates;  // Steps a second by type, all workers together; 0: cannot run.
};

// What becomes of a job for whose kind no table has a rate with so many workers: an error that
// names its line; it is left out; or it makes do with the largest number of workers below that has
// one.
SOUK_ENUM(Missing, error, skip, fewer)

// The jobs of a trace on these types, in order of arrival, at most `most`, the first at 0. Jobs
// without steps are left out.
[[nodiscard]] Result<std::vector<ClusterJob>> cluster_jobs(const std::vector<GavelJob>& trace,
                                                           const GavelRates& rates,
                                                           const std::vector<std::string>& types,
                                                           std::string_view trace_name,
                                                           std::size_t most,
                                                           Missing missing = Missing::error);

}  // namespace souk::lab
