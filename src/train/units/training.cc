#include "train/units/training.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/random.h"

namespace souk::train {
namespace {

using base::Duration;
using base::Time;

constexpr std::size_t kPacesKept = 32;
constexpr auto kUnknownWorker = base::minutes(2);  // Nobody's pace is known yet.
constexpr auto kShortestDeadline = base::seconds(5);
constexpr auto kAskAgain = base::milliseconds(100);
constexpr auto kInTurn = base::seconds(1);
constexpr auto kToEvaluate = base::minutes(2);
constexpr double kDeadlinePaces =
    4;  // A deadline is this many times what the worker usually takes.
// A unit is paid for at most so many times its worker's usual pace, and that of other owners.
constexpr double kOwnPace = 2, kOthersPace = 3;
constexpr std::size_t kUnitsOfKnownPace = 3;  // Units that make a worker's pace known.
constexpr auto kHeld = base::minutes(1);    // Then an update is believed without a second opinion.
constexpr std::int64_t kUnitsForgiven = 2;  // Units in a row that a worker took and did not do.
constexpr std::int64_t kRefusalsForgiven = 2,
                       kMostAsksRefused = 10;  // A minute and a half of waiting.

// The lower of the two in the middle where there are two; 0 without any.
double middle(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

}  // namespace

// Any seed may be given: it wraps.
std::int64_t Training::unit_seed(const Range& range) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(plan_.seed) * 1'000'003 +
                                   static_cast<std::uint64_t>(range.epoch) * 1'009 +
                                   static_cast<std::uint64_t>(range.shard));
}

double Training::WorkerRecord::quantile(double q) const {
  if (pace.empty()) return 0;
  std::vector<double> sorted(pace.begin(), pace.end());
  std::ranges::sort(sorted);
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1))];
}

Training::Training(TrainingPlan plan, TrainingState state)
    : plan_(std::move(plan)), s_(std::move(state)), round_(plan_.round_s) {
  CHECK(check_plan(plan_).has_value());
  total_ = plan_.epoch_steps();
  adopt_old_rows();
  if (s_.life++ == 0) open_epoch(1);
}

EpochWork* Training::find_epoch(std::int32_t epoch) {
  const auto it = std::ranges::find(s_.epochs, epoch, &EpochWork::epoch);
  return it == s_.epochs.end() ? nullptr : &*it;
}

EpochWork* Training::open_epoch(std::int32_t epoch) {
  if (epoch > plan_.epochs) return nullptr;
  EpochWork work{.epoch = epoch};
  std::vector<std::int32_t> order(plan_.shards.size());
  std::iota(order.begin(), order.end(), 0);
  base::Random random(static_cast<std::uint64_t>(plan_.seed) + static_cast<std::uint64_t>(epoch));
  random.shuffle(order);
  for (const auto shard : order)
    work.open.push_back({epoch, shard, 0, plan_.shard_steps(static_cast<std::size_t>(shard))});
  s_.epochs.push_back(std::move(work));
  return &s_.epochs.back();
}

std::int32_t Training::epoch() const {
  if (!s_.epochs.empty()) return s_.epochs.front().epoch;
  return s_.finished && !s_.rows.empty() ? s_.rows.back().epoch : plan_.epochs;
}

double Training::progress() const {
  const auto all = plan_.epochs * total_;
  // One that reached its target stays where it was then.
  if (s_.epochs.empty())
    return std::min(1.0, static_cast<double>(s_.useful_steps) / static_cast<double>(all));
  std::int64_t done = (s_.epochs.front().epoch - 1) * total_;
  for (const auto& e : s_.epochs) done += e.done;
  return static_cast<double>(done) / static_cast<double>(all);
}

Duration Training::elapsed(Time now) const {
  return began_ ? s_.elapsed + (now - *began_) : s_.elapsed;
}

// A cosine over all epochs; the same for all steps of one, so that a unit is a pure function.
// Of the next unit of an epoch: what was given out before it says how far the training is.
double Training::rate(const EpochWork& work) const {
  auto done = total_ * work.epoch;
  for (const auto& range : work.open) done -= range.last - range.first;
  return plan_.rate(static_cast<double>(done), static_cast<double>(total_ * plan_.epochs));
}

