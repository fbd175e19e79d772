#pragma once

#include "advisor/forecast.h"

namespace souk::advisor {

// Between how many machines a mix has to have, to be done by a deadline.
struct SizeBounds {
  std::int32_t lower = 1;
  std::int32_t upper = 0;  // Forecaster::most_machines(). Below `lower` if nothing can be enough.
};

// The lower bound: machines that were all as fast as the fastest alone must process the least
// number of samples in time. That least is at the smallest or at the largest batch, because batch
// times iterations is concave in the batch; spotDNN takes the smallest only.
[[nodiscard]] SizeBounds size_bounds(const Forecaster& forecaster, double deadline_s);

// spotDNN's search: machines in a row by the time of their step, each type as often as its quota,
// and a window of n of them for every n within the bounds; the cheapest window that is done in
// time. The row is a ring, as in the published code, so that the slowest may stand beside the
// fastest. It sees some hundred mixes and may miss the best one: exact.h does not.
//
// Of equal cost the first, fewer machines before more. The error for a deadline that no window
// meets names the tightest that one does.
[[nodiscard]] Result<Mix> spotdnn(const Forecaster& forecaster, double deadline_s);

// The fastest of all windows, however many machines; empty where the loss curve covers none.
[[nodiscard]] Mix fastest_window(const Forecaster& forecaster);

}  // namespace souk::advisor
