#pragma once

#include "advisor/schedule.h"

namespace souk::advisor {

// The objective of MaxMinLas, found as a market would find it. Prices are posted; each job answers
// with the cheapest way to reach a common level, alone and without knowing of the others; types
// that are wanted by more than there are become dearer, the others cheaper.
//
// The level asked of all is the largest that everything the machines are worth at these prices
// could pay for. No schedule reaches more, whatever the prices: each round is a bound. A mean of
// the answers so far, in which the later count more, cut to what there is, is a schedule: the
// distance between the two is known at every moment, and the search ends when it is small enough.
//
// A round is one pass over the jobs with a few numbers kept of each, in any order: for 10^5 jobs
// and more, and for jobs that answer by themselves. Not exact: MaxMinLas is.
class PriceDiscovery final : public SchedulePolicy {
 public:
  // Ends at this gap, or after so many rounds.
  explicit PriceDiscovery(double gap = 2e-3, int most_rounds = 400)
      : gap_(gap), most_rounds_(most_rounds) {}
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;

 private:
  double gap_;
  int most_rounds_;
};

}  // namespace souk::advisor
