#include "advisor/move.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "advisor/resize.h"
#include "base/check.h"

namespace souk::advisor {
namespace {

// The rest of the work on one cluster.
struct Rest {
  std::size_t place = 0;
  std::int32_t workers = 0;
  double seconds = 0, cost = 0;  // Both with starting again.
};

// What `workers` would take for the rest here.
double seconds_here(const Here& h, std::int32_t workers) {
  return workers > 0 && h.pace > 0 ? h.left / (h.pace * workers) : HUGE_VAL;
}

bool good(const Here& h, const Rest& rest) {
  if (rest.cost > h.credits) return false;
  if (h.seconds) return rest.seconds * kSpare <= *h.seconds;
  return rest.seconds <= seconds_here(h, h.workers);
}

// The cheapest way to be in time elsewhere.
std::optional<Rest> best(const Here& h, std::span<const There> places) {
  std::optional<Rest> out;
  const auto key = [](const Rest& r) { return std::tuple(r.cost, r.seconds, r.place); };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& there = places[i];
    if (seconds_here(h, h.workers) < kWorth * there.restart_s) continue;
    for (const auto& c : there.clusters) {
      CHECK(c.pace > 0);
      const auto seconds = there.restart_s + h.left / c.pace;
      const Rest rest{i, c.workers, seconds, seconds * c.price};
      if (good(h, rest) && (!out || key(rest) < key(*out))) out = rest;
    }
  }
  return out;
}

// The first place with workers where there are none here. Without a forecast nothing is known of
// the cost; the budget holds whatever it is.
std::optional<MoveTo> away_from_nothing(const Here& h, std::span<const There> places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& there = places[i];
    if (there.most <= 0 || !there.clusters.empty()) continue;
    return MoveTo{i, 0,
                  fmt::format("no worker of class {} can be had, and {} of class {} can", h.name,
                              there.most, there.name)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<MoveTo> move(const Here& h, std::span<const There> places) {
  CHECK(h.workers == 0 || h.pace > 0);
  if (h.left <= 0 || (h.moved_s && *h.moved_s < kRest)) return std::nullopt;
  const bool stuck = h.workers == 0;
  if (stuck && (h.most > 0 || h.idle_s < kPatience)) return std::nullopt;
  const auto rest = best(h, places);
  if (!rest) return stuck ? away_from_nothing(h, places) : std::nullopt;
  const auto& there = places[rest->place];
  MoveTo out{rest->place, h.seconds ? rest->workers : 0, {}};
  const auto with_all = seconds_here(h, h.most);
  if (stuck) {
    out.why =
        fmt::format("no worker of class {} can be had, and {} of class {} would take {:.0f} s",
                    h.name, workers_text(rest->workers), there.name, rest->seconds);
    return out;
  }
  if (h.seconds && with_all > *h.seconds * kShort) {
    out.why = fmt::format(
        "{:.0f}% of the work is left for {:.0f} s: {} of class {}, all that it can have, would "
        "take {:.0f} s and {} of class {} {:.0f} s",
        100 * h.left, *h.seconds, workers_text(h.most), h.name, with_all,
        workers_text(rest->workers), there.name, rest->seconds);
    return out;
  }
  const auto cost_here = seconds_here(h, h.workers) * h.workers * h.price;
  if (rest->cost > (1 - kSaving) * cost_here) return std::nullopt;
  out.why = fmt::format("the rest costs {:.3g} credits in class {} and {:.3g} in class {}",
                        rest->cost, there.name, cost_here, h.name);
  return out;
}

}  // namespace souk::advisor
