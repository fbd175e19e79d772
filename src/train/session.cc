#include "train/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace souk::train {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kMostRefused = 10'000;
constexpr std::int32_t kSomeWorkers = 3;

}  // namespace

Result<> check_codec(const Aggregator& rule, const Codec& codec) {
  if (rule.needs().sends != Sends::weights || !codec.keeps_residual()) return {};
  return fail(Code::invalid,
              fmt::format("codec {} sends changes, aggregator {} needs whole weights", codec.name(),
                          rule.name()),
              "use fp32, fp16 or int8, or another aggregator", "codec");
}

// A round would wait for what is measured, and without validation data nothing can be.
Result<> check_score(const Aggregator& rule, bool has_validation) {
  if (rule.needs().synchronous)
    return fail(Code::invalid, fmt::format("validator score does not go with rule {}", rule.name()),
                "use a rule that does not wait for rounds, such as mean", "validators");
  if (!has_validation)
    return fail(Code::invalid, "validator score has nothing to measure the loss on",
                "give validation data", "validators");
  return {};
}

Result<Session> Session::make(Spec spec) {
  SOUK_ASSIGN(auto rule, make_aggregator(spec.rule));
  SOUK_ASSIGN(auto codec, make_codec(spec.codec));
  SOUK_TRY(check_codec(*rule, *codec));
  const auto needs = rule->needs();
  spec.plan.workers = spec.rule.workers;
  spec.plan.arity = needs.arity;
  spec.plan.synchronous = needs.synchronous;
  spec.plan.by_clock = needs.by_clock;
  spec.plan.round_s = needs.round_s;
  // What is left out of an update waits for the next: there must be many of them.
  spec.plan.short_units = codec->keeps_residual();
  SOUK_TRY(check_plan(spec.plan));
  Session out(std::move(rule), std::move(codec), std::move(spec.plan));
  auto names = std::move(spec.validators);
  if (names.empty())
    for (const auto& row : validators())
      if (row.by_default) names.emplace_back(row.name);
  // Whole weights say nothing about the size and direction of a change.
  if (needs.sends == Sends::weights)
    std::erase_if(names, [](const auto& name) { return name == "norm" || name == "direction"; });
  for (const auto& name : names) {
    SOUK_ASSIGN(auto validator, make_validator(name));
    if (const auto share = score_share(name)) {
      SOUK_TRY(check_score(*out.rule_, !out.training_.plan().validation.empty()));
      out.scores_.emplace(*share);
    }
    out.validators_.push_back(std::move(validator));
  }
  return out;
}

Session::Refusal Session::refuse(std::int64_t unit, std::string why, base::Time now, bool blame) {
  training_.reject(unit, now, blame);
  return {std::move(why), {}};
}

std::optional<Session::Refusal> Session::judge(const Claim& claim, std::int64_t version,
                                               base::Time now) {
  const auto& unit = claim.unit;
  const auto steps = claim.evidence.steps;
  if (steps < 1 || steps > unit.steps || claim.samples < 1 ||
      claim.samples > steps * training_.plan().batch)
    return refuse(unit.id,
                  fmt::format("{} steps and {} samples were not asked for", steps, claim.samples),
                  now);
  if (claim.base < 0 || claim.base > version)
    return refuse(unit.id, fmt::format("there is no version {}", claim.base), now);
  if (training_.plan().synchronous && claim.base != version)
    return refuse(unit.id, "the round it belongs to is over", now, false);
  history_.note(claim.evidence);
  for (const auto& validator : validators_) {
    if (validator->name() != "finite" && insisted(unit, claim.worker, now)) continue;
    auto why = verdict(*validator, claim, now);
    if (why.empty()) continue;
    refused_[{unit.epoch, unit.shard, unit.first_step}].push_back(claim.worker);
    if (refused_.size() > kMostRefused) refused_.erase(refused_.begin());
    training_.reject(unit.id, now);
    return Refusal{std::move(why), validator->name()};
  }
  return std::nullopt;
}

// Where most of the machines at work are refused one after the other, what they are compared with
// is wrong, not they.
std::string Session::verdict(const Validator& validator, const Claim& claim, base::Time now) {
  auto why = validator.judge(claim.evidence, history_);
  if (why.empty() || !claim.evidence.stats.finite) return why;
  refused_in_a_row_.insert(claim.worker);
  const auto most = std::max(kSomeWorkers, training_.active(now) / 2 + 1);
  if (std::ssize(refused_in_a_row_) < most) return why;
  refused_in_a_row_.clear();
  history_.forget();
  return "";
}

// A unit that two others were refused for is odd, not its workers. One that works alone is believed
// the third time: else it would never get on.
bool Session::insisted(const Unit& unit, std::int64_t worker, base::Time now) const {
  const auto it = refused_.find({unit.epoch, unit.shard, unit.first_step});
  if (it == refused_.end()) return false;
  std::set<std::int64_t> others(it->second.begin(), it->second.end());
  others.erase(worker);
  const auto there_are = training_.active(now) - 1;
  if (there_are == 0) return it->second.size() >= 2;
  return std::ssize(others) >= std::min(there_are, 2);
}

void Session::accept(const Claim& claim, base::Time now) {
  refused_in_a_row_.clear();
  history_.accept(claim.evidence);
  training_.accept(claim.unit.id, claim.evidence.steps, claim.samples, claim.evidence.loss, now);
}

// An immediate aggregator takes all; a buffered one its number, or what there is if no more will
// come; a round by the clock what came in time.
std::size_t Session::to_fold(std::size_t waiting) const {
  if (training_.plan().by_clock) return training_.round_over() ? waiting : 0;
  const auto arity = training_.plan().arity;
  if (waiting < arity) return training_.flush() ? waiting : 0;
  return arity == 1 ? waiting : arity;
}

double Session::state_scale() const {
  const auto needs = rule_->needs();
  if (needs.sends == Sends::weights) return 1;  // They are averaged as they are.
  const auto gain = needs.gain > 0 ? needs.gain : 1 / static_cast<double>(needs.arity);
  return std::min(1.0, 1 / (gain * training_.plan().workers));
}

void Session::restore(TrainingState state, std::deque<Size> sizes, std::deque<double> losses) {
  auto plan = training_.plan();  // A copy: what it lies in is replaced.
  training_ = Training(std::move(plan), std::move(state));
  history_.restore(std::move(sizes), std::move(losses));
}

}  // namespace souk::train
