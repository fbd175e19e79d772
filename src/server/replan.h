#pragma once

#include <map>

#include "hub/hub.h"
#include "server/core.h"

namespace souk::server {

// Looks at every training with a deadline now and then, and resizes those that would be late, or
// done far too early, at the pace they have shown (advisor/resize.h). Never beyond the workers that
// the job's owner allowed, and never where the credits left would not pay for it. Each change is an
// event with its reason. On the core thread.
class Replan {
 public:
  explicit Replan(hub::Hub& hub) : hub_(hub) {}

  void on_tick(Core::Turn& turn);

 private:
  struct Seen {
    base::Time at;
    double progress = 0;
    std::int32_t workers = 0;  // Then.
    base::Time changed;
  };
  void look(Core::Turn& turn, const market::Job& job, Seen& seen);

  hub::Hub& hub_;
  base::Time next_;
  std::map<base::JobId, Seen> seen_;
};

}  // namespace souk::server