// Over all workers whose pace is known: the fastest for q = 0, the slowest for q = 1.
double Training::usual_pace(double q) const {
  std::vector<double> paces;
  for (const auto& [id, w] : workers_)
    if (!w.pace.empty()) paces.push_back(w.quantile(0.5));
  if (paces.empty()) return 0;
  std::ranges::sort(paces);
  return paces[static_cast<std::size_t>(q * static_cast<double>(paces.size() - 1))];
}

void Training::time_spent(Worker worker, Duration computed, Duration waited) {
  if (plan_.by_clock) return workers_[worker].round.measured(computed, waited);
  // In rounds a worker waits for others, whatever its line.
  if (plan_.local_steps > 0 || plan_.synchronous) return;
  auto& length = workers_[worker].length;
  if (!length) length.emplace(plan_.unit_steps());
  const auto at_work =
      std::ranges::count_if(workers_, [](const auto& w) { return !w.second.has.empty(); });
  length->measured(computed, waited, at_work);
}

// The split: the fastest machine does `local_steps`, a slower one as many as it can in that time,
// so that updates are equally stale; one that loses much gets half. Where the job does not say,
// each worker's units are as short as its line allows, once that is known.
std::int64_t Training::steps_for(const WorkerRecord& worker, std::int32_t epoch,
                                 std::int32_t at_work) const {
  if (worker.length) return std::max(worker.length->steps(), plan_.fewest_steps(at_work));
  auto steps = plan_.unit_steps(epoch, at_work);
  const auto fastest = usual_pace(0), own = worker.quantile(0.5);
  if (own > 0 && fastest > 0)
    steps = static_cast<std::int64_t>(std::ceil(static_cast<double>(steps) * fastest / own));
  if (worker.lost > worker.units) steps /= 2;
  return std::max<std::int64_t>(steps, 1);
}

Duration Training::time_for(const WorkerRecord& worker, std::int64_t steps, double q) const {
  auto pace = worker.quantile(q);
  if (pace == 0) pace = usual_pace(1) * kDeadlinePaces;
  if (pace == 0) return kUnknownWorker;
  return base::as_duration(pace * static_cast<double>(steps));
}

std::size_t Training::under_way() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      given_, [](const auto& g) { return g.second.unit.kind == UnitKind::train; }));
}

void Training::put_back(const Range& range) {
  auto* work = find_epoch(range.epoch);
  CHECK(work != nullptr);
  work->open.insert(work->open.begin(), range);
}

// A unit that will not be finished by its worker: its range can be given to another, unless a twin
// still works on it.
void Training::take_back(std::int64_t id, Time /*now*/, bool lost) {
  const auto it = given_.find(id);
  CHECK(it != given_.end());
  const auto given = it->second;
  given_.erase(it);
  auto& worker = workers_[given.worker];
  worker.has.erase(id);
  if (lost) ++worker.lost;
  if (given.of != 0) {
    s_.wasted_steps += given.unit.steps;
    if (const auto held = given_.find(given.of); held != given_.end()) {
      held->second.twin = 0;
      forget_scorer(held->second);
    }
  } else if (given.unit.measure) {
    measurement_failed(given.check);
  } else if (given.unit.kind == UnitKind::evaluate) {
    s_.checks[given.check].left.push_back(given.unit.shard);
  } else if (given.unit.kind == UnitKind::train) {
    s_.wasted_steps += given.unit.steps;
    if (given.held) {  // Without its original a replica is of no use.
      if (const auto copy = given_.find(given.twin); copy != given_.end()) {
        workers_[copy->second.worker].has.erase(copy->first);
        given_.erase(copy);
      }
      return put_back({given.unit.epoch, given.unit.shard, given.unit.first_step,
                       given.unit.first_step + given.unit.steps});
    }
    if (const auto twin = given_.find(given.twin); given.twin != 0 && twin != given_.end())
      twin->second.twin = 0;
    else
      put_back({given.unit.epoch, given.unit.shard, given.unit.first_step,
                given.unit.first_step + given.unit.steps});
  }
}

void Training::expire(Time now) {
  std::vector<std::int64_t> late;
  for (const auto& [id, g] : given_)
    if (g.unit.deadline <= now) late.push_back(id);
  for (const auto id : late) take_back(id, now, true);
  end_late_measurements(now);
  close_late_checks(now);
}

