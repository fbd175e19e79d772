#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lab/files/scenario.h"
#include "lab/files/trace.h"

// Everything about a market's agents that chance decides, decided before the run: when each user's
// jobs come, how large they are and what they are worth, when each machine is away. It depends on
// the seed and the agent alone, so that every mechanism meets the same people.

namespace souk::lab {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

struct UserDraw {
  const Population* population = nullptr;
  std::uint64_t index = 0;   // In its population.
  double mean_run_time = 0;  // Of its jobs, in seconds.
  std::int64_t jobs = 0;
};

struct JobDraw {
  std::uint32_t user = 0;
  double arrival = 0;  // Seconds.
  std::int32_t workers = 1;
  double value = 0;     // Per slot-hour.
  double run_time = 0;  // Of each worker, in seconds.
};

// [from, until): the machine is not there. With notice its offer is paused first.
struct Away {
  double from = 0, until = kForever;
  bool notice = false;
};

struct MachineDraw {
  const Population* population = nullptr;
  std::uint64_t index = 0;
  std::int32_t slots = 1;
  double cost = 0;         // Per slot-hour.
  std::vector<Away> away;  // In order, apart from each other.
};

struct Draws {
  std::vector<UserDraw> users;
  std::vector<JobDraw> jobs;  // In order of arrival, then of user.
  std::vector<MachineDraw> machines;
};

// About how much there is to draw and to look through before one run begins, traces aside: its time
// and memory. At most this, but for chance.
struct DrawSize {
  double jobs = 0;        // Those that are drawn and not kept, because demand is lower then, count.
  double departures = 0;  // Of machines, by churn and at the end of each window.
};
[[nodiscard]] DrawSize draw_size(const Scenario& scenario);

[[nodiscard]] Draws draw_market(const Scenario& scenario, const Traces& traces, std::uint64_t seed);

// The most that could be gained in one class, and the price at which it would be: all work and all
// machine time of the run, as if any of it could be done at any time.
struct Bound {
  double gain = 0;
  double price = 0;    // 0: nothing to trade.
  double offered = 0;  // Slot-hours.
};
[[nodiscard]] Bound bound_of(const Scenario& scenario, const Draws& draws,
                             std::string_view slot_class);

}  // namespace souk::lab
