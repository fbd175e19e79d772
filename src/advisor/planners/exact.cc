#include "advisor/planners/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <variant>

#include "advisor/planners/spotdnn.h"
#include "base/check.h"
#include "base/time.h"

namespace souk::advisor {
namespace {

using base::Code;
using base::fail;

constexpr double kAsGood = 1 + 1e-12;  // What is this near differs by rounding only.

enum class Aim : std::uint8_t { cost, time };

struct Within {
  double deadline_s = kUnlimited;
  double budget = kUnlimited;
};

// A type at the number of machines under consideration. Where the work is a number of samples, a
// "step" here is one sample: time then is samples over speed, whatever the batches.
struct Kind {
  std::size_t type = 0;
  std::int32_t quota = 0;
  double rate = 0;   // Steps per second.
  double price = 0;  // Credits per hour.
  double batch = 0;
};

// What is decided so far.
struct Partial {
  std::size_t depth = 0;  // Kinds decided.
  std::int32_t left = 0;  // Machines to give.
  double rate = 0, price = 0, speed = 0;
};

class Search {
 public:
  Search(const Forecaster& f, Aim aim, Within within, const ExactLimits& limits)
      : f_(f), aim_(aim), within_(within), limits_(limits), mix_(f.problem().types.size()) {
    if (const auto* work = std::get_if<Samples>(&f.problem().work)) samples_ = work->count;
    const auto folds = f.problem().hub.folds_per_s;
    if (folds <= 0) return;
    most_rate_ = folds;
    if (samples_) most_rate_ *= std::ranges::max(f.problem().types, {}, &MachineType::batch).batch;
  }

  void run() {
    begin();
    for (const auto& [bound, n] : sizes()) {
      if (bound >= value() || plan_.nodes >= limits_.nodes) break;
      enter(n);
      visit({.left = n});
    }
    plan_.proved = plan_.nodes < limits_.nodes;
  }

  [[nodiscard]] const ExactPlan& plan() const { return plan_; }

 private:
  // Something to beat from the start: the best window.
  void begin() {
    auto window = fastest_window(f_);
    if (aim_ == Aim::cost) window = spotdnn(f_, within_.deadline_s).value_or(std::move(window));
    if (window.empty()) return;
    mix_ = std::move(window);
    leaf();
    mix_.assign(mix_.size(), 0);
  }

  // What the best mix so far has of what is aimed at.
  [[nodiscard]] double value() const { return aim_ == Aim::cost ? best_.cost : best_.time_s; }

  // The numbers of machines with a bound each on what they can reach, most promising first.
  [[nodiscard]] std::vector<std::pair<double, std::int32_t>> sizes() {
    const auto bounds = size_bounds(f_, within_.deadline_s);
    std::vector<std::pair<double, std::int32_t>> out;
    for (auto n = bounds.lower; n <= bounds.upper; ++n) {
      enter(n);
      const Partial root{.left = n};
      const auto rate = fastest_rate(root);
      const auto j = least_steps(root);
      const auto time = j / std::min(rate, most_rate_);
      if (time > within_.deadline_s) continue;
      double per_step = kUnlimited;
      for (const auto& k : kinds_) per_step = std::min(per_step, k.price / k.rate);
      out.emplace_back(aim_ == Aim::time ? time : j * per_step / base::kSecondsPerHour, n);
    }
    std::ranges::sort(out);
    return out;
  }

  // Sets up the kinds for `n` machines: those that are good at what is aimed at first.
  void enter(std::int32_t n) {
    machines_ = n;
    kinds_.clear();
    const auto& types = f_.problem().types;
    for (std::size_t i = 0; i < types.size(); ++i)
      if (types[i].quota > 0)
        kinds_.push_back({.type = i,
                          .quota = std::min(types[i].quota, n),
                          .rate = (samples_ ? types[i].batch : 1) / f_.step_seconds(i, n),
                          .price = in_credits(types[i].price),
                          .batch = samples_ ? 1 : types[i].batch});
    std::ranges::sort(kinds_, {}, [&](const Kind& k) {
      return std::tuple(-k.batch, aim_ == Aim::cost ? k.price / k.rate : -k.rate, k.type);
    });
    most_batch_ = std::ranges::max(kinds_, {}, &Kind::batch).batch;
    by_rate_.resize(kinds_.size());
    std::iota(by_rate_.begin(), by_rate_.end(), std::size_t{0});
    std::ranges::sort(by_rate_, std::ranges::greater(),
                      [&](std::size_t k) { return kinds_[k].rate; });
  }

