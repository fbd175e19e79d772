#pragma once

#include "mechanism/schedule/schedule.h"

namespace souk::mechanism {

// A primal-dual rule in the manner of Hadar, reconstructed from its published outline: what a
// machine costs rises with use, and a job is let in if it is worth more than its machines cost.
//
// A machine of type j costs U_min (U_max / U_min)^(used_j / N_j). A job is worth its progress over
// its whole stay: the seconds of work it is in all, on its fastest type, over the seconds from its
// arrival to its end if it runs from now on, times its weight; U_max and U_min are the most and a
// quarter of the least that any job is worth per worker. It may hold machines of several types at
// once (Schedule::at_once): then it runs at the speed of the slowest, less a tenth for what crosses
// between types. All its workers run or none.
//
// Jobs are looked at in order of their worth for each second of machine time that they still need.
// For each there are two choices, to skip it or to give it the placement with the largest payoff
// (worth less cost); ways to have the same machines in use are merged, the best kept, and of the
// others no more than `ways` go on. What the prices leave idle then goes to the jobs left, in the
// same order: nothing is saved for later, because every round decides anew.
//
// The objective is the sum of the payoffs; the prices are what the next machine costs. Needs
// `steps`.
class Hadar final : public SchedulePolicy {
 public:
  static constexpr std::size_t kWays = 8;
  explicit Hadar(std::size_t ways = kWays) : ways_(ways) {}
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;

 private:
  std::size_t ways_;
};

}  // namespace souk::mechanism
