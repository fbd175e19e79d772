#include "server/advice/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "advisor/planners/recommend.h"
#include "base/packages.h"
#include "base/text.h"
#include "hub/run/plan.h"
#include "market/eligible.h"
#include "server/advice/asks.h"
#include "server/advice/profiles.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using base::Credits;
using base::Duration;
using base::Result;
using base::Time;
using market::State;

constexpr double kPpm = 1e6;
constexpr double kLeast = 1e-6;  // Seconds, or MB: nothing takes less.

// --- Forecasts --------------------------------------------------------------------------------

// The steps of a unit on a machine that takes so many times as long for one as the fastest does:
// slower ones get less to do, and what a shard has is divided into whole units.
double unit_steps(const train::TrainingPlan& plan, double times_as_long) {
  const auto of_shard =
      static_cast<double>(plan.epoch_steps()) / static_cast<double>(plan.shards.size());
  const auto most = std::ceil(static_cast<double>(plan.unit_steps()) / times_as_long);
  return of_shard / std::ceil(of_shard / std::max(1.0, most));
}

// What a slot-hour would cost the job if it were alone with these machines. A mechanism may put
// the price anywhere from what is asked to the job's limit. Where it takes nothing for it, what is
// suggested: others may come.
Credits going_price(const State& s, market::ClassId slot_class, const FreeAsks& supply,
                    const market::JobTerms& terms, Time now) {
  const auto alone = share_of(s, slot_class, supply, terms, {}, now, true);
  if (alone.pays > Credits()) return alone.pays;
  return std::min(s.suggested(slot_class, now, now), terms.limit);
}

class Advice {
 public:
  // Requires supply, of this class.
  static Result<Advice> make(const State& s, const wire::Train& train, market::ClassId slot_class,
                             const FreeAsks& supply, const market::JobTerms& terms,
                             const wire::Profile& profile, Time now) {
    advisor::Problem problem;
    const auto going = going_price(s, slot_class, supply, terms, now);
    const Paces paces(s, slot_class, profile, train.batch);
    std::vector<Pace> all;
    for (const auto& ask : supply) all.push_back(paces.on(ask.row->machine));
    const auto fastest = std::ranges::min(all, {}, &Pace::computing).computing;
    const auto work = hub::plan_of(train, terms.workers.max);
    const auto of_job = [&](const Pace& p) {
      const auto times_as_long = std::max(1.0, p.computing / std::max(kLeast, fastest));
      return p.in_units_of(unit_steps(work, times_as_long));
    };
    const auto usual = of_job(paces.usual());
    std::vector<double> startups;
    for (std::size_t i = 0; i < supply.size(); ++i) {
      const auto* row = supply[i].row;
      const auto pace = of_job(all[i]);
      const auto& machine = s.machines.at(row->machine);
      problem.types.push_back({.name = machine.name,
                               .quota = row->free,
                               .price = std::max(supply[i].ask, going),
                               .batch = pace.steps * train.batch,
                               // The forecaster adds the usual exchange for everybody.
                               .compute_s = std::max(kLeast, pace.unit_s() - usual.network),
                               // The share of leases that it breaks, as if each took an hour.
                               .revocations_per_hour = 1 - machine.reliability_ppm / kPpm,
                               .residuals = profile.errors});
      startups.push_back(pace.startup_s);
    }
    const auto mb = std::max(static_cast<double>(profile.bytes) / kPpm, kLeast);
    if (usual.network > 0)
      problem.traffic = {.model_mb = mb / 2, .request_mb_s = mb / usual.network};
    problem.hub.folds_per_s = profile.folds_per_s;
    problem.work = advisor::Samples{samples_of(train) * target_after(profile, train).value_or(1)};
    // A unit that was handed in is safe; who is gone is missed once it has been silent.
    problem.recovery = {.interval_s = usual.unit_s(),
                        .restart_s = s.settings.silence.seconds() + usual.startup_s};
    SOUK_ASSIGN(auto forecaster, advisor::Forecaster::make(std::move(problem)));
    return Advice(std::move(forecaster), std::move(startups));
  }

