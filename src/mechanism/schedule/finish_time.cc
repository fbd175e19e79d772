#include "mechanism/schedule/finish_time.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mechanism/schedule/allocation.h"

namespace souk::mechanism {
namespace {

constexpr int kMostProbes = 60;
constexpr double kEnough = 8e-10;  // Of rho: below kExact.

class Search {
 public:
  Search(const ScheduleInstance& s, Precision precision)
      : s_(s), precision_(precision), alone_(s.jobs()) {
    const auto rates = isolated_rates(s);
    for (std::size_t i = 0; i < s.jobs(); ++i) {
      alone_[i] = (s.isolated.empty() ? 0 : s.isolated[i]) + s.steps[i] / rates[i];
      const auto fastest = std::ranges::max(s.rates(i));
      low_ = std::max(low_, (elapsed(i) + s.steps[i] / fastest) / alone_[i]);
      if (elapsed(i) > 0) error_ = 1;
    }
  }

  Schedule run() {
    const auto enough = precision_ == Precision::near ? 2 * kNearGap : kEnough;
    auto rho = low_;
    for (int k = 0; k < kMostProbes && (k == 0 || out_.gap() > enough); ++k) {
      const auto before = rho;
      rho = probe(rho);
      if (precision_ == Precision::near && k > 0 && std::abs(rho / before - 1) < kNearGap) break;
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] double elapsed(std::size_t i) const {
    return s_.elapsed.empty() ? 0 : s_.elapsed[i];
  }

  // Solves the program with the tangents at `rho`, and returns the rho that they come to.
  double probe(double rho) {
    const auto at = 1 / rho;
    auto program = level_program(s_, std::vector<double>(s_.jobs()));
    for (std::size_t i = 0; i < s_.jobs(); ++i) {
      // steps / (alone rho - elapsed), in terms of 1 / rho.
      const auto left = alone_[i] - elapsed(i) * at;
      program.level[i] = s_.steps[i] * alone_[i] / (left * left);
      program.least[i] = s_.steps[i] * at / left - program.level[i] * at;
    }
    // A probe need be no better than the tangents, which miss by about the square of the last move.
    auto found = solve(program, precision_, std::clamp(.1 * error_ * error_, 1e-11, 1e-3));
    low_ = std::max(low_, 1 / found.bound);
    const auto next = std::max(low_, 1 / found.t);
    error_ = std::abs(next / rho - 1);
    take(found);
    return next;
  }

  void take(SharesSolution& found) {
    Schedule now{.shares = std::move(found.shares), .prices = std::move(found.prices)};
    const auto rates = speeds(s_, now);
    for (std::size_t i = 0; i < s_.jobs(); ++i)
      now.objective = std::max(now.objective, (elapsed(i) + s_.steps[i] / rates[i]) / alone_[i]);
    // d rho = d (1 / t) = -rho^2 dt.
    for (auto& p : now.prices) p *= now.objective * now.objective;
    if (out_.shares.empty() || now.objective < out_.objective) std::swap(out_, now);
    out_.bound = std::min(low_, out_.objective);
  }

  const ScheduleInstance& s_;
  Precision precision_;
  std::vector<double> alone_;  // Seconds it would take alone, from its arrival.
  double low_ = 0;             // No schedule has a smaller rho.
  double error_ = 0;           // Of the tangents, about, before it is squared.
  Schedule out_;
};

}  // namespace

Result<Schedule> FinishTime::solve(const ScheduleInstance& s) const {
  SOUK_TRY(needs_field("ftf", "steps", !s.steps.empty() || s.jobs() == 0));
  if (s.jobs() == 0) return Schedule{.prices = std::vector<double>(s.types(), 0)};
  return Search(s, precision_).run();
}

}  // namespace souk::mechanism
