#pragma once

#include <cstdint>

#include "base/time.h"

namespace souk::train {

// How many steps of the plan a worker's units have, where the job does not say.
//
// Long units cost accuracy: while a worker computes, others move the parameters, and what it adds
// is older with every step (docs/studies/workers.md). Short units cost time: each is an exchange
// with the hub. So a unit is as short as it can be while the exchange of the unit before it still
// fits into the time that it computes, and while it computes for some time at least, for the
// market's sake. A worker begins with one step, and the length follows what it says of its
// time; one that lies about it gets longer or shorter units of its own, within the bounds.
class UnitLength {
 public:
  // Never more than `most` steps.
  explicit UnitLength(std::int64_t most = 1) : most_(most) {}

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  // Since it asked before, a worker computed for so long, and so long its trainer stood still while
  // something travelled. With `at_work` workers in all.
  void measured(base::Duration computed, base::Duration waited, std::int64_t at_work = 1);

 private:
  [[nodiscard]] std::int64_t better(double computed, double waited, double shortest) const;

  std::int64_t most_ = 1;
  std::int64_t steps_ = 1;
  double computed_ = 0, waited_ = 0;  // Seconds, of a unit, lately.
  int seen_ = 0;                      // Units since the length changed.
  int patience_ = 0;                  // So many before a shorter one is tried.
};

}  // namespace souk::train