  // Steps per second with the fastest of the machines that are left.
  [[nodiscard]] double fastest_rate(const Partial& p) const {
    auto rate = p.rate;
    auto left = p.left;
    for (const auto k : by_rate_) {
      if (k < p.depth) continue;
      const auto take = std::min(left, kinds_[k].quota);
      rate += take * kinds_[k].rate;
      left -= take;
    }
    CHECK(left == 0);
    return rate;
  }

  // The largest batch of any way to fill `p`: a ratio of sums, by Dinkelbach's method. At the ratio
  // b the best machines to add are those with the largest rate x (batch - b); their own ratio is
  // the next b, and the largest when it rises no more.
  [[nodiscard]] double largest_batch(const Partial& p) {
    double batch = 0;
    for (int i = 0; i < 20; ++i) {
      scratch_.clear();
      for (auto k = p.depth; k < kinds_.size(); ++k)
        scratch_.emplace_back(kinds_[k].rate * (batch - kinds_[k].batch), k);
      std::ranges::sort(scratch_);
      auto speed = p.speed, rate = p.rate;
      fill(p.left, [&](const Kind& kind, std::int32_t take) {
        speed += take * kind.rate * kind.batch;
        rate += take * kind.rate;
      });
      if (speed / rate <= batch * kAsGood) return batch * kAsGood;
      batch = speed / rate;
    }
    return most_batch_;
  }

  [[nodiscard]] double least_steps(const Partial& p) {
    return samples_ ? *samples_ : f_.least_iterations(machines_, largest_batch(p));
  }

  // Takes `left` machines in the order of scratch_.
  template <class Take>
  void fill(std::int32_t left, Take&& take_some) const {
    for (const auto& [coefficient, k] : scratch_) {
      const auto take = std::min(left, kinds_[k].quota);
      take_some(kinds_[k], take);
      left -= take;
      if (left == 0) return;
    }
  }

  // The least of price - weight x rate over all ways to fill `p`, and the rate at which it is.
  struct Least {
    double value = 0, rate = 0;
  };
  [[nodiscard]] Least least(const Partial& p, double weight) {
    scratch_.clear();
    for (auto k = p.depth; k < kinds_.size(); ++k)
      scratch_.emplace_back(kinds_[k].price - weight * kinds_[k].rate, k);
    std::ranges::sort(scratch_);
    Least out{p.price - weight * p.rate, p.rate};
    fill(p.left, [&](const Kind& kind, std::int32_t take) {
      out.value += take * (kind.price - weight * kind.rate);
      out.rate += take * kind.rate;
    });
    return out;
  }

  // What a mix has to cost less than, to be worth a look.
  [[nodiscard]] double cost_to_beat() const {
    return aim_ == Aim::cost ? std::min(best_.cost, within_.budget) : within_.budget;
  }

  // Does no mix under `p` cost less than that? Then price >= weight x min(rate, folds) for all that
  // have the rate that the deadline needs. The multiplier m of the deadline is found by bisection:
  // the least is concave in it, and rises while the rate at it is below the one needed.
  [[nodiscard]] bool no_cheaper(const Partial& p, double steps) {
    if (std::isinf(cost_to_beat())) return false;
    const auto weight = cost_to_beat() * base::kSecondsPerHour / steps;
    if (!std::isinf(most_rate_) && least(p, 0).value >= weight * most_rate_) return true;
    const auto need = steps / within_.deadline_s;
    auto low = 0.0, m = 0.0, high = kUnlimited;
    for (int i = 0; i < 20; ++i) {
      const auto here = least(p, weight + m);
      if (here.value + m * need >= 0) return true;
      if (here.rate >= need && m == 0) return false;  // The deadline is no obstacle.
      (here.rate < need ? low : high) = m;
      m = std::isinf(high) ? std::max(weight, 1e-9) + 4 * m : (low + high) / 2;
    }
    return false;
  }

