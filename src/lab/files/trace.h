#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/files/scenario.h"

// Jobs as clusters have logged them.
//
//   philly  CSV with a header: timestamp,duration,num_gpus,...; seconds; in any order
//   gavel   as gavel_trace.h has it; a job's run time is its steps over the steps per second of its
//           kind, from a table of throughputs or the same for all

namespace souk::lab {

struct TraceJob {
  double arrival = 0;   // Seconds after the first.
  double run_time = 0;  // Seconds.
  std::int32_t workers = 1;

  bool operator==(const TraceJob&) const = default;
};

using Traces = std::map<std::string, std::vector<TraceJob>>;  // By population.

// In order of arrival, at most source.most of them. `name` is the file's, for errors, which name
// the line. Jobs that ran no time are left out.
[[nodiscard]] Result<std::vector<TraceJob>> parse_philly(std::string_view text,
                                                         std::string_view name,
                                                         const TraceSource& source);
[[nodiscard]] Result<std::vector<TraceJob>> parse_gavel(std::string_view text,
                                                        std::string_view name,
                                                        std::string_view throughputs_json,
                                                        const TraceSource& source);

// Reads the traces of all populations.
[[nodiscard]] Result<Traces> load_traces(const Scenario& scenario);

}  // namespace souk::lab
