#include "server/advice/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "advisor/fit.h"
#include "advisor/forecast.h"
#include "base/check.h"
#include "base/hash.h"
#include "market/eligible.h"
#include "server/advice/arithmetic.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using base::Duration;
using base::Time;
using market::State;

constexpr std::size_t kMachinesKept = 64;  // Of a profile.
constexpr std::size_t kErrorsKept = 64;
constexpr std::size_t kChecksKept = 256;
constexpr std::size_t kOthers = 20;  // Kinds that a machine never seen is compared by, the latest.
constexpr double kOldWeight = 0.5;   // Of what a machine did in earlier runs.
constexpr std::int64_t kEnoughFolds = 20;

std::string hash_of(const std::string& text) {
  return to_string(base::blake2b(text)).substr(0, 32);
}

// What decides how a training learns, but for its kind.
std::string curve_of(const wire::Train& t) {
  wire::Train same{.epochs = t.lr_end ? t.epochs : 0,
                   .batch = t.batch,
                   .lr = t.lr,
                   .lr_end = t.lr_end,
                   .lr_warmup = t.lr_warmup,
                   .shards = t.shards,
                   .validation = t.validation};
  return hash_of(wire::to_json(same));
}

// Took / forecast for the work done, less 1.
struct Errors {
  double told = 0;      // Of what was foretold,
  double computed = 0;  // and of what was before earlier runs had their say.
};
std::optional<Errors> forecast_errors(const market::Job& job, const wire::Training& training) {
  if (job.forecast.empty() || job.started == Time() || job.ended == Time()) return std::nullopt;
  const auto forecast = wire::from_json<wire::JobForecast>(job.forecast);
  if (!forecast || forecast->computed_for(training) <= 0) return std::nullopt;
  if (forecast->quote().method != wire::QuoteMethod::runs) return std::nullopt;  // Of others.
  const auto took = (job.ended - job.started).seconds();
  return Errors{.told = took / forecast->seconds_for(training) - 1,
                .computed = took / forecast->computed_for(training) - 1};
}

Pace pace_of(std::span<const wire::ProfiledMachine> machines) {
  Pace sum;
  double units = 0;
  for (const auto& m : machines) {
    const auto& t = m.spent;
    units += static_cast<double>(m.units);
    sum.computing += (t.compute + t.checking).seconds();
    sum.preparing += (t.prepare + t.fetch).seconds();
    sum.network += (t.download + t.upload).seconds();
    sum.steps += static_cast<double>(m.steps);
    sum.startup_s += m.startup.seconds() / static_cast<double>(machines.size());
  }
  if (units <= 0 || sum.steps <= 0) return {};
  return {.computing = sum.computing / sum.steps,
          .preparing = sum.preparing / units,
          .network = sum.network / units,
          .steps = sum.steps / units,
          .startup_s = sum.startup_s};
}

const wire::ProfiledMachine* find(const wire::Profile& profile, base::MachineId machine) {
  const auto it = std::ranges::find(profile.machines, machine, &wire::ProfiledMachine::machine);
  return it == profile.machines.end() ? nullptr : &*it;
}

// As if its steps had had this batch.
wire::ProfiledMachine with_batch(const wire::Profile& profile, wire::ProfiledMachine m,
                                 std::int32_t batch) {
  const auto factor = batch_factor(profile, m.batch, batch);
  m.spent.compute = base::as_duration(m.spent.compute.seconds() * factor);
  m.batch = batch;
  return m;
}

// A machine's pace is that of all its runs, older ones counting for less and less.
void add_pace(wire::Profile& profile, wire::ProfiledMachine now) {
  if (const auto* known = find(profile, now.machine)) {
    const auto before = with_batch(profile, *known, now.batch);
    const auto old = [](auto value) {
      return static_cast<std::int64_t>(static_cast<double>(value) * kOldWeight);
    };
    now.units += old(before.units);
    now.steps += old(before.steps);
    for (const auto part : wire::kTimeParts)
      now.spent.*part = now.spent.*part + Duration(old((before.spent.*part).us));
    now.startup = now.startup > Duration() ? (now.startup + before.startup) / 2 : before.startup;
    std::erase_if(profile.machines, [&](const auto& m) { return m.machine == now.machine; });
  }
  profile.machines.push_back(now);  // The last are the latest.
  if (profile.machines.size() > kMachinesKept) profile.machines.erase(profile.machines.begin());
}

