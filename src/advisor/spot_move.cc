#include "advisor/spot_move.h"

#include <algorithm>

#include "base/check.h"
#include "base/time.h"

namespace souk::advisor {
namespace {

// What the rest costs there at today's price, a move included.
double cost_at(const SpotPlace& place, bool moves, const SpotJobLeft& left) {
  return (left.work / place.rate + (moves ? left.restart_s : 0)) * place.price /
         base::kSecondsPerHour;
}

// Is it done here in time, or could the fastest place still do the rest after a period at this one?
bool in_time(const SpotPlace& place, bool moves, double fastest, const SpotJobLeft& left) {
  const auto lost = moves ? left.restart_s : 0;
  const auto rest = left.work - std::max(0.0, left.period_s - lost) * place.rate;
  if (rest <= 0) return lost + left.work / place.rate <= left.seconds;
  const bool again = place.rate < fastest;
  return rest / fastest <= left.seconds - left.period_s - (again ? left.restart_s : 0);
}

}  // namespace

std::size_t spot_move(std::span<const SpotPlace> places, std::optional<std::size_t> here,
                      const SpotJobLeft& left) {
  CHECK(!places.empty() && (!here || *here < places.size()));
  const auto fastest = std::ranges::max(places, {}, &SpotPlace::rate).rate;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool moves = here != i;
    if (!in_time(places[i], moves, fastest, left)) continue;
    if (!best || cost_at(places[i], moves, left) < cost_at(places[*best], here != *best, left))
      best = i;
  }
  // Too late for all: the fastest, and where it is already rather than elsewhere.
  if (!best) {
    if (here && places[*here].rate >= fastest) return *here;
    return static_cast<std::size_t>(std::ranges::max_element(places, {}, &SpotPlace::rate) -
                                    places.begin());
  }
  if (!here || *best == *here || !in_time(places[*here], false, fastest, left)) return *best;
  const auto stay = cost_at(places[*here], false, left);
  return cost_at(places[*best], true, left) < stay * (1 - kWorthMoving) ? *best : *here;
}

}  // namespace souk::advisor
