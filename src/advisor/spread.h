#pragma once

#include <cstddef>
#include <vector>

namespace souk::advisor {

// How far a forecast of time may be off, as a distribution of relative errors (time it takes / time
// forecast - 1), learnt from the residuals of earlier runs.
//
// n residuals cut the line into n + 1 parts, and the next error is as likely to fall into any of
// them as into any other. The outermost parts reach to kUnmeasured either way, or to the residual
// beyond it. So with no residuals at all every error up to kUnmeasured is equally likely, which is
// a guess and no more; each run that is seen narrows it, and what was never seen keeps a chance of
// 1 in n + 1.
class Spread {
 public:
  static constexpr double kUnmeasured = 0.25;
  // With fewer residuals the ends of a usual interval are still those of the guess.
  static constexpr std::size_t kEnough = 9;

  // Each residual is above -1.
  explicit Spread(std::vector<double> residuals = {});

  // The error that is not exceeded with probability `share`, in [0, 1].
  [[nodiscard]] double quantile(double share) const;
  // What to expect of the next: that it is as computed, unless the interval that holds `level` of
  // all errors lies to one side of it; then the middle of that.
  [[nodiscard]] double lean(double level) const;
  [[nodiscard]] bool guessed() const { return points_.size() < kEnough + 2; }

 private:
  std::vector<double> points_;  // Ascending, with both ends.
};

}  // namespace souk::advisor
