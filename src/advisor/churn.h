#pragma once

// Machines that leave. Each stays for an exponential time; what it did since its work was last safe
// (a unit handed in, a checkpoint written) is lost, and the next one begins after a while. Pure.

namespace souk::advisor {

// How work is made safe. Seconds.
struct Recovery {
  // Of work between two moments at which it is safe; 0: best_interval() of the checkpoint.
  double interval_s = 0;
  double checkpoint_s = 0;  // What each of those moments costs; 0 for units of a training.
  double restart_s = 0;     // From a loss until work goes on, on that machine or another.

  bool operator==(const Recovery&) const = default;
};

// The interval between checkpoints that cost `checkpoint_s` each with the least time in all, where
// a machine stays for `stay_s` on average: Young's sqrt(2 d M) with Daly's correction,
// sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + (d / 2M) / 9) - d for d < 2M, and M beyond, where nothing
// helps. Infinite if the machine never leaves. Requires checkpoint_s >= 0, stay_s > 0.
[[nodiscard]] double best_interval(double checkpoint_s, double stay_s);

// `recovery` with its interval filled in, for machines that leave `per_s` times a second.
[[nodiscard]] Recovery settled(Recovery recovery, double per_s);

// Expected seconds per second of work: e^(R/M) (e^((t + d)/M) - 1) M/t with t the interval, d the
// checkpoint, R the restart and 1/M = per_s (Daly 2006, complete model). Without revocations 1 +
// d/t.
[[nodiscard]] double stretch(double per_s, const Recovery& recovery);

// The same for a machine that never leaves but checkpoints all the same.
[[nodiscard]] double stretch_of_checkpoints(const Recovery& recovery);

// Expected seconds that one revocation costs the machine's work.
[[nodiscard]] double lost_per_revocation(double per_s, const Recovery& recovery);

// P(at most `most` events) where `mean` are expected and they come independently (Poisson). Above
// a mean of 1,000 the normal distribution stands in, within 0.01.
[[nodiscard]] double chance_of_at_most(double most, double mean);

}  // namespace souk::advisor
