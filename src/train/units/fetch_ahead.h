#pragma once

#include <cstdint>

#include "base/time.h"

namespace souk::train {

// When a coach asks for the unit after the one that its trainer computes.
//
// Parameters that are fetched early are old when they are used: they lack what others, and this
// worker itself, add in the meantime, and that costs accuracy (docs/studies/workers.md). Parameters
// that are fetched late leave the trainer waiting. So they are fetched as late as they can be and
// still arrive before the unit ends; and only after it was handed in, with all that this worker
// did, where the whole exchange takes next to nothing beside the computing.
class FetchAhead {
 public:
  void computed(std::int64_t steps, base::Duration took);
  void handed_in(base::Duration took) { sending_ = cautious(sending_, took); }
  // From the question for a unit until its parameters lay in the trainer's folder.
  void fetched(base::Duration took) { fetching_ = cautious(fetching_, took); }

  // When to ask for the unit after one of `steps` that begins now: at once while little is known,
  // kNever for "when it was handed in".
  [[nodiscard]] base::Time ask_at(base::Time now, std::int64_t steps) const;

 private:
  // Seconds, lately; what took longer is believed at once. Below 0: not known yet.
  static double cautious(double before, base::Duration took);

  double step_ = -1, sending_ = -1, fetching_ = -1;
};

}  // namespace souk::train