  [[nodiscard]] std::int32_t most() const { return forecaster_.most_machines(); }

  // The first n slots in the market's order.
  [[nodiscard]] advisor::Mix first(std::int32_t n) const {
    advisor::Mix out;
    for (const auto& type : forecaster_.problem().types) {
      out.push_back(std::min(n, type.quota));
      n -= out.back();
    }
    return out;
  }

  [[nodiscard]] advisor::Forecast forecast(const advisor::Mix& mix,
                                           std::optional<double> deadline_s) const {
    auto out = forecaster_.forecast(mix, worked(deadline_s));
    const auto startup = startup_of(mix);
    for (auto* t : {&out.time_s.low, &out.time_s.expected, &out.time_s.high}) *t += startup;
    return out;
  }

  // The place of the best among these.
  [[nodiscard]] Result<std::pair<std::size_t, std::string>> choose(
      const std::vector<advisor::Mix>& mixes, std::optional<double> budget,
      std::optional<double> deadline_s) const {
    SOUK_ASSIGN(const auto plans, advisor::recommend({.problem = forecaster_.problem(),
                                                      .budget = budget,
                                                      .deadline_s = worked(deadline_s),
                                                      .most = mixes.size(),
                                                      .only = mixes}));
    const auto it = std::ranges::find(mixes, plans.candidates[plans.chosen].mix);
    return std::pair(static_cast<std::size_t>(it - mixes.begin()), plans.why);
  }

  // All epochs on the first n, once they have started.
  [[nodiscard]] advisor::Cluster working(std::int32_t n, double part) const {
    const auto e = forecaster_.estimate(first(n));
    return {.workers = n, .pace = part / e.time_s, .price = e.cost / e.time_s};
  }

  // Until all that it could have are at work.
  [[nodiscard]] double starting() const { return startup_of(first(most())); }

  [[nodiscard]] std::string cluster(const advisor::Mix& mix) const {
    return describe(mix, forecaster_.problem().types);
  }

 private:
  Advice(advisor::Forecaster forecaster, std::vector<double> startups)
      : forecaster_(std::move(forecaster)), startups_(std::move(startups)) {}

  // While a machine starts, the others make up for it: the faster it is, the more is missing.
  [[nodiscard]] double startup_of(const advisor::Mix& mix) const {
    double missing = 0, rate = 0;
    for (std::size_t i = 0; i < mix.size(); ++i) {
      const auto& type = forecaster_.problem().types[i];
      const auto its = mix[i] * type.batch / forecaster_.step_seconds(i, 1);
      missing += its * startups_[i];
      rate += its;
    }
    return missing / rate;
  }

  // What is left of the time once workers have started.
  [[nodiscard]] std::optional<double> worked(std::optional<double> deadline_s) const {
    if (!deadline_s) return std::nullopt;
    return std::max(1e-3, *deadline_s - starting());
  }

  advisor::Forecaster forecaster_;
  std::vector<double> startups_;  // By type, in seconds.
};

// Each of the first eight, then ever fewer, and the last.
std::vector<std::int32_t> counts(std::int32_t least, std::int32_t most) {
  std::vector<std::int32_t> out;
  for (auto n = least; n < most; n += std::max(1, n / 4)) out.push_back(n);
  out.push_back(most);
  return out;
}

// What a training has before it in one class.
struct Outlook {
  market::ClassId slot_class;
  std::string name;
  FreeAsks supply;
  std::int32_t slots = 0;                // That it could have now.
  std::optional<wire::Profile> profile;  // Nothing: it was never measured there.
  wire::QuoteMethod method = wire::QuoteMethod::runs;
  std::optional<Advice> advice;       // Nothing: `trouble` says why.
  std::vector<std::int32_t> workers;  // To choose from, fewest first.
  std::string trouble;
};

