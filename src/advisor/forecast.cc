#include "advisor/forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/time.h"

namespace souk::advisor {
namespace {

using base::Code;
using base::fail;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

template <class... F>
struct Overload : F... {
  using F::operator()...;
};

auto quantile(double share) {
  return [share](const Spread& s) { return s.quantile(share); };
}

bool at_least_zero(double v) { return v >= 0 && std::isfinite(v); }
bool above_zero(double v) { return v > 0 && std::isfinite(v); }

// The nearest whole number, halves down. The last bits of a half are noise.
double whole_iterations(double j) { return std::max(1.0, std::ceil(j - 0.5 - 1e-9 * std::abs(j))); }

double pcie_seconds(const Traffic& t, std::int32_t gpus) {
  return t.pcie_mb_s > 0 ? 2 * gpus * t.model_mb / t.pcie_mb_s : 0;
}
double network_seconds(const Traffic& t, double mb_s) {
  return mb_s > 0 ? 2 * t.model_mb / mb_s : 0;
}

Result<> check_type(const MachineType& t) {
  const auto bad = [&](std::string_view what, double value, std::string_view want) {
    return fail(Code::invalid, fmt::format("{} of {} is {}", what, t.name, value),
                fmt::format("it is {}", want));
  };
  if (t.name.empty()) return fail(Code::invalid, "a machine type has no name", "name it");
  if (t.quota < 0) return bad("the quota", t.quota, "0 or more");
  if (t.price < Credits()) return bad("the price", in_credits(t.price), "0 or more");
  if (!above_zero(t.batch)) return bad("the batch", t.batch, "above 0");
  if (!above_zero(t.compute_s)) return bad("the time to compute a step", t.compute_s, "above 0");
  if (t.gpus < 0) return bad("the number of GPUs", t.gpus, "0 or more");
  if (!at_least_zero(t.revocations_per_hour))
    return bad("the revocations per hour", t.revocations_per_hour, "0 or more");
  for (const auto r : t.residuals)
    if (!(r > -1 && std::isfinite(r))) return bad("a residual", r, "above -1");
  return {};
}

Result<> check_work(const Goal& work) {
  const auto count = [](std::string_view noun, double n) -> Result<> {
    if (above_zero(n)) return {};
    return fail(Code::invalid, fmt::format("{} {} are to be done", n, noun), "ask for more than 0");
  };
  return std::visit(
      Overload{[&](const Iterations& w) { return count("iterations", w.count); },
               [&](const Samples& w) { return count("samples", w.count); },
               [](const TargetLoss& w) -> Result<> {
                 if (!(w.loss > w.curve.g5))
                   return fail(Code::invalid,
                               fmt::format("a loss of {} is never reached: the curve ends at {}",
                                           w.loss, w.curve.g5),
                               fmt::format("ask for a loss above {}", w.curve.g5));
                 if (!(w.curve.g2 <= 0 && w.curve.g3 > 0) || w.curve.g4.value_or(0) < 0)
                   return fail(Code::invalid,
                               fmt::format("a loss curve with gamma2 {}, gamma3 {}, gamma4 {}",
                                           w.curve.g2, w.curve.g3, w.curve.g4.value_or(0)),
                               "gamma2 is at most 0, gamma3 above 0, gamma4 0 or more");
                 return {};
               }},
      work);
}

Result<> check_rest(const Problem& p) {
  const std::pair<std::string_view, double> amounts[] = {
      {"the model's size", p.traffic.model_mb},
      {"the bandwidth of a worker", p.traffic.request_mb_s},
      {"the bandwidth of PCIe", p.traffic.pcie_mb_s},
      {"the hub's bandwidth", p.hub.bandwidth_mb_s},
      {"the hub's folds per second", p.hub.folds_per_s},
      {"the slope of contention", p.hub.contention_slope},
      {"the time between checkpoints", p.recovery.interval_s},
      {"the time of a checkpoint", p.recovery.checkpoint_s},
      {"the time of a restart", p.recovery.restart_s}};
  for (const auto& [what, value] : amounts)
    if (!at_least_zero(value))
      return fail(Code::invalid, fmt::format("{} is {}", what, value), "it is 0 or more");
  if (!(p.level > 0 && p.level < 1))
    return fail(Code::invalid, fmt::format("intervals of {}", p.level), "between 0 and 1, as 0.8");
  return {};
}

Result<> check(const Problem& p) {
  if (p.types.empty() || p.types.size() > Forecaster::kMostTypes)
    return fail(Code::invalid, fmt::format("{} machine types", p.types.size()),
                fmt::format("1 to {}", Forecaster::kMostTypes));
  std::int64_t total = 0;
  for (const auto& type : p.types) {
    SOUK_TRY(check_type(type));
    total += type.quota;
  }
  if (total < 1) return fail(Code::invalid, "there are no machines: every quota is 0", "raise one");
  if (total > Forecaster::kMostMachines)
    return fail(Code::too_large, fmt::format("{} machines", total),
                fmt::format("at most {} in all; lower the quotas", Forecaster::kMostMachines));
  SOUK_TRY(check_work(p.work));
  return check_rest(p);
}

// Beyond it every worker is asking at every moment.
double contention_ends(const Hub& hub) {
  if (hub.bandwidth_mb_s <= 0 || hub.contention_slope <= 0) return kInfinite;
  const auto root = (1 - hub.contention_base) / hub.contention_slope;
  return root > 0 ? std::max(1.0, std::floor(root * root + 1e-9)) : 1;
}

}  // namespace

// Sums over a mix, revocations included.
struct Forecaster::Totals {
  std::int32_t machines = 0;
  double rate = 0;      // Steps per second.
  double speed = 0;     // Samples per second.
  double squares = 0;   // Of the machines' speeds.
  double fastest = 0;   // Speed of the fastest.
  double per_hour = 0;  // Credits.

