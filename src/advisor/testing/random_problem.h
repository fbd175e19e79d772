#pragma once

#include <cmath>
#include <string>

#include "advisor/forecast.h"
#include "base/random.h"

// Small problems of every kind, for searches to be tried on.

namespace souk::advisor::testing {

inline double between(base::Random& random, double low, double high) {
  return low + (high - low) * random.unit();
}

inline Goal random_work(base::Random& random) {
  switch (random.below(3)) {
    case 0:
      return Iterations{between(random, 10, 5'000)};
    case 1:
      return Samples{between(random, 1'000, 500'000)};
    default: {
      TargetLoss out{between(random, 0.55, 1.5),
                     {.g1 = between(random, 0, 900),
                      .g2 = between(random, -1.5, 0),
                      .g3 = between(random, 500, 3'000),
                      .g5 = 0.5}};
      if (random.chance(2)) out.curve.g4 = between(random, 0, 1);
      return out;
    }
  }
}

inline Problem random_problem(base::Random& random, std::uint64_t most_types = 4,
                              std::int64_t most_quota = 4) {
  Problem out{.work = random_work(random)};
  if (!random.chance(3))
    out.traffic = {between(random, 1, 100), between(random, 50, 600),
                   between(random, 2'000, 9'000)};
  if (!random.chance(3))
    out.hub = {between(random, 300, 2'000), between(random, 0.1, 0.9), between(random, -2, 0.5)};
  if (random.chance(3)) out.hub.folds_per_s = between(random, 1, 10);
  if (random.chance(2)) out.recovery = {between(random, 10, 300), 0, between(random, 0, 120)};
  const auto types = 1 + random.below(most_types);
  const bool round_batches = random.chance(2);
  for (std::uint64_t i = 0; i < types; ++i) {
    MachineType type{.name = "t" + std::to_string(i),
                     .quota = static_cast<std::int32_t>(random.between(i == 0 ? 1 : 0, most_quota)),
                     .price = Credits(random.between(50'000, 3'000'000)),
                     .batch = round_batches ? 128 * std::pow(2, random.below(4))
                                            : std::floor(between(random, 16, 1'500)),
                     .compute_s = between(random, 0.05, 3),
                     .gpus = static_cast<std::int32_t>(random.between(1, 8))};
    if (random.chance(2)) type.revocations_per_hour = between(random, 0, 5);
    out.types.push_back(std::move(type));
  }
  return out;
}

// Calls visit(mix) for every mix of the problem.
template <class Visit>
void for_each_mix(const Forecaster& f, Visit&& visit) {
  const auto& types = f.problem().types;
  Mix mix(types.size(), 0);
  while (true) {
    std::size_t i = 0;
    while (i < types.size() && mix[i] == types[i].quota) mix[i++] = 0;
    if (i == types.size()) return;
    ++mix[i];
    if (machines_in(mix) <= f.most_machines()) visit(std::as_const(mix));
  }
}

}  // namespace souk::advisor::testing