// Why nothing is on offer, where it is for want of something that machines have or have not.
std::string nothing_free(const State& s, market::ClassId slot_class, const market::JobTerms& terms,
                         const market::Demands& demands, Time now) {
  const auto& name = s.slot_class(slot_class).name;
  auto fewer = demands;
  fewer.constraints.packages.clear();
  const auto others = on_offer(s, slot_class, fewer, terms.limit, now);
  std::vector<std::string> lacking;
  for (const auto& demand : demands.constraints.packages)
    if (std::ranges::none_of(others, [&](const FreeAsk& a) {
          return market::has_all(s.machines.at(a.row->machine).spec, {demand});
        }))
      lacking.push_back(demand);
  if (!others.empty() && !lacking.empty())
    return fmt::format("no machine of class {} that is free now has {}", name,
                       base::in_words(lacking));
  return fmt::format("no machine of class {} that meets the job's demands and price is free now",
                     name);
}

Outlook outlook_of(const State& s, const wire::Batch& batch, market::ClassId slot_class,
                   const market::JobTerms& terms, const market::Demands& demands, Time now,
                   bool rough = false) {
  Outlook out{.slot_class = slot_class, .name = s.slot_class(slot_class).name};
  out.supply = on_offer(s, slot_class, demands, terms.limit, now);
  for (const auto& ask : out.supply)
    out.slots = std::min(terms.workers.max, out.slots + ask.row->free);
  out.profile = known_profile(s, batch, slot_class);
  if (rough && !out.profile && batch.train) {
    auto like = rough_profile(s, batch, slot_class);
    out.profile = std::move(like.profile);
    out.method = like.method;
  }
  if (out.supply.empty()) {
    out.trouble = nothing_free(s, slot_class, terms, demands, now);
    return out;
  }
  if (!out.profile) {
    out.trouble = fmt::format("this training was never measured on class {}", out.name);
    return out;
  }
  auto advice = Advice::make(s, *batch.train, slot_class, out.supply, terms, *out.profile, now);
  if (!advice) {
    out.trouble = fmt::format("class {}: {}", out.name, advice.error().message);
    return out;
  }
  const auto most = std::min(terms.workers.max, advice->most());
  if (most < terms.workers.min) {
    out.trouble =
        fmt::format("at least {} workers are wanted, and {} of class {} are available now",
                    terms.workers.min, advice->most(), out.name);
    return out;
  }
  out.workers = counts(terms.workers.min, most);
  out.advice = *std::move(advice);
  return out;
}

// Where nothing is known of any class: from what is known of others like it.
std::vector<Outlook> outlooks_of(const State& s, const wire::Batch& batch,
                                 const market::SubmitJob& as, Time now) {
  const market::Demands demands{.constraints = as.terms.constraints};
  std::vector<market::ClassId> classes{as.slot_class};
  classes.insert(classes.end(), as.also.begin(), as.also.end());
  const bool rough = std::ranges::none_of(
      classes, [&](auto id) { return known_profile(s, batch, id).has_value(); });
  std::vector<Outlook> out;
  for (const auto id : classes)
    out.push_back(outlook_of(s, batch, id, as.terms, demands, now, rough));
  return out;
}

// --- Plans ------------------------------------------------------------------------------------

struct Wishes {
  std::optional<double> budget, deadline_s;
};

Wishes wishes_of(const market::JobTerms& terms, Time now) {
  Wishes out;
  if (terms.budget > Credits()) out.budget = in_credits(terms.budget);
  if (terms.deadline != base::kNever)
    out.deadline_s = std::max(1e-3, (terms.deadline - now).seconds());
  return out;
}

void fill(const advisor::Forecast& f, wire::PlanCandidate& out) {
  out.workers = advisor::machines_in(f.mix);
  out.time = base::as_duration(f.time_s.expected);
  out.time_low = base::as_duration(f.time_s.low);
  out.time_high = base::as_duration(f.time_s.high);
  out.cost = base::as_credits(f.cost.expected);
  out.cost_low = base::as_credits(f.cost.low);
  out.cost_high = base::as_credits(f.cost.high);
  out.chance = f.chance;
}

// How far off a quote may be that rests on other runs than those of its kind: so many times as
// much, or as little.
double times_off(wire::QuoteMethod method) { return method == wire::QuoteMethod::similar ? 4 : 10; }