// The longest that a worker may take for a unit, from when it can begin.
Duration Training::allowance(const WorkerRecord& worker, const Unit& unit) const {
  if (unit.kind != UnitKind::train) return kToEvaluate;
  const auto within = time_for(worker, unit.steps, 0.95);
  return std::max(kShortestDeadline, within * static_cast<int>(kDeadlinePaces));
}

Unit Training::give(Unit unit, WorkerRecord& worker, Worker id, Time now) {
  unit.id = (s_.life << 32) | ++counter_;
  Attempt given{.unit = unit, .worker = id, .at = now};
  // It begins with this one when it is done with what it has.
  auto latest = now, usual = now;
  for (const auto other : worker.has) {
    const auto& before = given_.at(other);
    if (before.unit.deadline != base::kNever) latest = std::max(latest, before.unit.deadline);
    usual = std::max(usual, before.expected);
  }
  given.unit.deadline = latest + allowance(worker, unit);
  given.expected = unit.kind == UnitKind::train ? usual + time_for(worker, unit.steps, 0.5)
                                                : given.unit.deadline;
  worker.has.insert(unit.id);
  if (!began_) began_ = now;
  return given_[unit.id] = given, given.unit;
}

std::optional<Unit> Training::range_for(WorkerRecord& worker, Worker id, Time now,
                                        const std::set<std::int32_t>& holds, std::int64_t most) {
  auto* work = &s_.epochs.front();
  if (work->open.empty()) {
    if (s_.epochs.size() == 1) open_epoch(work->epoch + 1);
    if (s_.epochs.size() == 1) return std::nullopt;
    work = &s_.epochs[1];
    if (work->open.empty()) return std::nullopt;
  }
  auto pick =
      std::ranges::find_if(work->open, [&](const Range& r) { return holds.contains(r.shard); });
  if (pick == work->open.end()) {
    // One that nobody works on, so that machines come to hold different shards.
    std::set<std::int32_t> busy;
    for (const auto& [_, g] : given_)
      if (g.unit.kind == UnitKind::train) busy.insert(g.unit.shard);
    pick =
        std::ranges::find_if(work->open, [&](const Range& r) { return !busy.contains(r.shard); });
    if (pick == work->open.end()) pick = work->open.begin();
  }
  const auto range = *pick;
  const auto lr = rate(*work);
  // At first they come one by one, and nothing has been learnt that could tell who is there.
  const auto at_work = std::max(active(now), s_.useful_steps == 0 ? plan_.workers : 1);
  const auto steps =
      std::min(most > 0 ? most : steps_for(worker, range.epoch, at_work), range.last - range.first);
  if (range.first + steps == range.last)
    work->open.erase(pick);
  else
    pick->first += steps;
  return give({.kind = UnitKind::train,
               .epoch = range.epoch,
               .shard = range.shard,
               .first_step = range.first,
               .steps = steps,
               .parts = plan_.parts(at_work),
               .at_work = at_work,
               .lr = lr,
               .seed = unit_seed(range)},
              worker, id, now);
}

// Near the end: a unit that is far later than its worker ever was, or that this one would finish
// before it.
std::optional<Unit> Training::second_try(WorkerRecord& worker, Worker id, Time now) {
  for (auto& [first, g] : given_) {
    if (g.unit.kind != UnitKind::train || g.twin != 0 || g.worker == id || g.of != 0 || g.held)
      continue;
    const auto mine = now + time_for(worker, g.unit.steps, 0.5);
    const auto& theirs = workers_.at(g.worker);
    const auto late = 2 * time_for(theirs, g.unit.steps, 0.95).us -
                      time_for(theirs, g.unit.steps, 0.5).us;  // After it is expected.
    if (now < g.expected + Duration(late) && mine >= g.expected) continue;
    auto unit = g.unit;
    g.twin = (s_.life << 32) | (counter_ + 1);
    unit = give(unit, worker, id, now);
    given_[unit.id].twin = first;
    return unit;
  }
  return std::nullopt;
}