  [[nodiscard]] double batch() const { return speed / rate; }
  [[nodiscard]] double unequal() const {
    return std::sqrt(std::max(0.0, 1 - 2 * fastest / speed + squares / (speed * speed)));
  }
};

double compute_seconds(double step_s, const Traffic& traffic, std::int32_t gpus) {
  return step_s - network_seconds(traffic, traffic.request_mb_s) - pcie_seconds(traffic, gpus);
}

double iterations_until(double loss, const Convergence& g, std::int32_t machines, double batch,
                        double unequal) {
  const auto spread = g.g4 ? unequal + *g.g4 : 1.0;
  const auto height = g.g2 * batch + g.g3;
  if (height <= 0) return kInfinite;
  return whole_iterations(height * std::sqrt(spread * machines) / (loss - g.g5) - g.g1);
}

Result<Forecaster> Forecaster::make(Problem problem) {
  SOUK_TRY(check(problem));
  return Forecaster(std::move(problem));
}

Forecaster::Forecaster(Problem problem) : problem_(std::move(problem)) {
  std::int64_t total = 0;
  for (const auto& type : problem_.types) {
    total += type.quota;
    own_.push_back(own(type));
  }
  most_ = static_cast<std::int32_t>(
      std::min(static_cast<double>(total), contention_ends(problem_.hub)));
  for (std::int32_t n = 1; n <= most_; ++n)
    network_s_.push_back(network_seconds(problem_.traffic, share_of_network(n)));
  for (std::int32_t n = 1; n <= most_; ++n) least_unequal_.push_back(least_heterogeneity(n));
}

Forecaster::Own Forecaster::own(const MachineType& type) const {
  const auto per_s = type.revocations_per_hour / base::kSecondsPerHour;
  const auto recovery = settled(problem_.recovery, per_s);
  return {.seconds = type.compute_s + pcie_seconds(problem_.traffic, type.gpus),
          .stretch = stretch(per_s, recovery),
          .steady = stretch_of_checkpoints(recovery),
          .delay_s = lost_per_revocation(per_s, recovery),
          .spread = Spread(type.residuals)};
}

double Forecaster::share_of_network(std::int32_t machines) const {
  const auto alone = problem_.traffic.request_mb_s;
  const auto& hub = problem_.hub;
  const auto fair = hub.bandwidth_mb_s / machines;
  if (hub.bandwidth_mb_s <= 0 || alone <= fair) return alone;
  const auto at_once =
      std::clamp(hub.contention_slope * std::sqrt(machines) + hub.contention_base, 0.0, 1.0);
  return at_once * fair + (1 - at_once) * alone;
}

Forecaster::Totals Forecaster::totals(const Mix& mix) const {
  CHECK(mix.size() == problem_.types.size());
  Totals out{.machines = machines_in(mix)};
  CHECK(out.machines >= 1 && out.machines <= most_);
  for (std::size_t i = 0; i < mix.size(); ++i) {
    if (mix[i] == 0) continue;
    const auto& type = problem_.types[i];
    const auto rate = 1 / step_seconds(i, out.machines);
    const auto speed = type.batch * rate;
    out.rate += mix[i] * rate;
    out.speed += mix[i] * speed;
    out.squares += mix[i] * speed * speed;
    out.fastest = std::max(out.fastest, speed);
    out.per_hour += mix[i] * in_credits(type.price);
  }
  return out;
}

double Forecaster::iterations_for(std::int32_t machines, double batch, double unequal) const {
  return std::visit(Overload{[](const Iterations& w) { return w.count; },
                             [&](const Samples& w) { return w.count / batch; },
                             [&](const TargetLoss& w) {
                               return iterations_until(w.loss, w.curve, machines, batch, unequal);
                             }},
                    problem_.work);
}

double Forecaster::capped(double rate) const {
  return problem_.hub.folds_per_s > 0 ? std::min(rate, problem_.hub.folds_per_s) : rate;
}

Estimate Forecaster::estimate(const Mix& mix) const {
  const auto sum = totals(mix);
  Estimate out{.iterations = iterations_for(sum.machines, sum.batch(), sum.unequal()),
               .step_s = 1 / capped(sum.rate)};
  out.time_s = out.iterations * out.step_s;
  out.cost = out.time_s * sum.per_hour / base::kSecondsPerHour;
  return out;
}

// The fastest machine's share is largest beside the slowest ones; the others' squares are least
// when they are equal.
double Forecaster::least_heterogeneity(std::int32_t machines) const {
  if (machines == 1) return 0;
  double least = kInfinite, most = 0;
  for (std::size_t i = 0; i < problem_.types.size(); ++i) {
    if (problem_.types[i].quota == 0) continue;
    const auto speed = problem_.types[i].batch / step_seconds(i, machines);
    least = std::min(least, speed);
    most = std::max(most, speed);
  }
  const auto others = (machines - 1) * least / (most + (machines - 1) * least);
  return others * std::sqrt(1 + 1.0 / (machines - 1));
}

double Forecaster::least_iterations(std::int32_t machines, double batch) const {
  const auto j =
      iterations_for(machines, batch, least_unequal_[static_cast<std::size_t>(machines - 1)]);
  return std::isinf(j) ? 1 : j;
}

template <class Error>
double Forecaster::steps_per_second(const Mix& mix, const Error& error, bool steady) const {
  const auto n = machines_in(mix);
  double rate = 0;
  for (std::size_t i = 0; i < mix.size(); ++i) {
    if (mix[i] == 0) continue;
    const auto& own = own_[i];
    rate +=
        mix[i] / (step_seconds(i, n, steady ? own.steady : own.stretch) * (1 + error(own.spread)));
  }
  return capped(rate);
}

double Forecaster::chance(const Mix& mix, double deadline_s) const {
  const auto iterations = estimate(mix).iterations;
  if (std::isinf(iterations)) return 0;
  const auto n = machines_in(mix);
  double steady = 0, leaving = 0, lost = 0;  // Per second.
  for (std::size_t i = 0; i < mix.size(); ++i) {
    if (mix[i] == 0) continue;
    const auto per_s = problem_.types[i].revocations_per_hour / base::kSecondsPerHour;
    const auto rate = 1 / step_seconds(i, n, own_[i].steady);
    steady += mix[i] * rate;
    leaving += mix[i] * per_s;
    lost += mix[i] * per_s * rate * own_[i].delay_s;
  }
  const auto delay_s = leaving > 0 ? lost / leaving / steady : 0;  // Of all, by one that leaves.
  constexpr int points = 64;
  double sum = 0;
  for (int i = 0; i < points; ++i) {
    const auto needed = iterations / steps_per_second(mix, quantile((i + 0.5) / points), true);
    const auto spare = deadline_s - needed;
    if (spare >= 0)
      sum += delay_s > 0 ? chance_of_at_most(spare / delay_s, leaving * deadline_s) : 1;
  }
  return sum / points;
}

Forecast Forecaster::forecast(const Mix& mix, std::optional<double> deadline_s) const {
  const auto sum = totals(mix);
  Forecast out{
      .mix = mix, .estimate = estimate(mix), .batch = sum.batch(), .heterogeneity = sum.unequal()};
  const auto& hub = problem_.hub;
  if (hub.folds_per_s > 0 && sum.rate > hub.folds_per_s)
    out.limit = Bottleneck::hub;
  else if (share_of_network(sum.machines) < problem_.traffic.request_mb_s)
    out.limit = Bottleneck::network;
  const auto time_at = [&](const auto& error) {
    return out.estimate.iterations / steps_per_second(mix, error, false);
  };
  const auto tail = (1 - problem_.level) / 2;
  out.time_s = {time_at(quantile(tail)),
                time_at([&](const Spread& s) { return s.lean(problem_.level); }),
                time_at(quantile(1 - tail))};
  const auto cost_of = [&](double per_hour) {
    return Interval{out.time_s.low * per_hour / base::kSecondsPerHour,
                    out.time_s.expected * per_hour / base::kSecondsPerHour,
                    out.time_s.high * per_hour / base::kSecondsPerHour};
  };
  out.cost = cost_of(sum.per_hour);
  out.cost_with_hub = cost_of(sum.per_hour + in_credits(hub.price));
  for (std::size_t i = 0; i < mix.size(); ++i) {
    if (mix[i] == 0) continue;
    out.revocations += mix[i] * problem_.types[i].revocations_per_hour * out.time_s.expected /
                       base::kSecondsPerHour;
    out.guessed |= own_[i].spread.guessed();
  }
  if (deadline_s) out.chance = chance(mix, *deadline_s);
  return out;
}

}  // namespace souk::advisor