void widen(const Outlook& o, const wire::Train& train, wire::PlanCandidate& row) {
  // A target may be met in the first of the epochs that were counted.
  if (train.target && !target_after(*o.profile, train)) {
    const auto epochs = std::max(1, train.epochs);
    row.time_low = base::as_duration(row.time_low.seconds() / epochs);
    row.cost_low = base::as_credits(base::in_credits(row.cost_low) / epochs);
  }
  if (o.method == wire::QuoteMethod::runs) return;
  const auto off = times_off(o.method);
  row.time_low = base::as_duration(row.time_low.seconds() / off);
  row.time_high = base::as_duration(row.time.seconds() * off);
  row.cost_low = base::as_credits(base::in_credits(row.cost_low) / off);
  row.cost_high = base::as_credits(base::in_credits(row.cost) * off);
  row.chance.reset();  // Nobody knows.
}

// Adds a row for each number of workers, and says in `why` which is best or why none is. The best
// one's forecast, if there is one, and its row.
std::optional<std::pair<std::size_t, advisor::Forecast>> add_rows(const Outlook& o,
                                                                  const wire::Train& train,
                                                                  const Wishes& wishes,
                                                                  wire::JobPlan& plan,
                                                                  std::string& why) {
  std::vector<advisor::Mix> mixes;
  for (const auto n : o.workers) mixes.push_back(o.advice->first(n));
  const auto before = plan.candidates.size();
  for (const auto& mix : mixes) {
    const auto f = o.advice->forecast(mix, wishes.deadline_s);
    auto& row = plan.candidates.emplace_back();
    row.class_ = o.name;
    row.cluster = o.advice->cluster(mix);
    row.limit = f.limit;
    plan.guessed |= f.guessed;
    fill(f, row);
    widen(o, train, row);
  }
  plan.guessed |= o.method != wire::QuoteMethod::runs;
  const auto choice = o.advice->choose(mixes, wishes.budget, wishes.deadline_s);
  why =
      choice ? choice->second : fmt::format("{}; {}", choice.error().message, choice.error().hint);
  if (!choice) return std::nullopt;
  return std::pair(before + choice->first,
                   o.advice->forecast(mixes[choice->first], wishes.deadline_s));
}

// What was known of the class that it is about.
void tell_of(const Outlook& o, const wire::Train& train, wire::JobPlan& plan) {
  plan.method = o.method;
  if (o.method != wire::QuoteMethod::runs) {
    plan.runs = o.profile->runs;
    return;
  }
  plan.profiled = true;
  plan.runs = o.profile->runs;
  plan.measures = measures_of(*o.profile);
  plan.target_after = target_after(*o.profile, train);
}

// Where nothing was chosen: all the workers that can be had, in the class where that is fastest,
// or without a deadline cheapest.
const wire::PlanCandidate& best_effort(const wire::JobPlan& plan) {
  const wire::PlanCandidate* out = nullptr;
  const auto less = [](const wire::PlanCandidate& a, const wire::PlanCandidate& b) {
    return a.chance ? a.time < b.time : a.cost < b.cost;
  };
  for (std::size_t i = 0; i < plan.candidates.size(); ++i) {
    const auto& row = plan.candidates[i];
    const bool last =
        i + 1 == plan.candidates.size() || plan.candidates[i + 1].class_ != row.class_;
    if (last && (out == nullptr || less(row, *out))) out = &row;
  }
  return *out;
}

// The longest that one of its workers took from the grant of its lease to running.
double preparing(const State& s, const market::Job& job) {
  Duration out;
  for (const auto id : job.leases)
    if (const auto& l = s.leases.at(id); l.state != market::LeaseState::granted)
      out = std::max(out, l.started - l.granted);
  return out.seconds();
}

}  // namespace

