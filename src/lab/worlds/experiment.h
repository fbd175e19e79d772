#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "lab/files/scenario.h"
#include "lab/report/metrics.h"

namespace souk::lab {

// One world under one mechanism from one seed.
struct Run {
  std::size_t mechanism = 0;  // Of the scenario.
  std::uint64_t seed = 0;
  Metrics metrics;
  std::vector<TradeRow> trades;
  std::vector<double> waits;  // Sorted.
  std::uint64_t events = 0;
  double seconds = 0;  // Of computing. The only thing here that differs from time to time.
};

struct ExperimentOptions {
  std::int32_t threads = 0;  // 0: as many as there are cores.
  // Hears from 0 to 1, now and then, on the caller's thread.
  std::function<void(double done)> progress = {};
  // Ends it soon, with an error.
  std::stop_token stop = {};
  // In all runs together; an experiment with more is an error, before they fill the memory.
  std::size_t most_trades = std::numeric_limits<std::size_t>::max();
};

// All seeds under all mechanisms, each run on one thread, many at a time. The result is in order of
// mechanism, then seed, and the same whatever the number of threads.
[[nodiscard]] Result<std::vector<Run>> run_experiment(const Scenario& scenario,
                                                      const ExperimentOptions& options = {});

}  // namespace souk::lab
