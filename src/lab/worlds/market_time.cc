#include "lab/worlds/market_time.h"

#include <algorithm>

namespace souk::lab {
namespace {

double seconds_there(const MachineDraw& m, double from, double until) {
  double out = until - from;
  for (const auto& a : m.away)
    out -= std::max(0.0, std::min(until, a.until) - std::max(from, a.from));
  return out;
}

}  // namespace

double seconds_open(const MachineDraw& m, double horizon) {
  if (m.population->windows.empty()) return seconds_there(m, 0, horizon);
  const market::Availability availability{.weekly = m.population->windows};
  double out = 0;
  for (auto t = kMarketStart; t < time_at(horizon);) {
    const auto open = market::opening(availability, t);
    if (!open) break;
    const auto from = std::max(0.0, seconds_at(open->from));
    const auto until = std::min(horizon, seconds_at(open->until));
    if (from < until) out += seconds_there(m, from, until);
    t = open->until;
  }
  return out;
}

}  // namespace souk::lab