// Nobody confirms the work of a machine of their own.
bool Training::independent(const Attempt& given, const WorkerRecord& worker, Worker id) const {
  const auto own = [&](const Answered& a) {
    return a.worker == id || (worker.owner != 0 && a.owner == worker.owner);
  };
  return !own({given.worker, owner(given.worker)}) && std::ranges::none_of(given.answered, own);
}

std::optional<Unit> Training::replica(WorkerRecord& worker, Worker id, Time now) {
  for (auto& [first, g] : given_) {
    if (!g.held || g.twin != 0 || !independent(g, worker, id)) continue;
    if (g.trial && g.scorer != 0 && g.scorer != id) continue;  // Both losses are of one machine.
    const auto copy = give(g.trial ? next_of_trial(g) : g.unit, worker, id, now);
    g.twin = copy.id;
    if (g.trial) g.scorer = id;
    given_[copy.id].of = first;
    return copy;
  }
  return std::nullopt;
}

void Training::hold(std::int64_t id, std::int64_t version, Time now) {
  begin_hold(id, now).unit.version = version;
}

std::int64_t Training::original(std::int64_t id) const {
  const auto it = given_.find(id);
  return it == given_.end() ? 0 : it->second.of;
}

void Training::replicated(std::int64_t id, std::optional<bool> agreed, Time now) {
  const auto given = given_.at(id);
  given_.erase(id);
  auto& worker = workers_[given.worker];
  reported(given.worker, id, now);
  if (agreed) credit(given.worker, *agreed);
  if (const auto held = given_.find(given.of); held != given_.end()) {
    held->second.twin = 0;
    held->second.answered_at = now;
    held->second.answered.push_back({given.worker, worker.owner});
  }
}

void Training::credit(Worker id, bool right) {
  auto& worker = workers_[id];
  if (right) {
    ++worker.units;
    ++worker.streak;
    worker.refused = worker.dropped = 0;
  } else {
    worker.streak = 0;
    ++worker.rejected;
  }
}

void Training::hand_over(std::int64_t id, Worker to) { given_.at(id).worker = to; }

std::optional<Duration> Training::fair_time(std::int64_t id, std::int64_t steps) const {
  const auto it = given_.find(id);
  if (it == given_.end()) return std::nullopt;
  const auto& unit = it->second.unit;
  const auto& worker = workers_.at(it->second.worker);
  const auto usual = steps_for(worker, unit.epoch, unit.at_work);
  // What was given out small takes as long as what is usual; what was done in part does not.
  if (unit.measure)
    steps = std::max(usual, unit.steps);
  else if (unit.kind == UnitKind::evaluate)
    steps = std::max(usual, check_steps(unit.shard));
  else if (steps >= unit.steps)
    steps = std::max(usual, unit.steps);
  std::optional<double> pace;
  if (worker.pace.size() >= kUnitsOfKnownPace) pace = kOwnPace * worker.quantile(0.5);
  if (const auto others = pace_of_others(it->second.worker); others > 0)
    pace = std::min(pace.value_or(kOthersPace * others), kOthersPace * others);
  if (!pace) return std::nullopt;
  return base::as_duration(*pace * static_cast<double>(steps));
}

// The median over other owners, each by the median of its machines; the lower of two.
double Training::pace_of_others(Worker id) const {
  const auto own = workers_.at(id).owner;
  std::map<std::pair<Owner, Worker>, std::vector<double>> by_owner;
  for (const auto& [other, w] : workers_)
    if (other != id && (own == 0 || w.owner != own) && !w.pace.empty())
      by_owner[{w.owner, w.owner == 0 ? other : 0}].push_back(w.quantile(0.5));
  std::vector<double> paces;
  for (auto& [_, list] : by_owner) paces.push_back(middle(std::move(list)));
  return middle(std::move(paces));
}

std::int64_t Training::check_steps(std::int32_t shard) const {
  const auto samples = plan_.validation[static_cast<std::size_t>(shard)];
  return (samples - 1) / plan_.batch + 1;
}

bool Training::can_be_done_again(std::int64_t id, Time now) const {
  return std::ranges::any_of(workers_, [&](const auto& w) {
    return is_active(w.second, now) && independent(given_.at(id), w.second, w.first);
  });
}

std::vector<std::int64_t> Training::unchecked(Time now) const {
  std::vector<std::int64_t> out;
  for (const auto& [id, g] : given_)
    if (g.held && now - g.answered_at > kHeld && !(g.trial && g.twin != 0)) out.push_back(id);
  return out;
}

