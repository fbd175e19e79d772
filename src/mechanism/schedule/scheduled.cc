#include "mechanism/schedule/scheduled.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/time.h"
#include "mechanism/schedule/allocation.h"
#include "mechanism/schedule/cost_slo.h"
#include "mechanism/schedule/finish_time.h"
#include "mechanism/schedule/hadar.h"
#include "mechanism/schedule/makespan.h"
#include "mechanism/schedule/max_min_las.h"
#include "mechanism/schedule/price_discovery.h"
#include "mechanism/schedule/slot_types.h"
#include "mechanism/schedule/whole_slots.h"
#include "mechanism/sharing/karma.h"
#include "mechanism/sharing/owners.h"

namespace souk::mechanism {
namespace {

// What is kept within reach of a solver, in seconds of work and of time.
constexpr double kLeastSeconds = 1e-3, kMostSeconds = 1e12;
constexpr double kMostHadar = 1e5;  // Slots of a type, and workers of a job.
constexpr double kNothing = 1e-6;   // Of the objective: types worth less than this are not short.

// About how much work a program is: jobs times this, beyond which it takes too long for a market.
constexpr double kExactWork = 1.5e6, kNearWork = 1e6;
double exact_work(std::size_t types) { return std::pow(static_cast<double>(types) + 2, 3); }
double near_work(std::size_t types) { return std::pow(static_cast<double>(types) + 1, 2); }

bool is_small(std::size_t jobs, std::size_t types) {
  return static_cast<double>(jobs) * exact_work(types) <= kExactWork;
}

// The most types that can be told apart in time.
std::size_t most_types(Objective objective, std::size_t jobs) {
  const auto fits = [&](std::size_t types) {
    return is_small(jobs, types) || (objective != Objective::cost_slo &&
                                     static_cast<double>(jobs) * near_work(types) <= kNearWork);
  };
  auto out = Scheduled::kMostTypes;
  while (out > 1 && !fits(out)) --out;
  return out;
}

base::Result<Schedule> solve(Objective objective, const ScheduleInstance& s) {
  const bool small = is_small(s.jobs(), s.types());
  const auto precision = small ? Precision::exact : Precision::near;
  switch (objective) {
    case Objective::las:
      return MaxMinLas(precision).solve(s);
    case Objective::ftf:
      return FinishTime(precision).solve(s);
    case Objective::makespan:
      return Makespan(precision).solve(s);
    case Objective::cost_slo:
      return CostSlo(CostSlo::Slos::stretched, small ? 1e-10 : kNearGap).solve(s);
    case Objective::hadar:
      return Hadar(small ? Hadar::kWays : 1).solve(s);
    case Objective::price_discovery:
      return PriceDiscovery().solve(s);
  }
  CHECK(false);
}

// A book as an instance. Rates are parts of a job's fastest, and work is in seconds of one slot
// that fast: no policy minds, and a solver likes it.
class RoundPlan {
 public:
  RoundPlan(const Book& book, Objective objective)
      : book_(book),
        objective_(objective),
        jobs_(runnable(book)),
        types_(jobs_.empty() ? SlotTypes{}
                             : slot_types(book, jobs_, objective == Objective::cost_slo,
                                          most_types(objective, jobs_.size()))) {
    // Who can run on some slots of every type only is not in the schedule: what is left is for it.
    for (std::uint32_t i = 0; i < jobs_.size(); ++i)
      if (std::ranges::max(types_.of_job(i)) > 0) planned_.push_back(i);
  }

  [[nodiscard]] std::span<const std::uint32_t> jobs() const { return jobs_; }
  [[nodiscard]] const SlotTypes& types() const { return types_; }

  // What each job is entitled to of each type, in slots. Also finds worth().
  [[nodiscard]] std::vector<double> entitled() {
    std::vector<double> out(jobs_.size() * types_.types, 0);
    if (planned_.empty()) return out;
    const auto s = instance();
    const auto found = solve(objective_, s);
    CHECK(found);
    for (std::size_t k = 0; k < planned_.size(); ++k)
      for (std::size_t j = 0; j < types_.types; ++j) {
        const auto slots = found->shares[k * types_.types + j] * s.scale[k];
        out[planned_[k] * types_.types + j] = std::isfinite(slots) ? slots : 0;
      }
    judge(*found);
    return out;
  }

  // By type: the policy's price over the mean price of all slots. Empty: nothing is short.
  [[nodiscard]] const std::vector<double>& worth() const { return worth_; }

