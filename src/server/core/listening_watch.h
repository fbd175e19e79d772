#pragma once

#include <algorithm>
#include <optional>

#include "base/time.h"

namespace souk::server {

// Notices for how long a server did not listen: it was stopped, suspended with its machine, or
// stuck. Asked at every turn of a loop that never waits long. Pure.
class ListeningWatch {
 public:
  static constexpr auto kUsual = base::seconds(1);  // Between two turns.

  // The time since the turn before in which nobody listened; 0 for usual turns. `steady` is a clock
  // that nobody sets but that may stand still while the machine sleeps, `now` the wall's: when that
  // went on for longer, the machine slept, or the clock was set.
  base::Duration missed(base::Time now, base::Duration steady) {
    base::Duration gap;
    if (before_) gap = std::max(steady - before_->steady, now - before_->now);
    before_ = {now, steady};
    return gap > kUsual ? gap : base::Duration();
  }

 private:
  struct Reading {
    base::Time now;
    base::Duration steady;
  };
  std::optional<Reading> before_;
};

}  // namespace souk::server
