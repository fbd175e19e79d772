#include "train/units/unit_length.h"

#include <algorithm>
#include <cmath>

namespace souk::train {
namespace {

// The part of its time that a worker may stand still, and below which a shorter unit is tried.
constexpr double kMostShare = 0.08, kLeastShare = 0.02;
// Each unit is an event of the market, which takes so many in a second of one training.
constexpr double kShortestSeconds = 0.05, kUnitsPerSecond = 200;
// After a change the first reports may be about units that were given out before it; then so many
// are averaged.
constexpr int kInFlight = 2, kEnoughUnits = 2;
constexpr int kLeastPatience = 16, kMostPatience = 4096;

}  // namespace

std::int64_t UnitLength::better(double computed, double waited, double shortest) const {
  const auto whole = computed + waited;
  auto times = shortest / computed;
  // As long as the exchange takes, as if all of that could be hidden.
  if (waited > kMostShare * whole) times = std::max(times, whole / computed);
  if (times > 1) {
    const auto longer = std::ceil(static_cast<double>(steps_) * times);
    return static_cast<std::int64_t>(std::min(static_cast<double>(most_), longer));
  }
  const bool room = steps_ > 1 && computed / 2 >= shortest;
  return room && seen_ >= patience_ && waited <= kLeastShare * whole ? steps_ / 2 : steps_;
}

void UnitLength::measured(base::Duration computed, base::Duration waited, std::int64_t at_work) {
  if (computed <= base::Duration() || waited < base::Duration()) return;
  if (seen_ < kMostPatience) ++seen_;
  if (seen_ <= kInFlight) return;
  const bool first = seen_ == kInFlight + 1;
  computed_ = first ? computed.seconds() : (computed_ + computed.seconds()) / 2;
  waited_ = first ? waited.seconds() : (waited_ + waited.seconds()) / 2;
  if (seen_ < kInFlight + kEnoughUnits) return;
  const auto shortest = std::max(kShortestSeconds, static_cast<double>(at_work) / kUnitsPerSecond);
  const auto steps = better(computed_, waited_, shortest);
  if (steps == steps_) return;
  // A shorter one proved wrong: the next is tried later, so that the length does not swing.
  if (steps > steps_) patience_ = std::clamp(2 * patience_, kLeastPatience, kMostPatience);
  steps_ = steps;
  seen_ = 0;
}

}  // namespace souk::train
