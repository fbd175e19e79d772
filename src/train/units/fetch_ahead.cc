#include "train/units/fetch_ahead.h"

#include <algorithm>

namespace souk::train {
namespace {

// Where an exchange takes no more than this part of the computing, nothing is fetched ahead. Below
// what makes units longer (train/units/unit_length.cc).
constexpr double kNextToNothing = 0.03;
// Of the time that fetching takes, and seconds: what may come between.
constexpr double kMargin = 1.5, kLeastMargin = 0.01;
constexpr double kNew = 0.25;  // The weight of the newest figure.

}  // namespace

double FetchAhead::cautious(double before, base::Duration took) {
  const double now = took.seconds();
  return before < 0 ? now : std::max(now, before + kNew * (now - before));
}

// A step that took less is believed at once: the unit may end so early.
void FetchAhead::computed(std::int64_t steps, base::Duration took) {
  if (steps <= 0) return;
  const double now = took.seconds() / static_cast<double>(steps);
  step_ = step_ < 0 ? now : std::min(now, step_ + kNew * (now - step_));
}

base::Time FetchAhead::ask_at(base::Time now, std::int64_t steps) const {
  if (step_ < 0 || sending_ < 0 || fetching_ < 0) return now;
  const double computing = step_ * static_cast<double>(steps);
  if (sending_ + fetching_ <= kNextToNothing * computing) return base::kNever;
  const double spare = computing - kMargin * fetching_ - kLeastMargin;
  return now + base::as_duration(std::max(spare, 0.0));
}

}  // namespace souk::train
