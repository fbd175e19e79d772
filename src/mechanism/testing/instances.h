#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "mechanism/schedule/allocation.h"
#include "mechanism/schedule/schedule.h"
#include "mechanism/testing/dense_simplex.h"

// Instances for the tests of schedules.

namespace souk::mechanism::testing {

// Two jobs on three types, s = w = 1: the best max-min level is 48/31, with 13/31 and 18/31 of the
// first type.
inline ScheduleInstance known() {
  return {.capacity = {1, 2, 3},
          .throughputs = {2, 1, .5, 3, 2, 1},
          .scale = {1, 1},
          .weights = {1, 1}};
}

// Jobs whose rates differ by two orders of magnitude, some of which cannot run on some type, some
// with gangs; steps that differ by as much again.
inline ScheduleInstance drawn(std::uint64_t seed, std::size_t jobs, std::size_t types,
                              double machines) {
  base::Random random(seed);
  ScheduleInstance s;
  for (std::size_t j = 0; j < types; ++j)
    s.capacity.push_back(std::ceil(machines * (.3 + random.unit())));
  for (std::size_t i = 0; i < jobs; ++i) {
    const auto base_rate = std::exp(4 * random.unit());
    const auto fastest = random.below(types);
    double most = 0;
    for (std::size_t j = 0; j < types; ++j) {
      const bool never = j != fastest && random.chance(8);
      s.throughputs.push_back(never ? 0 : base_rate * (.2 + 2 * random.unit()));
      most = std::max(most, s.throughputs.back());
    }
    s.scale.push_back(random.chance(4) ? static_cast<double>(1 << random.below(3)) : 1);
    s.weights.push_back(.5 + random.unit());
    s.steps.push_back(most * 3600 * std::exp(4 * random.unit()));
    s.elapsed.push_back(random.chance(2) ? 0 : 7200 * random.unit());
    s.isolated.push_back(s.elapsed.back() * random.unit());
  }
  return s;
}

// No share below 0, no job above all its time, no type above its machines.
inline void expect_fits(const ScheduleInstance& s, const Schedule& schedule) {
  ASSERT_EQ(schedule.shares.size(), s.jobs() * s.types());
  ASSERT_EQ(schedule.prices.size(), s.types());
  for (std::size_t i = 0; i < s.jobs(); ++i) {
    double time = 0;
    for (std::size_t j = 0; j < s.types(); ++j) {
      const auto share = schedule.shares[i * s.types() + j];
      EXPECT_GE(share, 0);
      if (s.rates(i)[j] == 0) {
        EXPECT_EQ(share, 0) << "job " << i << " on type " << j;
      }
      time += share;
    }
    EXPECT_LE(time, 1 + 1e-12) << "job " << i;
  }
  const auto used = machines_used(s, schedule.shares);
  for (std::size_t j = 0; j < s.types(); ++j)
    EXPECT_LE(used[j], s.capacity[j] * (1 + 1e-12)) << "type " << j;
}

// The largest t so that every job has t times need_i steps a second, by another solver.
inline double reference_level(const ScheduleInstance& s, const std::vector<double>& needs) {
  const auto m = s.types(), n = s.jobs();
  std::vector<std::vector<double>> a;
  std::vector<double> b, c(n * m + 1, 0);
  c.back() = 1;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> level(n * m + 1, 0), time(n * m + 1, 0);
    level.back() = 1;
    for (std::size_t j = 0; j < m; ++j) {
      level[i * m + j] = -s.rates(i)[j] / needs[i];
      time[i * m + j] = 1;
    }
    a.push_back(std::move(level));
    b.push_back(0);
    a.push_back(std::move(time));
    b.push_back(1);
  }
  for (std::size_t j = 0; j < m; ++j) {
    std::vector<double> use(n * m + 1, 0);
    for (std::size_t i = 0; i < n; ++i) use[i * m + j] = s.scale[i];
    a.push_back(std::move(use));
    b.push_back(s.capacity[j]);
  }
  return dense_simplex(a, b, c).value();
}

}  // namespace souk::mechanism::testing