// In a run with several batches every step counts as one of the full batch.
Duration compute_at_full_batch(const wire::Training& training, const wire::TrainWorker& w,
                               std::int32_t batch) {
  const auto it = std::ranges::find(training.by_batch, batch, &wire::BatchTime::batch);
  if (training.by_batch.size() < 2 || it == training.by_batch.end() || it->steps == 0)
    return w.spent.compute;
  return base::as_duration(it->compute.seconds() / static_cast<double>(it->steps) *
                           static_cast<double>(w.steps));
}

// What its lease took beyond what it spent on the training; nothing is known of one that was lost.
Duration startup_of(const market::Lease& lease, const wire::TimeSpent& spent) {
  if (lease.ended == Time() || lease.started == Time() || came_to_nothing(lease.outcome)) return {};
  auto left = lease.ended - lease.started;
  for (const auto part : wire::kTimeParts) left = left - spent.*part;
  return std::max(Duration(), left);
}

void learn_curve(wire::Profile& profile, const wire::Train& train, const wire::Training& training) {
  if (train.measure) return;  // It learnt with other batches.
  wire::LearningCurve now{.of = curve_of(train)};
  for (const auto& row : training.rows)
    if (row.accuracy.value_or(0) > 0 && now.checks.size() < kChecksKept)
      now.checks.push_back({row.samples, *row.accuracy});
  if (now.checks.empty()) return;
  const auto& known = profile.curve;
  if (known.of == now.of && known.checks.back().samples > now.checks.back().samples) return;
  profile.curve = std::move(now);
}

// What decides the pace of a training, but for the class.
std::string kind_of(const wire::Batch& batch) {
  CHECK(batch.train);
  const auto& t = *batch.train;
  wire::Train kind{.trainer = t.trainer,
                   .config = t.config,
                   .rule = t.rule,
                   .rule_params = t.rule_params,
                   .codec = t.codec,
                   .local_batch = t.local_batch,
                   .local_steps = t.local_steps};
  const auto text = wire::to_json(kind) + '\n' + batch.run + '\n' + batch.workdir.value_or("");
  return hash_of(text);
}

// Seconds that a sample takes.
double sample_seconds(const wire::Profile& profile) {
  double seconds = 0, samples = 0;
  for (const auto& m : profile.machines) {
    seconds += m.spent.compute.seconds();
    samples += static_cast<double>(m.steps) * m.batch;
  }
  return samples > 0 ? seconds / samples : 0;
}

// Of the profiles measured last whose keys `fits` takes, the middle one by pace.
template <class Fits>
std::optional<wire::Profile> middle_of(const State& s, Fits&& fits) {
  std::vector<const market::Profile*> latest;
  for (const auto& [key, known] : s.profiles)
    if (fits(key)) latest.push_back(&known);
  std::ranges::sort(latest, std::greater(), &market::Profile::at);
  if (latest.size() > kOthers) latest.resize(kOthers);
  std::vector<wire::Profile> all;
  for (const auto* known : latest)
    if (auto profile = wire::from_json<wire::Profile>(known->text);
        profile && pace_of(profile->machines).steps > 0)
      all.push_back(*std::move(profile));
  if (all.empty()) return std::nullopt;
  std::ranges::sort(all, {}, sample_seconds);
  auto out = std::move(all[all.size() / 2]);
  out.errors.clear();  // Of forecasts of another kind.
  out.curve = {};
  return out;
}

// The middle speed of the cores that are on offer in a class; 1, the usual one, where none is
// known.
double core_speed_of(const State& s, market::ClassId slot_class) {
  std::vector<double> speeds;
  for (const auto& row : s.index.classes[slot_class.value - 1].supply) {
    if (!row.usable) continue;
    if (const auto speed = market::core_speed(s.machines.at(row.machine))) speeds.push_back(*speed);
  }
  if (speeds.empty()) return 1;
  const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
  std::ranges::nth_element(speeds, middle);
  return *middle;
}

// What a sample of a built-in model is computed in follows from its arithmetic. Programs of their
// own do hundreds to tens of thousands of samples a second.
wire::Profile guessed_profile(const wire::Train& train, bool gpu, double core_speed) {
  constexpr std::int64_t steps = 100;
  wire::ProfiledMachine one{.batch = std::max(1, train.batch), .units = 1, .steps = steps};
  const auto operations = sample_operations(train);
  const auto a_core = kOperationsPerSecond * std::max(core_speed, 0.01);
  const auto sample_s = operations <= 0 ? (gpu ? 1.0 / 20'000 : 1.0 / 1'000)
                        : gpu           ? operations / kGpuOperationsPerSecond
                                        : operations / a_core;
  const auto step_s = (gpu ? kGpuStep : kStep) + sample_s * one.batch;
  one.spent.compute = base::as_duration(static_cast<double>(steps) * step_s);
  one.spent.upload = base::as_duration(0.1);
  one.startup = base::seconds(5);
  wire::Profile out;
  out.machines.push_back(one);
  return out;
}

}  // namespace

