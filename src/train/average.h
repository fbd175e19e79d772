#pragma once

#include "train/pull.h"

namespace souk::train {

// The mean of the parameters over about the last tenth of the work so far, whatever its end will
// be. A rate that does not fall leaves parameters swinging around where they want to go, the more
// so with stale changes of many workers; their mean lies nearer (docs/studies/workers.md). With
// work t, the parameters of moment s count by s^9: polynomial-decay averaging (Shamir and Zhang,
// 2013). Pure; costs one copy of the model.
class RunningAverage {
 public:
  // Has so much been done since the last look that another is worth its pass over the model?
  [[nodiscard]] bool due(double work) const;
  // The parameters after so much work (in any unit, growing).
  void add(const ParameterSnapshot& now, double work);
  [[nodiscard]] bool empty() const { return blocks_.empty(); }

  // What add() has come to, to be saved; and again.
  [[nodiscard]] const Blocks& blocks() const { return blocks_; }
  [[nodiscard]] double work() const { return work_; }
  void restore(Blocks blocks, double work);

 private:
  Blocks blocks_;
  double work_ = 0;
};

}  // namespace souk::train
