#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "server/core/core.h"
#include "server/core/pool.h"
#include "server/core/services.h"

// What trials say of themselves: a training by its checks, a program by lines of its output
// (job/sweep/metric_line.h).

namespace souk::server {

struct TrialReport {
  std::int32_t epoch = 0;
  std::optional<double> value;  // Absent: it was no number.
};

// How far the output of one lease was read.
struct LogPlace {
  base::LeaseId lease;
  std::int64_t offset = 0;
  std::string rest = {};      // The beginning of a line.
  std::int32_t reported = 0;  // Lines with the metric, so far.
};

struct TrialQuestion {
  base::JobId sweep, job;
  std::string metric;
  bool trains = false;
  std::string result;          // Of a training that has ended, if it left one.
  std::vector<LogPlace> logs;  // Of any other trial.
  bool last = false;           // It has ended: there will be nothing more.
};

struct TrialAnswer {
  base::JobId sweep, job;
  std::vector<TrialReport> reports;  // Of a training all, of a program those since the last time.
  std::vector<LogPlace> logs;
  bool last = false;  // All there is was read.
};

// Reads blocking, on a thread that may. Of a program at most kMostLogBytes at once.
inline constexpr std::int64_t kMostLogBytes = 4 << 20;
[[nodiscard]] TrialAnswer read_trial(const Services& services, TrialQuestion question);

}  // namespace souk::server
