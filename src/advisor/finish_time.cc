#include "advisor/finish_time.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "advisor/allocation.h"

namespace souk::advisor {
namespace {

constexpr int kMostProbes = 60;
constexpr double kEnough = 8e-10;  // Of rho: below kExact.

class Search {
 public:
  explicit Search(const ScheduleInstance& s) : s_(s), alone_(s.jobs()) {
    const auto rates = isolated_rates(s);
    for (std::size_t i = 0; i < s.jobs(); ++i) {
      alone_[i] = (s.isolated.empty() ? 0 : s.isolated[i]) + s.steps[i] / rates[i];
      const auto fastest = std::ranges::max(s.rates(i));
      low_ = std::max(low_, (elapsed(i) + s.steps[i] / fastest) / alone_[i]);
      first_ = std::max(first_, (elapsed(i) + s.steps[i] / rates[i]) / alone_[i]);
    }
  }

  Schedule run() {
    // An equal part for everybody fits, so its rho can be had.
    auto rho = std::max(first_, low_);
    for (int k = 0; k < kMostProbes && (k == 0 || out_.gap() > kEnough); ++k) rho = probe(rho);
    return std::move(out_);
  }

 private:
  [[nodiscard]] double elapsed(std::size_t i) const {
    return s_.elapsed.empty() ? 0 : s_.elapsed[i];
  }

  // Returns where to look next.
  double probe(double rho) {
    std::vector<double> needs(s_.jobs());
    for (std::size_t i = 0; i < s_.jobs(); ++i)
      needs[i] = s_.steps[i] / (rho * alone_[i] - elapsed(i));
    // A probe need be no better than Newton's next step, whose error is about the square of this.
    auto found = solve(level_program(s_, needs), std::clamp(.1 * error_ * error_, 1e-11, 1e-3));
    double slope = 0;  // Of the level over rho: level times what the needs shrink by.
    for (std::size_t i = 0; i < s_.jobs(); ++i)
      slope += found.worth_of_rate[i] * needs[i] * alone_[i] / (rho * alone_[i] - elapsed(i));
    slope *= found.t;
    error_ = found.t - 1;
    if (found.bound < 1) low_ = std::max(low_, rho);
    take(found, slope);
    return next(rho - error_ / slope);
  }

  void take(SharesSolution& found, double slope) {
    Schedule now{.shares = std::move(found.shares), .prices = std::move(found.prices)};
    const auto rates = speeds(s_, now);
    for (std::size_t i = 0; i < s_.jobs(); ++i)
      now.objective = std::max(now.objective, (elapsed(i) + s_.steps[i] / rates[i]) / alone_[i]);
    for (auto& p : now.prices) p /= slope;
    if (out_.shares.empty() || now.objective < out_.objective) std::swap(out_, now);
    out_.bound = std::min(low_, out_.objective);
  }

  // A hair below the root, so that the probe proves that there is nothing further down.
  [[nodiscard]] double next(double newton) const {
    const auto high = out_.objective;
    const auto below = std::min(newton, high) * (1 - .5 * kEnough);
    return below > low_ && below < high ? below : (low_ + high) / 2;
  }

  const ScheduleInstance& s_;
  std::vector<double> alone_;  // Seconds it would take alone, from its arrival.
  double low_ = 0;             // No schedule has a smaller rho.
  double first_ = 0, error_ = 1;
  Schedule out_;
};

}  // namespace

Result<Schedule> FinishTime::solve(const ScheduleInstance& s) const {
  SOUK_TRY(needs_field("ftf", "steps", !s.steps.empty() || s.jobs() == 0));
  if (s.jobs() == 0) return Schedule{.prices = std::vector<double>(s.types(), 0)};
  return Search(s).run();
}

}  // namespace souk::advisor