Unit Training::next(Worker id, Time now, const std::set<std::int32_t>& holds, Owner owner,
                    std::int64_t keeps) {
  expire(now);
  auto& worker = workers_[id];
  worker.seen = now;
  worker.owner = owner;
  for (const auto unit : std::set(worker.has))
    if (unit != keeps) drop(unit, now);
  const bool ahead = !worker.has.empty();  // It has something to do.
  if (s_.finished) return {.kind = UnitKind::finish};
  // What is made from an older version is of no use to a round.
  if (plan_.synchronous && (ahead || keeps != 0)) return {.kind = UnitKind::wait, .wait = kInTurn};
  const Unit wait{.kind = UnitKind::wait, .wait = kAskAgain};
  if (!s_.initialised) {
    if (!given_.empty()) return wait;
    return give({.kind = UnitKind::init, .seed = plan_.seed}, worker, id, now);
  }
  if (now < worker.not_before) return {.kind = UnitKind::wait, .wait = worker.not_before - now};
  if (auto unit = evaluation(worker, id, now, holds)) return *unit;
  if (auto unit = replica(worker, id, now)) return *unit;
  if (plan_.by_clock) return of_round(worker, id, now, holds);
  if (s_.epochs.empty()) return wait;
  if (plan_.synchronous && buffered_ + under_way() >= plan_.arity) {
    auto unit = buffered_ < plan_.arity ? second_try(worker, id, now) : std::nullopt;
    return unit.value_or(wait);
  }
  if (auto unit = range_for(worker, id, now, holds)) return *unit;
  if (ahead) return wait;  // Whoever is idle is sooner done with what another has.
  if (auto unit = second_try(worker, id, now)) return *unit;
  return wait;
}

const Unit* Training::find(Worker worker, std::int64_t id) const {
  const auto it = given_.find(id);
  if (it == given_.end() || it->second.worker != worker || it->second.held) return nullptr;
  return &it->second.unit;
}

void Training::set_deadline(std::int64_t id, Time deadline) {
  const auto it = given_.find(id);
  CHECK(it != given_.end());
  it->second.unit.deadline = deadline;
}

void Training::initialised(std::int64_t id, Time now) {
  const auto it = given_.find(id);
  CHECK(it != given_.end() && it->second.unit.kind == UnitKind::init);
  const auto worker = it->second.worker;
  given_.erase(it);
  reported(worker, id, now);
  s_.initialised = true;
}

void Training::accept(std::int64_t id, std::int64_t steps, std::int64_t samples, double loss,
                      Time now) {
  const auto it = given_.find(id);
  CHECK(it != given_.end() && it->second.unit.kind == UnitKind::train);
  const auto given = it->second;
  const auto& unit = given.unit;
  CHECK(steps >= 1 && steps <= unit.steps);
  given_.erase(it);
  if (const auto twin = given_.find(given.twin); given.twin != 0 && twin != given_.end()) {
    workers_[twin->second.worker].has.erase(twin->first);
    s_.wasted_steps += twin->second.unit.steps;
    given_.erase(twin);
  }
  auto& worker = workers_[given.worker];
  const auto took = given.held ? given.took : now - std::max(given.at, worker.reported);
  worker.seen = now;
  ++worker.units;
  ++worker.streak;
  worker.refused = worker.dropped = 0;
  worker.steps += steps;
  worker.pace.push_back(took.seconds() / static_cast<double>(steps));
  if (worker.pace.size() > kPacesKept) worker.pace.pop_front();
  reported(given.worker, id, now);
  if (steps < unit.steps)
    put_back({unit.epoch, unit.shard, unit.first_step + steps, unit.first_step + unit.steps});
  auto* work = find_epoch(unit.epoch);
  CHECK(work != nullptr);
  work->done += steps;
  work->loss_sum += loss * static_cast<double>(samples);
  work->loss_samples += samples;
  recent_loss_ = recent_loss_ == 0 ? loss : 0.9 * recent_loss_ + 0.1 * loss;
  s_.samples += samples;
  s_.useful_steps += steps;
  ++buffered_;
  close_epochs();
  if (!plan_.by_clock) return;
  worker.round.in_time();
  close_round(now);
}

