#include "lab/worlds/simulated_hub.h"

#include <algorithm>

#include "base/hash.h"
#include "train/scores.h"

namespace souk::lab {

using base::Result;
using base::Time;

void SimulatedHub::begin(std::int64_t unit, std::span<const float> values,
                         const train::Layout& layout, Time now) {
  state_runs_ = train::state_runs(layout);
  if (!state_runs_.empty()) session_.training().measure_state();
  const auto planes = session_.rule().needs().planes;
  parameters_ = train::Parameters(values.size(), planes);
  const std::vector<train::Blocks> zero(planes,
                                        train::blocks_of(std::vector<float>(values.size())));
  parameters_.load(train::blocks_of(values), zero, 0);
  session_.training().initialised(unit, now);
}

train::Unit SimulatedHub::next(std::int64_t worker, Time now, std::int64_t keeps) {
  auto unit = session_.training().next(worker, now, {}, 0, keeps);
  if (session_.to_fold(waiting_.size()) > 0) {  // A round has ended by the clock.
    fold(now);
    unit = session_.training().next(worker, now, {}, 0, keeps);
  }
  use_measured_states();
  return unit;
}

// At once and for nothing, where in a job others measure it meanwhile: what is learnt is the same.
Result<bool> SimulatedHub::raises_loss(const train::Session::Claim& claim,
                                       const train::Update& update, const Measure& measure) {
  auto* scores = session_.scores();
  if (scores == nullptr ||
      !scores->choose(claim.worker, training().workers().at(claim.worker).streak, random_))
    return false;
  const auto now = take();
  const auto shards = training().plan().validation.size();
  const auto shard = static_cast<std::int32_t>(random_.below(shards));
  train::Score score{.worker = claim.worker, .steps = claim.evidence.steps};
  SOUK_ASSIGN(score.before, measure(now, shard));
  SOUK_ASSIGN(score.after, measure(train::with_update(now, update, sends()), shard));
  const bool refused = !scores->judge(score).empty();
  scores->note(score, refused);
  return refused;
}

Result<SimulatedHub::Judgement> SimulatedHub::contribute(SentUpdate sent, Time now,
                                                         const Measure& measure) {
  const auto* unit = training().find(sent.worker, sent.unit);
  if (unit == nullptr) return Judgement{Verdict::late, {}};
  SOUK_ASSIGN(auto update, train::Update::read(std::move(sent.body), codec(), parameters_.size()));
  const auto stats = train::stats_of(update);
  const train::Session::Claim claim{
      .worker = sent.worker,
      .unit = *unit,
      .base = sent.base,
      .samples = sent.samples,
      .evidence = {stats, unit->steps, sent.loss, train::direction_of(update), sent.worker}};
  if (const auto refusal = session_.judge(claim, parameters_.version(), now))
    return Judgement{refusal->by.empty() ? Verdict::late : Verdict::rejected,
                     std::string(refusal->by)};
  if (session_.rule().needs().base) update.base = std::move(sent.base_blocks);
  update.norm = stats.norm;
  update.weight = static_cast<double>(sent.samples);
  update.epoch = claim.unit.epoch;
  update.at_work = claim.unit.at_work;
  SOUK_ASSIGN(const auto raises, raises_loss(claim, update, measure));
  if (raises) {
    session_.refuse(claim.unit.id, "it raises the loss", now);
    return Judgement{Verdict::rejected, std::string(train::kScore)};
  }
  waiting_.push_back({sent.base, std::move(update)});
  session_.accept(claim, now);
  if (session_.to_fold(waiting_.size()) > 0) fold(now);
  return Judgement{};
}

void SimulatedHub::fold(Time now) {
  std::vector<train::Update> updates;
  for (auto& w : waiting_) {
    w.update.staleness = parameters_.version() - w.base;
    updates.push_back(std::move(w.update));
  }
  waiting_.clear();
  session_.rule().fold(parameters_, updates);
  session_.training().folded();
  const auto work = static_cast<double>(training().state().samples);
  if (averages_ && average_.due(work)) average_.add(take(), work);
  if (session_.training().begin_check(parameters_.version(), now))
    kept_[parameters_.version()] = to_check();
}

train::ParameterSnapshot SimulatedHub::to_check() {
  auto out = take();
  if (!averages_) return out;
  average_.add(out, static_cast<double>(training().state().samples));
  out.blocks = average_.blocks();
  return out;
}

Result<> SimulatedHub::state_measured(SentUpdate sent, Time now) {
  const auto* unit = training().find(sent.worker, sent.unit);
  if (unit == nullptr) return {};
  const auto fp32 = train::make_codec("fp32");
  SOUK_ASSIGN(const auto change,
              train::Update::read(std::move(sent.body), **fp32, parameters_.size()));
  auto state = train::measured_state(state_runs_, kept(unit->version), change);
  if (!state) {
    session_.refuse(sent.unit, state.error().message, now);
  } else {
    std::vector<bool> agrees;
    for (const auto before : training().measured_before(sent.unit))
      agrees.push_back(train::same_state(states_.at(before), *state));
    states_[sent.unit] = *std::move(state);
    session_.training().state_measured(sent.unit, agrees, now);
  }
  use_measured_states();
  return {};
}

void SimulatedHub::use_measured_states() {
  for (const auto& [version, unit] : session_.training().take_measured())
    kept_[unit] = train::with_state(kept(version), state_runs_, states_.at(unit), unit);
  for (const auto& settled : session_.training().take_settled()) states_.erase(settled.unit);
}

void SimulatedHub::forget_versions() {
  const auto wanted = training().kept();
  std::erase_if(kept_, [&](const auto& k) { return !wanted.contains(k.first); });
}

void SimulatedHub::evaluated(std::int64_t worker, std::int64_t unit,
                             const Learner::Evaluated& found, Time now) {
  if (training().find(worker, unit) == nullptr) return;
  session_.training().evaluated(unit, {found.samples, found.loss, {{"accuracy", found.accuracy}}},
                                now);
  forget_versions();
}

void SimulatedHub::stop(std::string reason) {
  kept_[parameters_.version()] = to_check();
  session_.training().finish(std::move(reason), parameters_.version());
}

std::string SimulatedHub::hash() const {
  std::string bytes;
  for (const auto& block : kept(training().state().final_version).blocks)
    bytes.append(reinterpret_cast<const char*>(block->data()), block->size() * sizeof(float));
  return base::to_string(base::blake2b(bytes));
}

}  // namespace souk::lab
