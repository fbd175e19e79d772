#pragma once

#include "mechanism/schedule/discover.h"
#include "mechanism/schedule/schedule.h"

namespace souk::mechanism {

// The objective of MaxMinLas, found as a market would find it (discover.h). Not exact: MaxMinLas
// is. Prices: of a machine, in levels of the worst-off job.
class PriceDiscovery final : public SchedulePolicy {
 public:
  // Ends at this gap, or after so many rounds.
  explicit PriceDiscovery(double gap = kNearGap, int most_rounds = 400)
      : gap_(gap), most_rounds_(most_rounds) {}
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;

 private:
  double gap_;
  int most_rounds_;
};

}  // namespace souk::mechanism
