#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "train/parameters.h"
#include "train/pull.h"
#include "train/update.h"

// A model's state: tensors that are measured rather than trained, such as the running means and
// variances of batch normalisation. Those of averaged parameters are not the average of their
// workers', so a check measures them anew first (docs/decisions/0048-statistics-at-checks.md).

namespace souk::train {

// Where the state lies among the parameters: runs of floats, ascending.
struct StateRuns {
  struct Run {
    std::size_t at = 0, size = 0;
  };
  std::vector<Run> runs;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return runs.empty(); }
};
[[nodiscard]] StateRuns state_runs(const Layout& layout);

// What the state comes to after `change`, which was made from `base`. All else of the change is
// left out. Refuses what is not finite, and what lies further away than any honest measurement of
// the same model does: more than a hundred lengths of the state that there was.
[[nodiscard]] base::Result<std::vector<float>> measured_state(const StateRuns& runs,
                                                              const ParameterSnapshot& base,
                                                              const Update& change);

// Are these of the same parameters and samples, on different processors?
[[nodiscard]] bool same_state(const std::vector<float>& a, const std::vector<float>& b);

// `base` with this state. It is known as `version`, all of it.
[[nodiscard]] ParameterSnapshot with_state(const ParameterSnapshot& base, const StateRuns& runs,
                                           const std::vector<float>& state, std::int64_t version);

}  // namespace souk::train
