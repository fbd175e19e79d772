#pragma once

#include <cstdint>
#include <span>

#include "advisor/forecast.h"
#include "base/result.h"

// From measurements of short runs to the parameters of forecast.h. Least squares; pure.

namespace souk::advisor {

// What a worker got of the hub's network among `machines`.
struct NetworkSample {
  std::int32_t machines = 1;
  double mb_s = 0;
};

// The hub's slope and base of contention (a, b) from clusters of at least two sizes that ask for
// more than the hub has: each sample says how large a share P of the time all asked at once, and P
// is a line in sqrt(n). Samples without contention say nothing about it and are left out; so are
// those with P >= 1, where the line has ended.
[[nodiscard]] Result<Hub> fit_contention(Hub hub, const Traffic& traffic,
                                         std::span<const NetworkSample> samples);

// The loss after `iterations` of a mix.
struct LossSample {
  double iterations = 0;
  std::int32_t machines = 1;
  double batch = 1;          // b_w.
  double heterogeneity = 0;  // R.
  double loss = 0;
};

// The loss curve through at least six samples. For given g1 and g4 the rest is linear; those two
// are found by a grid that is refined around its best. `with_heterogeneity`: fit g4, which takes
// mixes that differ in R; otherwise it is absent. With one batch in all samples g2 is 0, as nothing
// can be known about it, and likewise where the fit would have larger batches learn less per step.
[[nodiscard]] Result<Convergence> fit_convergence(std::span<const LossSample> samples,
                                                  bool with_heterogeneity);

}  // namespace souk::advisor