wire::JobPlan plan_of(const State& s, const wire::NewJob& job, const market::SubmitJob& as,
                      Time now) {
  wire::JobPlan out;
  if (!job.batch || !job.batch->train) {
    out.why =
        "a program gets a quote when its first part is done: nothing is known about its speed "
        "before that";
    return out;
  }
  const auto wishes = wishes_of(as.terms, now);
  const auto outlooks = outlooks_of(s, *job.batch, as, now);
  std::vector<std::string> said;  // Of classes in which nothing can be chosen.
  std::optional<double> best;
  std::size_t chosen = 0;
  for (const auto& o : outlooks) {
    if (o.profile && !out.profiled && out.runs == 0) tell_of(o, *job.batch->train, out);
    if (!o.advice) {
      said.push_back(o.trouble);
      continue;
    }
    std::string why;
    const auto mine = add_rows(o, *job.batch->train, wishes, out, why);
    if (!mine) {
      said.push_back(outlooks.size() > 1 ? fmt::format("class {}: {}", o.name, why) : why);
      continue;
    }
    const auto measure = advisor::compared_by(
        mine->second, {.budget = wishes.budget, .deadline_s = wishes.deadline_s});
    if (best && *best <= measure) continue;
    best = measure;
    chosen = mine->first;
    out.why = std::move(why);
    tell_of(o, *job.batch->train, out);
  }
  if (best) {
    out.candidates[chosen].chosen = true;
    said.insert(said.begin(), out.why);
  }
  out.why = base::join(said, "; ");
  return out;
}

void foretell(const State& s, const wire::NewJob& job, market::SubmitJob& as, Time now,
              base::AccountId owner) {
  if (as.most_trials > 0) return;  // Each trial takes its own time.
  const auto plan = plan_of(s, job, as, now);
  if (plan.candidates.empty()) return;
  const auto chosen = std::ranges::find(plan.candidates, true, &wire::PlanCandidate::chosen);
  const auto& row = chosen == plan.candidates.end() ? best_effort(plan) : *chosen;
  wire::JobForecast forecast{row.workers,  row.time,      row.time_low, row.time_high,    row.cost,
                             row.cost_low, row.cost_high, row.chance,   plan.target_after};
  if (plan.measures) {
    forecast.startup = plan.measures->startup;
    forecast.longer = plan.measures->longer;
  }
  const auto* best = s.find_class(row.class_);
  const auto share =
      share_of(s, best->id, on_offer(s, best->id, {.constraints = as.terms.constraints}, {}, now),
               as.terms, owner, now);
  forecast.price =
      share.workers > 0 ? share.pays : std::min(s.suggested(best->id, now, now), as.terms.limit);
  forecast.method = plan.method;
  forecast.runs = plan.runs;
  as.forecast = wire::to_json(forecast);
  if (plan.method != wire::QuoteMethod::runs) return;  // Too rough to choose by.
  if (best->id != as.slot_class) {
    std::ranges::replace(as.also, best->id, as.slot_class);
    as.slot_class = best->id;
  }
  // Without a deadline more machines may come, and are welcome.
  if (chosen == plan.candidates.end() || !row.chance) return;
  as.planned = row.workers;
  as.planned_why = plan.why;
}

std::int32_t free_workers(const State& s, const market::Job& job, Time now) {
  std::int32_t out = 0;
  for (const auto& ask :
       on_offer(s, job.slot_class, market::demands_of(job, now), job.terms.limit, now))
    out = std::min(job.terms.workers.max, out + ask.row->free);
  return out;
}

std::vector<advisor::There> elsewhere(const State& s, const market::Job& job,
                                      const wire::Batch& batch, Time now) {
  std::vector<advisor::There> out;
  for (const auto other : job.also) {
    auto& there = out.emplace_back(advisor::There{.name = s.slot_class(other).name});
    if (!batch.train || s.slot_class(other).retired) continue;
    const auto o = outlook_of(s, batch, other, job.terms, market::demands_of(job, now), now);
    there.most = o.slots >= job.terms.workers.min ? o.slots : 0;
    if (!o.advice) continue;
    there.restart_s = o.advice->starting() + preparing(s, job);
    const auto part = target_after(*o.profile, *batch.train).value_or(1);
    for (const auto n : o.workers) there.clusters.push_back(o.advice->working(n, part));
  }
  return out;
}

}  // namespace souk::server
