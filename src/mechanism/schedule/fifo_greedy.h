#pragma once

#include "mechanism/schedule/schedule.h"

namespace souk::mechanism {

// First come, first served: jobs in order take machines for all their workers, all the time. The
// first that finds no room stops the line, so nobody is overtaken. Without prices; the objective is
// the number of jobs that run.
class FifoGreedy final : public SchedulePolicy {
 public:
  // fastest: of the types with room, the one it is fastest on; the line is drawn up anew each time,
  // so that those in front move to faster machines when there are any. any: the one with the most
  // room, as a scheduler that takes all machines to be alike would; then there is no reason to
  // move, and those that hold machines (ScheduleInstance::held) keep them.
  enum class Choice { fastest, any };
  explicit FifoGreedy(Choice choice) : choice_(choice) {}
  [[nodiscard]] Result<Schedule> solve(const ScheduleInstance& instance) const override;

 private:
  Choice choice_;
};

}  // namespace souk::mechanism