std::string profile_key(const wire::Batch& batch, const std::string& slot_class) {
  return fmt::format("{}@{}", kind_of(batch), slot_class);
}

RoughProfile rough_profile(const State& s, const wire::Batch& batch, market::ClassId slot_class) {
  const auto here = "@" + s.slot_class(slot_class).name;
  const auto same_kind = kind_of(batch) + "@";
  if (auto found = middle_of(s, [&](const std::string& key) { return key.starts_with(same_kind); }))
    return {*std::move(found), wire::QuoteMethod::similar};
  if (auto found = middle_of(s, [&](const std::string& key) { return key.ends_with(here); }))
    return {*std::move(found), wire::QuoteMethod::similar};
  if (auto found = middle_of(s, [](const std::string&) { return true; }))
    return {*std::move(found), wire::QuoteMethod::similar};
  return {guessed_profile(*batch.train, s.slot_class(slot_class).gpus > 0,
                          core_speed_of(s, slot_class))};
}

std::optional<wire::Profile> known_profile(const State& s, const wire::Batch& batch,
                                           market::ClassId slot_class) {
  if (!batch.train) return std::nullopt;
  const auto it = s.profiles.find(profile_key(batch, s.slot_class(slot_class).name));
  if (it == s.profiles.end()) return std::nullopt;
  auto profile = wire::from_json<wire::Profile>(it->second.text);
  if (!profile || pace_of(profile->machines).steps <= 0) return std::nullopt;
  return *std::move(profile);
}

double batch_factor(const wire::Profile& profile, std::int32_t from, std::int32_t to) {
  if (from == to || from <= 0) return 1;
  // Seconds of a step over the batch, as a line: least squares, each batch with its steps.
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& b : profile.batches) {
    const auto weight = static_cast<double>(b.steps);
    if (weight <= 0) continue;
    const auto seconds = b.compute.seconds() / weight;
    n += weight;
    x += weight * b.batch;
    y += weight * seconds;
    xx += weight * b.batch * b.batch;
    xy += weight * b.batch * seconds;
  }
  const auto proportional = static_cast<double>(to) / from;
  const auto spread = n * xx - x * x;
  if (spread <= 0) return proportional;
  const auto slope = std::max(0.0, (n * xy - x * y) / spread);
  const auto base = std::max(0.0, (y - slope * x) / n);
  const auto before = base + slope * from;
  return before > 0 ? (base + slope * to) / before : proportional;
}

Paces::Paces(const State& s, market::ClassId slot_class, const wire::Profile& profile,
             std::int32_t batch)
    : s_(s), slot_class_(slot_class), profile_(profile), batch_(batch) {
  std::vector<wire::ProfiledMachine> all;
  for (const auto& m : profile.machines) all.push_back(with_batch(profile, m, batch));
  usual_ = pace_of(all);
  CHECK(usual_.steps > 0);
}

Pace Paces::on(base::MachineId machine) const {
  if (const auto* seen = find(profile_, machine)) {
    const auto mine = with_batch(profile_, *seen, batch_);
    return pace_of({&mine, 1});
  }
  const auto factor = compared(machine).value_or(1);
  return {.computing = usual_.computing * factor,
          .preparing = usual_.preparing * factor,
          .network = usual_.network * factor,
          .steps = usual_.steps,
          .startup_s = usual_.startup_s * factor};
}

