#include "advisor/planners/spotdnn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace souk::advisor {
namespace {

// The type of each machine, fastest step first.
std::vector<std::size_t> row_of(const Forecaster& f) {
  const auto& types = f.problem().types;
  std::vector<std::size_t> order(types.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(f.step_seconds(i, 1), i); });
  std::vector<std::size_t> out;
  for (const auto i : order) out.insert(out.end(), static_cast<std::size_t>(types[i].quota), i);
  return out;
}

// Calls visit(mix) for each window of `size` machines in turn.
template <class Visit>
void for_each_window(const std::vector<std::size_t>& row, std::int32_t size, std::size_t types,
                     Visit&& visit) {
  const auto n = static_cast<std::size_t>(size);
  CHECK(n <= row.size());
  Mix mix(types, 0);
  for (std::size_t i = 0; i < n; ++i) ++mix[row[i]];
  for (std::size_t begin = 0; begin < row.size(); ++begin) {
    visit(std::as_const(mix));
    const auto out = row[begin], in = row[(begin + n) % row.size()];
    --mix[out];
    ++mix[in];
  }
}

// The window with the least of what measure(estimate) says; infinite is none.
template <class Measure>
Mix best_window(const Forecaster& f, SizeBounds bounds, Measure&& measure) {
  const auto row = row_of(f);
  auto least = std::numeric_limits<double>::infinity();
  Mix out;
  for (auto n = bounds.lower; n <= bounds.upper; ++n)
    for_each_window(row, n, f.problem().types.size(), [&](const Mix& mix) {
      if (const auto value = measure(f.estimate(mix)); value < least) {
        least = value;
        out = mix;
      }
    });
  return out;
}

}  // namespace

SizeBounds size_bounds(const Forecaster& f, double deadline_s) {
  const auto& types = f.problem().types;
  double least_batch = std::numeric_limits<double>::infinity(), most_batch = 0, speed = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].quota == 0) continue;
    least_batch = std::min(least_batch, types[i].batch);
    most_batch = std::max(most_batch, types[i].batch);
    speed = std::max(speed, types[i].batch / f.step_seconds(i, 1));
  }
  // Less one: iterations are rounded, which concavity does not survive.
  const auto samples = [&](double batch) { return batch * (f.least_iterations(1, batch) - 1); };
  const auto needed =
      std::ceil(std::min(samples(least_batch), samples(most_batch)) / (speed * deadline_s) - 1e-9);
  const auto most = static_cast<double>(f.most_machines());
  return {.lower = static_cast<std::int32_t>(std::clamp(needed, 1.0, most + 1)),
          .upper = f.most_machines()};
}

Mix fastest_window(const Forecaster& f) {
  return best_window(f, {1, f.most_machines()}, [](const Estimate& e) { return e.time_s; });
}

Result<Mix> spotdnn(const Forecaster& f, double deadline_s) {
  auto out = best_window(f, size_bounds(f, deadline_s), [&](const Estimate& e) {
    return e.time_s <= deadline_s ? e.cost : std::numeric_limits<double>::infinity();
  });
  if (!out.empty()) return out;
  const auto fastest = fastest_window(f);
  return base::fail(
      base::Code::conflict, fmt::format("no window of machines is done in {} s", deadline_s),
      fastest.empty()
          ? "the loss curve covers none of these batches"
          : fmt::format("the tightest time is {:.2f} s, with {}", f.estimate(fastest).time_s,
                        describe(fastest, f.problem().types)));
}

}  // namespace souk::advisor
