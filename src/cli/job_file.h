#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "wire/api.h"

namespace souk::cli {

// A job as a YAML file describes it:
//
//   name: resnet                       price: {limit: 0.8, budget: 20}
//   kind: train                        deadline: 3h     # or 2027-03-01T22:00:00Z
//   class: c4                          priority: 5
//   workers: 1..4                      constraints: {regions: [eu], min_reliability: 0.9}
//   resources: {cores: 4, memory: 8G}  # instead of a class
//
// Every key may be left out; a budget then has to come from a flag (it is 0 here). Unknown keys and
// wrong values are errors with file, line and the nearest key. `now` is what deadlines count from.
base::Result<wire::NewJob> read_job_file(std::string_view text, std::string_view file,
                                         base::Time now);
base::Result<wire::NewJob> load_job_file(const std::string& path, base::Time now);

}  // namespace souk::cli