 private:
  [[nodiscard]] ScheduleInstance instance() const {
    ScheduleInstance out;
    const auto most = objective_ == Objective::hadar ? kMostHadar : 1e18;
    for (const auto units : types_.units)
      out.capacity.push_back(std::min(static_cast<double>(units), most));
    for (const auto i : planned_) {
      out.scale.push_back(std::min<double>(book_.bids[jobs_[i]].units, most));
      for (const auto rate : types_.of_job(i)) out.throughputs.push_back(rate * out.scale.back());
    }
    out.weights.assign(planned_.size(), 1);
    out.cost = types_.costs;
    add_work(out);
    return out;
  }

  void add_work(ScheduleInstance& out) const {
    const auto within = [](double seconds) {
      return std::clamp(seconds, kLeastSeconds, kMostSeconds);
    };
    for (const auto i : planned_) {
      const auto work = book_.works.empty() ? JobProgress{} : book_.works[jobs_[i]];
      const auto fastest = types_.fastest[i];
      out.steps.push_back(work.steps > 0 ? within(work.steps / fastest) : 0);
      out.done.push_back(std::min(work.done / fastest, kMostSeconds));
      out.elapsed.push_back(std::min(work.elapsed_s, kMostSeconds));
      // A limit on time means something only if the work is known.
      out.slo.push_back(work.slo_s > 0 && work.steps > 0 ? within(work.slo_s) : 0);
    }
    assume_steps(out);
    const auto alone = isolated_rates(out);
    for (std::size_t k = 0; k < alone.size(); ++k)
      out.isolated.push_back(std::min(out.done[k] / alone[k], kMostSeconds));
  }

  // Of whom nothing is known has the mean of the others, for each worker, or an hour.
  static void assume_steps(ScheduleInstance& out) {
    double sum = 0, workers = 0;
    for (std::size_t k = 0; k < out.steps.size(); ++k)
      if (out.steps[k] > 0) {
        sum += out.steps[k];
        workers += out.scale[k];
      }
    const auto each = workers > 0 ? sum / workers : base::kSecondsPerHour;
    for (std::size_t k = 0; k < out.steps.size(); ++k)
      if (out.steps[k] == 0) out.steps[k] = each * out.scale[k];
  }

  void judge(const Schedule& found) {
    double sum = 0, slots = 0;
    for (std::size_t j = 0; j < types_.types; ++j) {
      const auto units = static_cast<double>(types_.units[j]);
      sum += found.prices[j] * units;
      slots += units;
    }
    if (!(sum > kNothing * std::abs(found.objective)) || !std::isfinite(sum)) return;
    for (const auto price : found.prices) worth_.push_back(price * slots / sum);
  }

  const Book& book_;
  Objective objective_;
  std::vector<std::uint32_t> jobs_;     // Bids.
  SlotTypes types_;                     // Of jobs_.
  std::vector<std::uint32_t> planned_;  // Of jobs_.
  std::vector<double> worth_;
};

// What owners are owed from round to round.
class Debts {
 public:
  Debts(const Book& book, std::span<const std::uint32_t> jobs)
      : owners_(book), owed_(owners_.size(), 0), jobs_of_(owners_.size(), 0) {
    std::vector<std::uint32_t> whose(book.bids.size(), 0);
    for (std::uint32_t o = 0; o < owners_.size(); ++o)
      for (const auto bid : owners_.bids(o)) whose[bid] = o;
    for (const auto job : jobs) {
      owner_of_.push_back(whose[job]);
      ++jobs_of_[whose[job]];
    }
    read(book.standing);
  }

  // By job: an even part of what its owner is owed.
  [[nodiscard]] std::vector<double> by_job() const {
    std::vector<double> out;
    out.reserve(owner_of_.size());
    for (const auto o : owner_of_) out.push_back(owed_[o] / jobs_of_[o]);
    return out;
  }

  // After a round. Who has no bids is forgotten once it is owed next to nothing.
  [[nodiscard]] Standing after(const SlotDeal& dealt) {
    for (std::size_t i = 0; i < owner_of_.size(); ++i)
      owed_[owner_of_[i]] += dealt.entitled[i] - dealt.received[i];
    Standing out;
    for (std::size_t o = 0; o < owners_.size(); ++o)
      out.emplace_hint(out.end(), owners_.id(o), written(kKept * owed_[o]));
    for (const auto& [id, owed] : absent_)
      if (std::abs(kKept * owed) >= kForgotten) out.emplace(id, written(kKept * owed));
    return out;
  }

 private:
  static constexpr double kKept = .9;         // Of a debt, from one round to the next.
  static constexpr double kForgotten = .05;   // Slots.
  static constexpr double kMostOwed = 1'000;  // Slots.
  // Where karma begins too.
  static constexpr std::int64_t kMiddle = 1'000'000 * kKarmaPerSlot;

