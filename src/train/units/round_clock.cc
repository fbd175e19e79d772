#include "train/units/round_clock.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace souk::train {
namespace {

// Seconds that a round takes if nothing asks for more, and the least where its steps are quick: so
// many of the quickest machine, and so many exchanges, of which no round has fewer than two.
constexpr double kUsualRound = 0.5, kShortestRound = 0.05;
constexpr double kQuickSteps = 4, kQuickExchanges = 10, kExchanges = 2;
constexpr double kUnitsPerSecond = 200;           // Each is an event of the market.
constexpr double kGrace = 0.25, kGraceOfNew = 7;  // Of its length, for who is late.
// A round has time for a step of the machines that together do this part of the work; who is slower
// than all of them would hold up the rest.
constexpr double kCounted = 0.8;
constexpr double kLongerCounts = 0.25;
constexpr int kTriedAgain = 16;  // After so many rounds without work.

// The lower of the two in the middle.
double middle_of(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + (std::ssize(values) - 1) / 2;
  std::ranges::nth_element(values, at);
  return *at;
}

// Of steps in order.
double slowest_that_counts(const std::vector<double>& steps) {
  double all = 0, counted = 0;
  for (const auto s : steps) all += 1 / s;
  for (const auto s : steps)
    if ((counted += 1 / s) >= kCounted * all) return s;
  return 0;
}

}  // namespace

base::Duration RoundClock::length(std::span<const Pace> paces) const {
  if (seconds_ > 0) return base::as_duration(seconds_);
  std::vector<double> steps, exchanges;
  for (const auto& p : paces) {
    if (p.step_s > 0) steps.push_back(p.step_s);
    if (p.exchange_s > 0) exchanges.push_back(p.exchange_s);
  }
  std::ranges::sort(steps);
  const auto exchange = middle_of(exchanges);
  const auto quick =
      std::max({kShortestRound, static_cast<double>(paces.size()) / kUnitsPerSecond,
                kQuickSteps * (steps.empty() ? 0 : steps.front()), kQuickExchanges * exchange});
  return base::as_duration(std::max({std::min(kUsualRound, quick), kExchanges * exchange,
                                     slowest_that_counts(steps) + exchange}));
}

void RoundClock::begin(base::Time now, std::span<const Pace> paces) {
  under_way_ = true;
  began_ = now;
  length_ = length(paces);
  known_ = std::ranges::any_of(paces, [](const auto& p) { return p.step_s > 0; });
}

base::Time RoundClock::late(const Pace& pace) const {
  if (pace.step_s > 0) return over() + part(kGrace);
  return known_ ? over() + part(kGraceOfNew) : base::kNever;
}

void RoundClock::Member::gave(std::int64_t steps) {
  steps_given_ += steps;
  last_ = steps;
}

void RoundClock::Member::in_time() { most_ = std::min(2 * most_, kAnySteps); }

void RoundClock::Member::late(base::Duration taken) {
  pace.step_s = std::max(pace.step_s, taken.seconds() / static_cast<double>(last_));
  most_ = std::max<std::int64_t>(1, last_ / 2);
  if (last_ == 1) rests_ = kTriedAgain;  // It would keep the last step of an epoch from others.
}

void RoundClock::Member::measured(base::Duration computed, base::Duration waited) {
  waited_ = waited_ + std::max(waited, base::Duration());
  if (steps_given_ <= 0 || computed <= base::Duration()) return;
  const auto step = computed.seconds() / static_cast<double>(std::exchange(steps_given_, 0));
  const auto exchange = std::exchange(waited_, {}).seconds();
  if (reports_++ == 0) return;  // It began: data, the trainer's first step.
  const auto first = reports_ == 2;
  pace.step_s = first ? step : (pace.step_s + step) / 2;
  // One that took long says less of a line than one that did not.
  const auto weight = first || exchange < pace.exchange_s ? 1 : kLongerCounts;
  pace.exchange_s += weight * (exchange - pace.exchange_s);
}

std::int64_t RoundClock::steps(Member& worker, base::Time now) const {
  worker.had_turn = true;
  if (worker.rests_ > 0) {
    --worker.rests_;
    return 0;
  }
  auto steps = fitting(worker, now);
  // What is known of it may be wrong: it is tried again now and then.
  if (steps == 0 && ++worker.left_out_ >= kTriedAgain) steps = 1;
  if (steps > 0) worker.left_out_ = 0;
  return steps;
}

std::int64_t RoundClock::fitting(Member& worker, base::Time now) const {
  const auto& pace = worker.pace;
  if (pace.step_s <= 0) return 1;
  const auto room = (over() - now).seconds() - pace.exchange_s;
  const auto fit = std::max(0.0, room / pace.step_s) + worker.carry_;
  if (fit >= 1) {
    const auto whole = std::floor(std::min(fit, static_cast<double>(worker.most_)));
    worker.carry_ = std::min(fit - whole, 1.0);
    return static_cast<std::int64_t>(whole);
  }
  // Less than one: it is in time before others stop waiting for it.
  const auto grace = (late(pace) - now).seconds() - pace.exchange_s;
  if (grace < pace.step_s) return 0;
  worker.carry_ = 0;
  return 1;
}

}  // namespace souk::train
