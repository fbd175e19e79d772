#include "server/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "advisor/recommend.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/text.h"
#include "market/eligible.h"
#include "wire/api_json.h"

namespace souk::server {
namespace {

using base::Credits;
using base::Duration;
using base::Result;
using base::Time;
using market::State;

constexpr std::size_t kMachinesKept = 64;  // Of a profile.
constexpr std::size_t kErrorsKept = 64;
constexpr double kOldWeight = 0.5;  // Of what a machine did in earlier runs.
constexpr std::size_t kMostTypes = 64;
constexpr double kMillion = 1e6;

double samples_of(const wire::Train& train) {
  double out = 0;
  for (const auto& shard : train.shards) out += static_cast<double>(shard.samples);
  return out * train.epochs;
}

// --- The supply -------------------------------------------------------------------------------

// What the job could be given now, in the order in which a market would.
std::vector<const market::SupplyRow*> on_offer(const State& s, const market::SubmitJob& job,
                                               Time now) {
  const market::Demands demands{.constraints = job.terms.constraints};
  std::vector<const market::SupplyRow*> out;
  for (const auto& row : s.index.classes[job.slot_class.value - 1].supply) {
    if (!row.usable || row.free <= 0 || row.paused_until > now || row.reserve > job.terms.limit)
      continue;
    const auto& open = market::opening_of(row, s.offers.at(row.offer), now);
    if (open && open->contains(now) && meets(demands, s.machines.at(row.machine)))
      out.push_back(&row);
  }
  std::ranges::sort(out, {},
                    [](const auto* r) { return std::tuple(r->reserve, r->rank, r->offer); });
  if (out.size() > kMostTypes) out.resize(kMostTypes);
  return out;
}

// --- The pace ---------------------------------------------------------------------------------

// A unit's seconds, and its steps.
struct Pace {
  double own = 0;      // Without the network,
  double network = 0;  // and with it.
  double steps = 0;
};

Pace pace_of(std::span<const wire::ProfiledMachine> machines) {
  Pace sum;
  double units = 0;
  for (const auto& m : machines) {
    const auto& t = m.spent;
    units += static_cast<double>(m.units);
    sum.own += (t.compute + t.checking + t.prepare + t.fetch).seconds();
    sum.network += (t.download + t.upload).seconds();
    sum.steps += static_cast<double>(m.steps);
  }
  if (units <= 0) return {};
  return {sum.own / units, sum.network / units, sum.steps / units};
}

Pace pace_on(const wire::Profile& profile, base::MachineId machine) {
  const auto it = std::ranges::find(profile.machines, machine, &wire::ProfiledMachine::machine);
  if (it != profile.machines.end()) return pace_of({&*it, 1});
  return pace_of(profile.machines);  // Never seen at it: as the others.
}

// --- Forecasts --------------------------------------------------------------------------------

class Advice {
 public:
  static Result<Advice> make(const State& s, const wire::NewJob& job, const market::SubmitJob& as,
                             const wire::Profile& profile, Time now) {
    const auto supply = on_offer(s, as, now);
    if (supply.empty())
      return base::fail(base::Code::not_found,
                        "no machine that meets the job's demands and price is free now");
    advisor::Problem problem;
    const auto going = std::min(s.suggested(as.slot_class, now, now), as.terms.limit);
    for (const auto* row : supply) {
      const auto pace = pace_on(profile, row->machine);
      const auto& machine = s.machines.at(row->machine);
      problem.types.push_back({.name = machine.name,
                               .quota = row->free,
                               .price = std::max(row->reserve, going),
                               .batch = pace.steps * job.batch->train->batch,
                               .compute_s = pace.own,
                               // The share of leases that it breaks, as if each took an hour.
                               .revocations_per_hour = 1 - machine.reliability_ppm / kMillion,
                               .residuals = profile.errors});
    }
    const auto usual = pace_of(profile.machines);
    const auto mb = static_cast<double>(profile.bytes) / kMillion;
    if (usual.network > 0 && mb > 0)
      problem.traffic = {.model_mb = mb / 2, .request_mb_s = mb / usual.network};
    problem.work = advisor::Samples{samples_of(*job.batch->train)};
    // A unit that was handed in is safe.
    problem.recovery = {.interval_s = usual.own + usual.network,
                        .restart_s = profile.startup.seconds()};
    SOUK_ASSIGN(auto forecaster, advisor::Forecaster::make(std::move(problem)));
    return Advice(std::move(forecaster), profile);
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
    for (auto* t : {&out.time_s.low, &out.time_s.expected, &out.time_s.high}) *t += startup_;
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

  [[nodiscard]] std::string cluster(const advisor::Mix& mix) const {
    return describe(mix, forecaster_.problem().types);
  }

 private:
  Advice(advisor::Forecaster forecaster, const wire::Profile& profile)
      : forecaster_(std::move(forecaster)), startup_(profile.startup.seconds()) {}

  // What is left of the time once workers have started.
  [[nodiscard]] std::optional<double> worked(std::optional<double> deadline_s) const {
    return deadline_s ? std::optional(std::max(1e-3, *deadline_s - startup_)) : std::nullopt;
  }

  advisor::Forecaster forecaster_;
  double startup_;
};

std::optional<wire::Profile> known_profile(const State& s, const wire::NewJob& job,
                                           market::ClassId slot_class) {
  if (!job.batch || !job.batch->train) return std::nullopt;
  const auto it = s.profiles.find(profile_key(*job.batch, s.slot_class(slot_class).name));
  if (it == s.profiles.end()) return std::nullopt;
  auto profile = wire::from_json<wire::Profile>(it->second.text);
  if (!profile || pace_of(profile->machines).steps <= 0) return std::nullopt;
  return *std::move(profile);
}

// Each of the first eight, then ever fewer, and the last.
std::vector<std::int32_t> counts(std::int32_t least, std::int32_t most) {
  std::vector<std::int32_t> out;
  for (auto n = least; n < most; n += std::max(1, n / 4)) out.push_back(n);
  out.push_back(most);
  return out;
}

std::optional<double> time_left(const market::SubmitJob& job, Time now) {
  if (job.terms.deadline == base::kNever) return std::nullopt;
  return std::max(1e-3, (job.terms.deadline - now).seconds());
}

// Took / forecast for the work done, less 1.
std::optional<double> forecast_error(const market::Job& job, double progress) {
  if (job.forecast.empty() || job.started == Time() || job.ended == Time() || progress <= 0)
    return std::nullopt;
  const auto forecast = wire::from_json<wire::JobForecast>(job.forecast);
  if (!forecast || forecast->time <= Duration()) return std::nullopt;
  return (job.ended - job.started).seconds() / (forecast->time.seconds() * progress) - 1;
}

// A machine's pace is that of all its runs, older ones counting for less and less.
void add_pace(wire::Profile& profile, base::MachineId machine, const wire::TrainWorker& w) {
  auto it = std::ranges::find(profile.machines, machine, &wire::ProfiledMachine::machine);
  wire::ProfiledMachine now{machine, w.units, w.steps, w.spent};
  if (it != profile.machines.end()) {
    const auto old = [](auto value) {
      return static_cast<std::int64_t>(static_cast<double>(value) * kOldWeight);
    };
    now.units += old(it->units);
    now.steps += old(it->steps);
    for (const auto part : wire::kTimeParts)
      now.spent.*part = now.spent.*part + Duration(old((it->spent.*part).us));
    profile.machines.erase(it);
  }
  profile.machines.push_back(now);  // The last are the latest.
  if (profile.machines.size() > kMachinesKept) profile.machines.erase(profile.machines.begin());
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

}  // namespace

std::string profile_key(const wire::Batch& batch, const std::string& slot_class) {
  CHECK(batch.train);
  const auto& t = *batch.train;
  wire::Train kind{.trainer = t.trainer,
                   .config = t.config,
                   .rule = t.rule,
                   .rule_params = t.rule_params,
                   .codec = t.codec,
                   .batch = t.batch,
                   .local_steps = t.local_steps};
  const auto text = wire::to_json(kind) + '\n' + batch.run + '\n' + batch.workdir.value_or("");
  return fmt::format("{}@{}", to_string(base::blake2b(text)).substr(0, 32), slot_class);
}

wire::Plan plan_of(const State& s, const wire::NewJob& job, const market::SubmitJob& as, Time now) {
  wire::Plan out;
  if (!job.batch || !job.batch->train) {
    out.why = "only trainings can be forecast: nothing is known of how far other programs are";
    return out;
  }
  const auto profile = known_profile(s, job, as.slot_class);
  if (!profile) {
    out.why = fmt::format("this training was never measured on class {}",
                          s.slot_class(as.slot_class).name);
    return out;
  }
  out.profiled = true;
  out.runs = profile->runs;
  const auto advice = Advice::make(s, job, as, *profile, now);
  if (!advice) {
    out.why = advice.error().message;
    return out;
  }
  const auto most = std::min(as.terms.workers.max, advice->most());
  if (most < as.terms.workers.min) {
    out.why = fmt::format("{} workers are wanted at least, and {} can be had now",
                          as.terms.workers.min, advice->most());
    return out;
  }
  const auto deadline = time_left(as, now);
  std::vector<advisor::Mix> mixes;
  for (const auto n : counts(as.terms.workers.min, most)) mixes.push_back(advice->first(n));
  for (const auto& mix : mixes) {
    const auto f = advice->forecast(mix, deadline);
    auto& row = out.candidates.emplace_back();
    row.class_ = s.slot_class(as.slot_class).name;
    row.cluster = advice->cluster(mix);
    row.limit = to_string(f.limit);
    out.guessed |= f.guessed;
    fill(f, row);
  }
  const auto budget =
      as.terms.budget > Credits() ? std::optional(in_credits(as.terms.budget)) : std::nullopt;
  const auto choice = advice->choose(mixes, budget, deadline);
  out.why =
      choice ? choice->second : fmt::format("{}; {}", choice.error().message, choice.error().hint);
  if (choice) out.candidates[choice->first].chosen = true;
  return out;
}

void foretell(const State& s, const wire::NewJob& job, market::SubmitJob& as, Time now) {
  const auto plan = plan_of(s, job, as, now);
  if (plan.candidates.empty()) return;
  const auto chosen = std::ranges::find(plan.candidates, true, &wire::PlanCandidate::chosen);
  const auto& row = chosen == plan.candidates.end() ? plan.candidates.back() : *chosen;
  as.forecast = wire::to_json(wire::JobForecast{row.workers, row.time, row.time_low, row.time_high,
                                                row.cost, row.cost_low, row.cost_high, row.chance});
  // Without a deadline more machines may come, and are welcome.
  if (chosen == plan.candidates.end() || !row.chance) return;
  as.planned = row.workers;
  as.planned_why = plan.why;
}

std::optional<Lesson> learnt(const State& s, const market::Job& job,
                             const wire::Training& training) {
  const auto batch = wire::from_json<wire::Batch>(job.work);
  if (!batch || !batch->train) return std::nullopt;
  const auto key = profile_key(*batch, s.slot_class(job.slot_class).name);
  wire::Profile profile;
  if (const auto it = s.profiles.find(key); it != s.profiles.end())
    if (auto known = wire::from_json<wire::Profile>(it->second.text)) profile = *std::move(known);

  std::int64_t units = 0;
  bool all_known = true;  // Had every machine been seen at it when the forecast was made?
  for (const auto& w : training.by_worker) {
    const auto id = base::IdTraits<base::LeaseId>::parse(w.worker);
    const auto* lease = id ? s.leases.find(*id) : nullptr;
    if (lease == nullptr || w.units == 0 || w.spent.compute <= Duration()) continue;
    units += w.units;
    all_known &= std::ranges::find(profile.machines, lease->machine,
                                   &wire::ProfiledMachine::machine) != profile.machines.end();
    add_pace(profile, lease->machine, w);
  }
  if (units == 0) return std::nullopt;
  profile.bytes = (training.bytes_in + training.bytes_out) / units;
  const auto startup = std::max(Duration(), job.ended - job.started - training.elapsed);
  profile.startup = profile.runs == 0 ? startup : (profile.startup + startup) / 2;
  ++profile.runs;
  // What a forecast of a machine never seen was off by says nothing of the next, which has been.
  Lesson out;
  if (all_known && job.state == market::JobState::succeeded)
    out.error = forecast_error(job, training.progress);
  if (out.error) profile.errors.push_back(*out.error);
  if (profile.errors.size() > kErrorsKept) profile.errors.erase(profile.errors.begin());
  out.profile = {key, wire::to_json(profile)};
  return out;
}

}  // namespace souk::server
