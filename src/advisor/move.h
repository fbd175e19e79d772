#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Should a training that runs go on in another slot class? Pure; where it is, it counts as it was
// measured, and elsewhere as it is forecast.
//
// It moves
// - where it has had no worker for kPatience and none is to be had, to where there are some;
// - when all the workers that it may and can have here would be late, to where it is in time;
// - when the rest costs less elsewhere, by kSaving at least: with a deadline still in time, without
//   one no later than here.
// Of several places it takes the cheapest. Time to start again counts as time that is paid for.
//
// A move stops every worker for a while, and forecasts are off at times. So it never moves within
// kRest of its last move, nor when what is left takes less than kWorth times as long as starting
// again, nor to where the credits left would not pay for the rest. Late is what resize.h calls
// late, and in time leaves the same spare time as there.

namespace souk::advisor {

inline constexpr double kSaving = 0.25;  // Of what the rest costs here.
inline constexpr double kRest = 120;     // Seconds: long enough to see what came of a move.
inline constexpr double kWorth = 5;      // Starts again in the time that is left.
inline constexpr double kPatience = 60;  // Seconds without a worker.

struct Here {
  std::string name;               // Of the class.
  double left = 1;                // Of the work, 0 to 1.
  std::optional<double> seconds;  // Until the deadline.
  double pace = 0;                // Work that one worker does in a second; above 0 if it has any.
  std::int32_t workers = 0;       // That it has,
  std::int32_t most = 0;          // and could have here at most.
  double price = 0;               // Credits that a worker costs in a second.
  double credits = 0;             // That may still be spent.
  std::optional<double> moved_s;  // Seconds since it moved last.
  double idle_s = 0;              // Seconds without a worker.
};

// Workers that can be had elsewhere, all of them together.
struct Cluster {
  std::int32_t workers = 0;
  double pace = 0;   // Work in a second; above 0.
  double price = 0;  // Credits in a second.
};

struct There {
  std::string name;
  double restart_s = 0;  // From leaving to working there.
  std::vector<Cluster>
      clusters;           // Fewest workers first. Empty: nothing is known of its pace there.
  std::int32_t most = 0;  // Workers that it could have there now.
};

struct MoveTo {
  std::size_t place = 0;
  std::int32_t workers = 0;  // 0: as many as it may have.
  std::string why;
};

// Nothing: it stays.
[[nodiscard]] std::optional<MoveTo> move(const Here& here, std::span<const There> places);

}  // namespace souk::advisor
