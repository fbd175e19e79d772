#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "train/opinions.h"
#include "train/units/training.h"

// The checks of a training. Each is done once by whoever asks; one that would end the training is
// done again by other owners, if any are there, and what two owners came to counts. Where two
// differ a third decides.

namespace souk::train {
namespace {

using base::Time;

constexpr std::size_t kMostChecks = 2;
// For a second opinion. Then what there is counts.
constexpr auto kConfirm = base::minutes(1);
// Rounding of different processors moves few samples across a boundary, and a loss by little.
constexpr double kSameAccuracy = 0.01;
constexpr double kSameSamples = 2;
constexpr double kSameLoss = 0.01, kLeastLoss = 1e-6;

std::optional<double> figure_in(const CheckAnswer& answer, std::string_view figure) {
  return combined({&answer.measured, 1}).figure(figure);
}

bool agree(const CheckAnswer& a, const CheckAnswer& b, std::string_view figure) {
  if (a.measured.samples != b.measured.samples) return false;
  const auto x = figure_in(a, figure), y = figure_in(b, figure);
  if (!x || !y) return !x && !y;
  const auto larger = std::max(std::abs(*x), std::abs(*y));
  const auto n = static_cast<double>(std::max<std::int64_t>(a.measured.samples, 1));
  const auto slack = less_is_better(figure).value_or(false)
                         ? kSameLoss * larger + kLeastLoss
                         : std::max(kSameAccuracy, kSameSamples / n) * std::max(1.0, larger);
  return std::abs(*x - *y) <= slack;
}

std::vector<CheckAnswer> answers_about(const Check& check, std::int32_t shard) {
  std::vector<CheckAnswer> out;
  for (const auto& a : check.answers)
    if (a.shard == shard) out.push_back(a);
  return out;
}

Opinions opinions_of(const std::vector<CheckAnswer>& answers, std::string_view figure) {
  Opinions out;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::vector<bool> agrees;
    for (std::size_t j = 0; j < i; ++j) agrees.push_back(agree(answers[j], answers[i], figure));
    out.add(agrees);
  }
  return out;
}

Measured measured_by(const std::vector<CheckAnswer>& answers) {
  std::vector<Measured> all;
  for (const auto& a : answers) all.push_back(a.measured);
  return combined(all);
}

// Where nobody could decide, the claim that promises least.
const CheckAnswer& least(const std::vector<CheckAnswer>& answers, std::string_view figure,
                         bool less_better) {
  return *std::ranges::min_element(answers, {}, [&](const CheckAnswer& a) {
    const auto found = figure_in(a, figure);
    if (!found) return -std::numeric_limits<double>::infinity();
    return less_better ? -*found : *found;
  });
}

}  // namespace

// A worker does no shard again that one of its owner's machines has done.
std::optional<Unit> Training::evaluation(WorkerRecord& worker, Worker id, Time now,
                                         const std::set<std::int32_t>& holds) {
  for (std::size_t i = 0; i < s_.checks.size(); ++i) {
    auto& check = s_.checks[i];
    if (check.measuring) {
      if (auto unit = measurement(i, worker, id, now, holds)) return unit;
      continue;
    }
    const auto mine = [&](std::int32_t shard) {
      return std::ranges::any_of(check.answers, [&](const CheckAnswer& a) {
        return a.shard == shard && (a.worker == id || worker.owner == 0 || a.owner == worker.owner);
      });
    };
    const auto pick = std::find_if_not(check.left.rbegin(), check.left.rend(), mine);
    if (pick == check.left.rend()) continue;
    const auto shard = *pick;
    check.left.erase(std::next(pick).base());
    const auto unit = give({.kind = UnitKind::evaluate,
                            .epoch = check.epoch,
                            .shard = shard,
                            .version = check.looks_at != 0 ? check.looks_at : check.version},
                           worker, id, now);
    given_[unit.id].check = i;
    return unit;
  }
  return std::nullopt;
}