// Its time over the usual, from machines that were seen both at this kind and, beside it, at
// another; the mean of logarithms, so that twice as fast and half as fast cancel out.
std::optional<double> Paces::compared(base::MachineId machine) const {
  if (!others_) others_ = other_profiles();
  double sum = 0;
  int count = 0;
  for (const auto& other : *others_) {
    const auto* it = find(other, machine);
    if (it == nullptr) continue;
    const auto its = pace_of({it, 1}).step_s();
    for (const auto& m : profile_.machines) {
      const auto* both = find(other, m.machine);
      if (both == nullptr) continue;
      const auto here = with_batch(profile_, m, batch_);
      sum += std::log(its / pace_of({both, 1}).step_s() * pace_of({&here, 1}).step_s());
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return std::exp(sum / count) / usual_.step_s();
}

// The latest of the same class.
std::vector<wire::Profile> Paces::other_profiles() const {
  const auto suffix = "@" + s_.slot_class(slot_class_).name;
  std::vector<const market::Profile*> latest;
  for (const auto& [key, known] : s_.profiles)
    if (key.ends_with(suffix)) latest.push_back(&known);
  std::ranges::sort(latest, std::greater(), &market::Profile::at);
  if (latest.size() > kOthers) latest.resize(kOthers);
  std::vector<wire::Profile> out;
  for (const auto* known : latest)
    if (auto profile = wire::from_json<wire::Profile>(known->text))
      out.push_back(*std::move(profile));
  return out;
}

double samples_of(const wire::Train& train) {
  double out = 0;
  for (const auto& shard : train.shards) out += static_cast<double>(shard.samples);
  return out * train.epochs;
}

std::optional<double> target_after(const wire::Profile& profile, const wire::Train& train) {
  // Curves are of the accuracy.
  if (!train.target || !train.target->accuracy || profile.curve.of != curve_of(train))
    return std::nullopt;
  const auto target = *train.target->accuracy;
  const auto& checks = profile.curve.checks;
  const auto all = samples_of(train);
  const auto good =
      std::ranges::find_if(checks, [&](const auto& c) { return c.accuracy >= target; });
  std::optional<double> samples;
  if (good != checks.end()) samples = static_cast<double>(good->samples);
  if (!samples) {  // Beyond what was seen, as the curve goes on.
    std::vector<advisor::CurvePoint> points;
    for (const auto& c : checks) points.push_back({static_cast<double>(c.samples), c.accuracy});
    if (const auto curve = advisor::fit_saturating(points)) samples = curve->reaches(target);
  }
  if (!samples || *samples >= all || *samples <= 0) return std::nullopt;
  return *samples / all;
}

wire::PlanMeasures measures_of(const wire::Profile& profile) {
  wire::PlanMeasures out{.steps = profile.batches,
                         .unit_bytes = profile.bytes,
                         .memory_bytes = profile.memory,
                         .folds_per_s = profile.folds_per_s};
  for (const auto& m : profile.machines)
    for (const auto part : wire::kTimeParts) out.spent.*part = out.spent.*part + m.spent.*part;
  const auto usual = pace_of(profile.machines);
  out.startup = base::as_duration(usual.startup_s);
  out.longer = advisor::Spread(profile.errors).lean(advisor::kLevel);
  if (usual.unit_s() > 0) out.mbps = 8e-6 * static_cast<double>(profile.bytes) / usual.unit_s();
  return out;
}

std::optional<Lesson> learnt(const State& s, const market::Job& job, const wire::Batch& batch,
                             const wire::Training& training, std::int64_t memory) {
  if (!batch.train) return std::nullopt;
  const auto& train = *batch.train;
  const auto key = profile_key(batch, s.slot_class(job.slot_class).name);
  wire::Profile profile;
  if (const auto it = s.profiles.find(key); it != s.profiles.end())
    if (auto known = wire::from_json<wire::Profile>(it->second.text)) profile = *std::move(known);

  if (training.by_batch.size() > 1) profile.batches = training.by_batch;
  std::int64_t units = 0, all_units = 0;  // Of the class, and of all that it was in.
  bool all_known = true;                  // Was every machine known when the forecast was made?
  for (const auto& w : training.by_worker) {
    const auto id = base::IdTraits<base::LeaseId>::parse(w.worker);
    const auto* lease = id ? s.leases.find(*id) : nullptr;
    if (lease == nullptr || w.units == 0 || w.spent.compute <= Duration()) continue;
    all_units += w.units;
    all_known &= lease->slot_class == job.slot_class;  // It has not moved, either.
    if (lease->slot_class != job.slot_class) continue;
    units += w.units;
    all_known &= find(profile, lease->machine) != nullptr;
    wire::ProfiledMachine now{lease->machine, train.batch, w.units,
                              w.steps,        w.spent,     startup_of(*lease, w.spent)};
    now.spent.compute = compute_at_full_batch(training, w, train.batch);
    add_pace(profile, now);
  }
  if (units == 0) return std::nullopt;
  profile.bytes = (training.bytes_in + training.bytes_out) / all_units;
  profile.memory = std::max(profile.memory, memory);
  if (training.folds >= kEnoughFolds && training.folding > Duration())
    profile.folds_per_s = static_cast<double>(training.folds) / training.folding.seconds();
  ++profile.runs;
  learn_curve(profile, train, training);
  // What a forecast of a machine never seen was off by says nothing of the next, which has been.
  Lesson out;
  if (all_known && job.state == market::JobState::succeeded)
    if (const auto errors = forecast_errors(job, training)) {
      out.error = errors->told;
      profile.errors.push_back(errors->computed);
    }
  if (profile.errors.size() > kErrorsKept) profile.errors.erase(profile.errors.begin());
  out.profile = {key, wire::to_json(profile)};
  return out;
}

}  // namespace souk::server
