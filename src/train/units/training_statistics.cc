#include <algorithm>
#include <utility>

#include "base/check.h"
#include "train/units/training.h"

// Where a model has state that is measured rather than trained, a check begins with a measurement:
// some worker goes through samples of one training shard with the parameters under check and
// changes nothing but the state. Then the check is of the parameters with that state. Where it may
// be the last one of the training, two owners measure the same samples, and what two came to
// counts. Without an answer in time the check is of the parameters as they were.

namespace souk::train {
namespace {

using base::Time;

// Few compared with what is learnt from between two checks.
constexpr std::int64_t kMeasuredSamples = 1024, kLeastSteps = 4, kShareOfWork = 16;
constexpr auto kToMeasure = base::minutes(1);  // All of it, tries that failed among it.
constexpr std::int32_t kMostFailures = 3;

}  // namespace

void Training::measure_state() {
  measures_ = true;
  for (auto& check : s_.checks) begin_measuring(check);
}

void Training::begin_measuring(Check& check) const {
  if (measures_) check.measuring.emplace();
}

std::int64_t Training::measured_steps(std::int32_t shard) const {
  const auto wanted = (kMeasuredSamples - 1) / plan_.batch + 1;
  const auto most = std::max(kLeastSteps, total_ / std::max(plan_.validations, 1) / kShareOfWork);
  return std::min({wanted, most, plan_.shard_steps(static_cast<std::size_t>(shard))});
}

bool Training::is_of_measurement(const Attempt& given, std::size_t i) {
  return is_of_check(given, i) && given.unit.measure;
}

std::optional<Unit> Training::measurement(std::size_t i, WorkerRecord& worker, Worker id, Time now,
                                          const std::set<std::int32_t>& holds) {
  auto& check = s_.checks[i];
  auto& m = *check.measuring;
  if (!m.until) m.until = now + kToMeasure;
  const bool under_way =
      std::ranges::any_of(given_, [&](const auto& g) { return is_of_measurement(g.second, i); });
  const bool mine = std::ranges::any_of(m.by, [&](const StateMeasurement::Answer& a) {
    return a.worker == id || (worker.owner != 0 && a.owner == worker.owner);
  });
  if (under_way || mine) return std::nullopt;
  // All who measure use the same samples.
  if (m.shard < 0)
    m.shard = holds.empty() ? static_cast<std::int32_t>(check.version % std::ssize(plan_.shards))
                            : *holds.begin();
  const auto unit = give({.kind = UnitKind::evaluate,
                          .measure = true,
                          .epoch = check.epoch,
                          .shard = m.shard,
                          .steps = measured_steps(m.shard),
                          .version = check.version,
                          .seed = unit_seed({check.epoch, m.shard, 0, 0})},
                         worker, id, now);
  given_[unit.id].check = i;
  return unit;
}

std::vector<std::int64_t> Training::measured_before(std::int64_t id) const {
  std::vector<std::int64_t> out;
  for (const auto& a : s_.checks[given_.at(id).check].measuring->by) out.push_back(a.unit);
  return out;
}

void Training::state_measured(std::int64_t id, const std::vector<bool>& agrees, Time now) {
  const auto given = given_.at(id);
  CHECK(is_of_measurement(given, given.check));
  given_.erase(id);
  reported(given.worker, id, now);
  auto& worker = workers_[given.worker];
  worker.dropped = 0;
  auto& check = s_.checks[given.check];
  auto& m = *check.measuring;
  m.opinions.add(agrees);
  m.by.push_back({id, given.worker, worker.owner});
  const bool may_be_last = check.last && check.epoch == plan_.epochs;
  const bool others = worker.owner != 0 && others_there(worker.owner, now);
  if (m.opinions.right() || m.opinions.hopeless() || !may_be_last || !others)
    end_measuring(given.check);
  else
    m.until = now + kToMeasure;
}

// Of one that is refused, or that its worker gave up.
void Training::measurement_failed(std::size_t i) {
  auto& m = s_.checks[i].measuring;
  if (m && ++m->failed >= kMostFailures) end_measuring(i);
}

void Training::end_late_measurements(Time now) {
  for (std::size_t i = 0; i < s_.checks.size(); ++i)
    if (const auto& m = s_.checks[i].measuring; m && m->until && now >= *m->until) end_measuring(i);
}

// What two owners agree on. One's alone where there was no other; where all differ, nobody's.
void Training::end_measuring(std::size_t i) {
  auto& check = s_.checks[i];
  const auto m = *std::exchange(check.measuring, std::nullopt);
  std::erase_if(given_, [&](const auto& g) {
    const bool its = is_of_measurement(g.second, i);
    if (its) workers_[g.second.worker].has.erase(g.first);
    return its;
  });
  const auto right = m.by.size() == 1 ? std::optional<std::size_t>(0) : m.opinions.right();
  for (std::size_t k = 0; k < m.by.size(); ++k) {
    const bool good = !right || m.by.size() == 1 || m.opinions.is_right(k);
    settled_.push_back({m.by[k].unit, good});
    if (!good) credit(m.by[k].worker, false);
  }
  if (!right) return;
  check.looks_at = m.by[*right].unit;
  measured_.push_back({check.version, check.looks_at});
}

}  // namespace souk::train