bool Training::begin_check(std::int64_t version, Time now) {
  bool begun = false;
  for (auto& check : due_) {
    // One in the middle of an epoch can be left out; the one at its end cannot.
    if (!check.last && s_.checks.size() >= kMostChecks) continue;
    check.version = version;
    check.at = elapsed(now);
    check.samples_trained = s_.samples;
    check.workers = active(now);
    check.left.resize(plan_.validation.size());
    std::iota(check.left.begin(), check.left.end(), 0);
    begin_measuring(check);
    s_.checks.push_back(check);
    begun = true;
  }
  due_.clear();
  return begun;
}

bool Training::check_due() const {
  return std::ranges::any_of(
      due_, [&](const Check& check) { return check.last || s_.checks.size() < kMostChecks; });
}

std::string_view Training::figure() const {
  return plan_.target ? std::string_view(plan_.target->figure) : s_.figure;
}

std::string Training::figure_of(const std::vector<CheckAnswer>& answers) const {
  if (!figure().empty()) return std::string(figure());
  return std::string(measured_by(answers).figure(kAccuracy) ? kAccuracy : kLoss);
}

bool Training::less_better(std::string_view figure) const {
  return plan_.target ? plan_.target->at_most : less_is_better(figure).value_or(false);
}

bool Training::would_end(const Check& check, const Measured& measured) const {
  return (plan_.target && plan_.target->reached(measured.figure(plan_.target->figure))) ||
         (check.last && check.epoch == plan_.epochs);
}

void Training::evaluated(std::int64_t id, Measured measured, Time now) {
  const auto it = given_.find(id);
  CHECK(it != given_.end() && is_of_check(it->second, it->second.check));
  const auto i = it->second.check;
  const auto who = it->second.worker;
  auto& worker = workers_[who];
  worker.dropped = 0;
  auto& check = s_.checks[i];
  check.answers.push_back({.unit = id,
                           .worker = who,
                           .owner = worker.owner,
                           .shard = it->second.unit.shard,
                           .measured = std::move(measured)});
  given_.erase(it);
  reported(who, id, now);
  check.unsettled.insert(id);
  // What ends nothing, or what nobody could confirm, is paid at once.
  const auto& answer = check.answers.back();
  if (!check.confirm_until &&
      !(would_end(check, combined({&answer.measured, 1})) && others_there(worker.owner, now)))
    settle(check, answer, true);
  advance_check(i, now);
}

bool Training::may_be_confirmed(const Check& check, Time now) const {
  return std::ranges::all_of(check.answers, [&](const CheckAnswer& a) {
    return a.owner != 0 && others_there(a.owner, now);
  });
}

void Training::advance_check(std::size_t i, Time now) {
  auto& check = s_.checks[i];
  const bool under_way =
      std::ranges::any_of(given_, [&](const auto& g) { return is_of_check(g.second, i); });
  if (!check.left.empty() || under_way) return;
  if (!check.confirm_until) {
    const bool ends = would_end(check, measured_by(check.answers));
    if (!ends || !may_be_confirmed(check, now)) {
      const auto believed = check.answers;
      return close_check(i, believed, false);
    }
    check.confirm_until = now + kConfirm;
    check.left.resize(plan_.validation.size());
    std::iota(check.left.begin(), check.left.end(), 0);
    return;
  }
  const auto figure = figure_of(check.answers);
  std::vector<CheckAnswer> believed;
  for (std::int32_t shard = 0; shard < std::ssize(plan_.validation); ++shard) {
    const auto answers = answers_about(check, shard);
    const auto opinions = opinions_of(answers, figure);
    if (const auto right = opinions.right()) {
      believed.push_back(answers[*right]);
      for (std::size_t a = 0; a < answers.size(); ++a)
        settle(check, answers[a], opinions.is_right(a));
    } else if (opinions.hopeless()) {
      believed.push_back(least(answers, figure, less_better(figure)));
    } else {
      check.left.push_back(shard);
    }
  }
  if (check.left.empty()) return close_check(i, believed, true);
  check.confirm_until = now + kConfirm;
}