  static std::int64_t written(double slots) {
    return kMiddle + std::llround(std::clamp(slots, -kMostOwed, kMostOwed) * kKarmaPerSlot);
  }

  void read(const Standing& standing) {
    double mean = 0;
    for (const auto& [id, stands] : standing)
      mean += static_cast<double>(stands) / static_cast<double>(standing.size());
    std::size_t o = 0;  // Owners are in order of id, as the standing is.
    for (const auto& [id, stands] : standing) {
      while (o < owners_.size() && owners_.id(o) < id) ++o;
      const auto owed =
          std::clamp((static_cast<double>(stands) - mean) / kKarmaPerSlot, -kMostOwed, kMostOwed);
      if (o < owners_.size() && owners_.id(o) == id)
        owed_[o] = owed;
      else
        absent_.emplace_back(id, owed);
    }
  }

  Owners owners_;
  std::vector<double> owed_;                              // By owner, in slots.
  std::vector<double> jobs_of_;                           // By owner.
  std::vector<std::uint32_t> owner_of_;                   // By job.
  std::vector<std::pair<std::uint64_t, double>> absent_;  // Owners without bids.
};

Credits price_of(const Book& book, const Trade& trade, double worth) {
  const auto limit = book.bids[trade.bid].limit, reserve = book.asks[trade.ask].reserve;
  const auto micro = static_cast<double>(book.reference.micro) * worth;
  if (micro >= static_cast<double>(limit.micro)) return limit;
  return std::max(reserve, Credits(std::llround(micro)));
}

bool is_measure(double number) { return std::isfinite(number) && number >= 0; }

}  // namespace

base::Result<> Scheduled::accepts(const Book& book) const {
  SOUK_TRY(Mechanism::accepts(book));
  const auto pairs = book.bids.size() * book.asks.size();
  if (!book.rates.empty() && book.rates.size() != pairs)
    return base::fail(base::Code::invalid,
                      fmt::format("the book has {} rates for {} bids and {} asks",
                                  book.rates.size(), book.bids.size(), book.asks.size()),
                      "one for each bid on each ask, or none", "rates");
  if (const auto bad = std::ranges::find_if_not(book.rates, is_measure); bad != book.rates.end())
    return base::fail(base::Code::invalid, fmt::format("a rate is {}", *bad),
                      "steps a second are 0 or more", "rates");
  if (!book.works.empty() && book.works.size() != book.bids.size())
    return base::fail(base::Code::invalid,
                      fmt::format("the book has the work of {} jobs for {} bids", book.works.size(),
                                  book.bids.size()),
                      "one for each bid, or none", "works");
  for (std::size_t i = 0; i < book.works.size(); ++i) {
    const auto& w = book.works[i];
    for (const auto number : {w.steps, w.done, w.elapsed_s, w.slo_s})
      if (!is_measure(number))
        return base::fail(base::Code::invalid,
                          fmt::format("bid {} has {} in its work", book.bids[i].id, number),
                          "steps and seconds are 0 or more", "works");
  }
  return {};
}

Outcome Scheduled::clear(const Book& book, base::Random&) const {
  RoundPlan plan(book, objective_);
  Debts debts(book, plan.jobs());
  const Entitlement entitlement{plan.entitled(), debts.by_job()};
  auto dealt = whole_slots(book, plan.jobs(), plan.types(), entitlement);
  Outcome out{.standing = debts.after(dealt)};
  out.trades = std::move(dealt.trades);
  if (prices_ == Prices::reserve || plan.worth().empty()) return out;
  for (auto& t : out.trades)
    t.pays = t.gets = price_of(book, t, plan.worth()[plan.types().of_ask[t.ask]]);
  return out;
}

template <Objective objective>
base::Result<std::unique_ptr<Mechanism>> make_scheduled(const base::Arguments& given) {
  return std::make_unique<Scheduled>(objective, given.text("prices") == "dual"
                                                    ? Scheduled::Prices::dual
                                                    : Scheduled::Prices::reserve);
}
template base::Result<std::unique_ptr<Mechanism>> make_scheduled<Objective::las>(
    const base::Arguments&);
template base::Result<std::unique_ptr<Mechanism>> make_scheduled<Objective::ftf>(
    const base::Arguments&);
template base::Result<std::unique_ptr<Mechanism>> make_scheduled<Objective::makespan>(
    const base::Arguments&);
template base::Result<std::unique_ptr<Mechanism>> make_scheduled<Objective::cost_slo>(
    const base::Arguments&);
template base::Result<std::unique_ptr<Mechanism>> make_scheduled<Objective::hadar>(
    const base::Arguments&);
template base::Result<std::unique_ptr<Mechanism>> make_scheduled<Objective::price_discovery>(
    const base::Arguments&);

}  // namespace souk::mechanism
