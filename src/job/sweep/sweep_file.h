#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string_view>

#include "base/result.h"
#include "job/job_file.h"
#include "job/kinds.h"

// kind: sweep, as its file describes it: the keys of a training or of a batch job, and `sweep` with
// what is tried. docs/sweeps.md lists the keys.

namespace souk::job {

inline constexpr std::string_view kSweepExample = R"(kind: sweep
sweep:
  parameters: {lr: {log: [0.001, 0.1]}, batch: [32, 64]}
  method: asha
  trials: 12
  metric: accuracy
model: lenet
data: mnist
epochs: 9
price: {budget: 4}
)";

[[nodiscard]] std::span<const std::string_view> sweep_keys();
[[nodiscard]] base::Result<> read_sweep(const boost::json::object& file, const PathRules& rules,
                                        JobFile& out);
[[nodiscard]] base::Result<> pack_sweep(JobFile& file, Packer& packer);
[[nodiscard]] Intent describe_sweep(const JobFile& file);

}  // namespace souk::job