// What it could not do goes to others first: one that is always refused would else take the last
// unit of an epoch again and again, and nobody would get on. From its third in a row on it waits
// twice as long each time, as long as work of others passes meanwhile: where nobody's does, it may
// be no fault of its own.
void Training::hold_off(WorkerRecord& worker, Time now) {
  std::int64_t passed = -worker.units;
  for (const auto& [_, w] : workers_) passed += w.units;
  const bool others_pass = active(now) <= 1 || passed > worker.passed_by_others;
  worker.passed_by_others = passed;
  if (worker.refused == 0 || others_pass)
    worker.refused = std::min(worker.refused + 1, kMostAsksRefused);
  const auto doubled = std::max<std::int64_t>(0, worker.refused - kRefusalsForgiven);
  worker.not_before = now + kAskAgain * (std::int64_t{4} << doubled);
}

// A unit that its worker took and did not do. Once or twice in a row that is a lost answer or a
// restart.
void Training::drop(std::int64_t id, Time now) {
  auto& worker = workers_[given_.at(id).worker];
  take_back(id, now, true);
  if (++worker.dropped > kUnitsForgiven) hold_off(worker, now);
}

void Training::reject(std::int64_t id, Time now, bool blame) {
  const auto who = given_.at(id).worker;
  auto& worker = workers_[who];
  reported(who, id, now);
  if (!blame) return take_back(id, now, false);
  ++worker.rejected;
  worker.streak = 0;
  hold_off(worker, now);
  take_back(id, now, false);
}

// Asks for a check where one is due: some on the way through an epoch, and one at its end.
void Training::close_epochs() {
  while (!s_.epochs.empty()) {
    auto& front = s_.epochs.front();
    const auto wanted = front.done * plan_.validations / total_;
    const bool over = front.done >= total_;
    if (!plan_.validation.empty() && wanted > front.checks) {
      front.checks = static_cast<std::int32_t>(wanted);
      const auto loss =
          front.loss_samples == 0 ? 0 : front.loss_sum / static_cast<double>(front.loss_samples);
      due_.push_back({.epoch = front.epoch, .last = over, .train_loss = loss});
    }
    if (!over) return;
    if (plan_.validation.empty())
      s_.rows.push_back({.epoch = front.epoch,
                         .samples = s_.samples,
                         .loss = front.loss_sum / static_cast<double>(std::max<std::int64_t>(
                                                      front.loss_samples, 1))});
    const auto epoch = front.epoch;
    s_.epochs.erase(s_.epochs.begin());
    if (s_.epochs.empty()) open_epoch(epoch + 1);
  }
}

bool Training::flush() const { return s_.epochs.empty(); }

std::set<std::int64_t> Training::kept() const {
  std::set<std::int64_t> out;
  for (const auto& check : s_.checks) {
    out.insert(check.version);
    if (check.looks_at != 0) out.insert(check.looks_at);
  }
  for (const auto& [_, g] : given_)
    if (g.trial)
      out.insert({g.trial->before, g.trial->after});
    else if (g.held)
      out.insert(g.unit.version);
  if (s_.finished) out.insert(s_.final_version);
  return out;
}

void Training::finish(std::string reason, std::int64_t version) {
  if (s_.finished) return;
  s_.finished = true;
  s_.reason = std::move(reason);
  s_.final_version = version;
  for (const auto& check : s_.checks) settle_all(check);
  s_.checks.clear();
  s_.epochs.clear();
  given_.clear();
  for (auto& [_, w] : workers_) w.has.clear();
}

TrainingState Training::durable(Time now) const {
  auto copy = *this;
  while (!copy.given_.empty()) copy.take_back(copy.given_.begin()->first, Time(), false);
  auto out = copy.s_;
  out.wasted_steps = s_.wasted_steps;
  out.elapsed = elapsed(now);
  // A check holds its version in memory only: it is done again with what was saved.
  for (auto& check : out.checks) {
    check.samples = 0;
    check.loss_sum = check.right_sum = 0;
    check.left.resize(plan_.validation.size());
    std::iota(check.left.begin(), check.left.end(), 0);
  }
  return out;
}

}  // namespace souk::train
