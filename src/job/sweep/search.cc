#include "job/sweep/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.h"

namespace souk::job {
namespace {

// People read it, and the same digits must come out wherever it is computed.
std::string number_text(double value) {
  auto out = fmt::format("{:.6g}", value);
  if (out == "-0") out = "0";
  return out;
}

// The number a part `at` of the way from low to high, 0 to 1.
std::string between(const wire::SweepParameter& p, double at) {
  const auto low = p.low.value_or(0), high = p.high.value_or(0);
  switch (*p.scale) {
    case wire::SweepScale::uniform:
      return number_text(low + (high - low) * at);
    case wire::SweepScale::log:
      return number_text(
          std::clamp(std::exp(std::log(low) + (std::log(high) - std::log(low)) * at), low, high));
    case wire::SweepScale::whole:
      return fmt::format("{:.0f}", std::round(low + (high - low) * at));
  }
  return {};
}

std::string drawn(const wire::SweepParameter& p, base::Random& random) {
  if (!p.scale) return p.values[random.below(p.values.size())];
  if (*p.scale != wire::SweepScale::whole) return between(p, random.unit());
  const auto low = static_cast<std::int64_t>(std::llround(p.low.value_or(0)));
  const auto high = static_cast<std::int64_t>(std::llround(p.high.value_or(0)));
  return std::to_string(random.between(low, high));
}

std::vector<Point> grid_of(const wire::Sweep& sweep) {
  std::vector<Point> out{{}};
  for (const auto& [name, parameter] : sweep.parameters) {
    std::vector<Point> longer;
    for (const auto& point : out)
      for (const auto& value : grid_values(parameter)) {
        longer.push_back(point);
        longer.back()[name] = value;
      }
    out = std::move(longer);
  }
  return out;
}

}  // namespace

std::vector<std::string> grid_values(const wire::SweepParameter& parameter) {
  if (!parameter.scale) return parameter.values;
  std::vector<std::string> out;
  const auto steps = parameter.steps.value_or(1);
  for (std::int32_t i = 0; i < steps; ++i) {
    auto value = between(parameter, steps == 1 ? 0 : static_cast<double>(i) / (steps - 1));
    if (std::ranges::find(out, value) == out.end()) out.push_back(std::move(value));
  }
  return out;
}

std::int64_t combinations(const wire::Sweep& sweep) {
  constexpr std::int64_t plenty = 1 << 30;
  std::int64_t out = 1;
  for (const auto& [name, parameter] : sweep.parameters) {
    const bool range = parameter.scale.has_value();
    if (range && sweep.method != wire::SweepMethod::grid) return 0;
    const auto values = range ? grid_values(parameter).size() : parameter.values.size();
    out = std::min(plenty, out * static_cast<std::int64_t>(values));
  }
  return out;
}

std::vector<Point> points_of(const wire::Sweep& sweep) {
  if (sweep.method == wire::SweepMethod::grid) return grid_of(sweep);
  constexpr int most_draws = 1'000;
  base::Random random(static_cast<std::uint64_t>(sweep.seed));
  std::vector<Point> out;
  std::set<Point> seen;
  for (std::int32_t i = 0; i < sweep.trials; ++i) {
    Point point;
    for (int draw = 0; draw < most_draws; ++draw) {
      for (const auto& [name, parameter] : sweep.parameters) point[name] = drawn(parameter, random);
      if (!seen.contains(point)) break;
    }
    seen.insert(point);
    out.push_back(std::move(point));
  }
  return out;
}

}  // namespace souk::job