void Training::close_late_checks(Time now) {
  for (std::size_t i = 0; i < s_.checks.size(); ++i) {
    const auto& check = s_.checks[i];
    if (!check.confirm_until || now < *check.confirm_until) continue;
    const auto figure = figure_of(check.answers);
    std::vector<CheckAnswer> believed;
    for (std::int32_t shard = 0; shard < std::ssize(plan_.validation); ++shard) {
      const auto answers = answers_about(check, shard);
      const auto right = opinions_of(answers, figure).right();
      believed.push_back(right ? answers[*right] : least(answers, figure, less_better(figure)));
    }
    close_check(i, believed, false);
    return;  // The others the next time: they have moved.
  }
}

void Training::settle(Check& check, const CheckAnswer& answer, bool right) {
  if (check.unsettled.erase(answer.unit) == 0) return;
  settled_.push_back({answer.unit, right});
  if (!right) credit(answer.worker, false);
}

void Training::settle_all(const Check& check) {
  for (const auto unit : check.unsettled) settled_.push_back({unit, true});
}

// Removes it, and with it any second opinion that is still being made.
Check Training::take_check(std::size_t i) {
  const auto check = s_.checks[i];
  s_.checks.erase(s_.checks.begin() + static_cast<std::ptrdiff_t>(i));
  std::erase_if(given_, [&](const auto& g) {
    const bool its = is_of_check(g.second, i);
    if (its) workers_[g.second.worker].has.erase(g.first);
    return its;
  });
  for (auto& [_, g] : given_)
    if (is_of_check(g, g.check) && g.check > i) --g.check;
  return check;
}

void Training::close_check(std::size_t i, const std::vector<CheckAnswer>& believed,
                           bool confirmed) {
  settle_all(s_.checks[i]);
  s_.figure = figure_of(believed);
  const auto check = take_check(i);
  const auto measured = measured_by(believed);
  put_row(check, measured);
  s_.confirmed = confirmed;
  const auto version = check.looks_at != 0 ? check.looks_at : check.version;
  if (plan_.target && plan_.target->reached(measured.figure(plan_.target->figure)))
    finish("the target was reached", version);
  else if (check.last && check.epoch == plan_.epochs)
    finish("all epochs are done", version);
}

void Training::put_row(const Check& check, Measured measured) {
  // Each of a job's checks could have other names, and all would be kept.
  std::erase_if(measured.metrics, [&](const auto& m) {
    if (metric_names_.contains(m.first)) return false;
    if (metric_names_.size() >= kMostMetrics && m.first != s_.figure) return true;
    metric_names_.insert(m.first);
    return false;
  });
  // Those of two epochs may end in any order.
  auto it = std::ranges::lower_bound(s_.rows, check.epoch, {}, &EpochRow::epoch);
  if (it == s_.rows.end() || it->epoch != check.epoch)
    it = s_.rows.insert(it, {.epoch = check.epoch});
  auto& row = *it;
  if (const auto found = measured.figure(s_.figure)) {
    row.low = row.figures == 0 ? *found : std::min(row.low, *found);
    row.high = row.figures == 0 ? *found : std::max(row.high, *found);
    row.sum += *found;
    ++row.figures;
  }
  if (row.checks++ > 0 && check.version <= row.version) return;
  row.at = check.at;
  row.samples = check.samples_trained;
  row.version = check.version;
  row.loss = check.train_loss;
  row.validation_loss = measured.loss;
  row.accuracy = measured.figure(kAccuracy).value_or(0);
  row.workers = check.workers;
  row.metrics = std::move(measured.metrics);
}

// Rows of snapshots that knew of no other metric than the accuracy, which was 0 where a trainer had
// none.
void Training::adopt_old_rows() {
  for (auto& row : s_.rows) {
    if (s_.figure.empty() && row.accuracy > 0) {
      row.metrics = {{std::string(kAccuracy), row.accuracy}};
      row.figures = row.checks;
    }
    for (const auto& [name, _] : row.metrics) metric_names_.insert(name);
  }
  if (s_.figure.empty() && !s_.rows.empty()) s_.figure = metric_names_.empty() ? kLoss : kAccuracy;
}

}  // namespace souk::train