  void visit(const Partial& p) {
    if (++plan_.nodes >= limits_.nodes) return;
    if (p.left == 0) return leaf();
    const auto rate = fastest_rate(p);
    const auto steps = least_steps(p);
    const auto time = steps / std::min(rate, most_rate_);
    if (time > within_.deadline_s) return;
    if (aim_ == Aim::time && time >= best_.time_s) return;
    if (no_cheaper(p, steps)) return;
    const auto& kind = kinds_[p.depth];
    std::int64_t others = 0;  // What the kinds after this one can take at most.
    for (auto k = p.depth + 1; k < kinds_.size(); ++k) others += kinds_[k].quota;
    const auto least = static_cast<std::int32_t>(std::max<std::int64_t>(0, p.left - others));
    for (auto take = std::min(p.left, kind.quota); take >= least; --take) {
      mix_[kind.type] = take;
      visit({p.depth + 1, p.left - take, p.rate + take * kind.rate, p.price + take * kind.price,
             p.speed + take * kind.rate * kind.batch});
    }
    mix_[kind.type] = 0;
  }

  void leaf() {
    const auto e = f_.estimate(mix_);
    if (std::isinf(e.time_s) || e.time_s > within_.deadline_s || e.cost > within_.budget) return;
    if ((aim_ == Aim::cost ? e.cost : e.time_s) >= value()) return;
    best_ = e;
    plan_.mix = mix_;
  }

  const Forecaster& f_;
  const Aim aim_;
  const Within within_;
  const ExactLimits limits_;
  double most_rate_ = kUnlimited;  // The hub's folds.
  std::optional<double> samples_;  // The work, where it is a number of them.
  std::int32_t machines_ = 0;
  std::vector<Kind> kinds_;
  double most_batch_ = 0;
  std::vector<std::size_t> by_rate_;  // Positions in kinds_.
  std::vector<std::pair<double, std::size_t>> scratch_;
  Mix mix_;
  Estimate best_{.time_s = kUnlimited, .cost = kUnlimited};
  ExactPlan plan_;
};

ExactPlan search(const Forecaster& f, Aim aim, Within within, const ExactLimits& limits) {
  Search out(f, aim, within, limits);
  out.run();
  return out.plan();
}

base::Failure never_done() {
  return fail(Code::conflict, "no mix of these machines is ever done",
              "the loss curve covers none of these batches");
}

}  // namespace

Result<ExactPlan> fastest_plan(const Forecaster& f, double budget, const ExactLimits& limits) {
  auto out = search(f, Aim::time, {.budget = budget}, limits);
  if (!out.mix.empty()) return out;
  const auto cheapest = search(f, Aim::cost, {}, limits);
  if (cheapest.mix.empty()) return never_done();
  return fail(Code::conflict, fmt::format("no mix of these machines costs at most {}", budget),
              fmt::format("the least is {:.4f}, with {}", f.estimate(cheapest.mix).cost,
                          describe(cheapest.mix, f.problem().types)));
}

Result<ExactPlan> cheapest_plan(const Forecaster& f, double deadline_s, const ExactLimits& limits) {
  const auto cheapest = search(f, Aim::cost, {.deadline_s = deadline_s}, limits);
  if (!cheapest.mix.empty()) {
    constexpr double as_good = 1 + 1e-9;
    auto out = search(f, Aim::time, {deadline_s, f.estimate(cheapest.mix).cost * as_good}, limits);
    if (out.mix.empty()) out.mix = cheapest.mix;
    out.proved &= cheapest.proved;
    out.nodes += cheapest.nodes;
    return out;
  }
  const auto fastest = search(f, Aim::time, {}, limits);
  if (fastest.mix.empty()) return never_done();
  return fail(Code::conflict, fmt::format("no mix of these machines is done in {} s", deadline_s),
              fmt::format("the tightest time is {:.2f} s, with {}", f.estimate(fastest.mix).time_s,
                          describe(fastest.mix, f.problem().types)));
}

}  // namespace souk::advisor
