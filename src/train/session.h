#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "train/aggregators/aggregator.h"
#include "train/codecs/codec.h"
#include "train/scores.h"
#include "train/units/training.h"
#include "train/validators/validator.h"

namespace souk::train {

// Can what `codec` sends be folded by `rule`?
[[nodiscard]] base::Result<> check_codec(const Aggregator& rule, const Codec& codec);

// Can updates be judged by what they do to the loss?
[[nodiscard]] base::Result<> check_score(const Aggregator& rule, bool has_validation);

// One training as whoever runs it sees it: the work, and which answers to it are believed. The hub
// and the simulator differ in where parameters lie and what time is; what they accept is decided
// here. Pure and single-threaded; time comes with each call.
class Session {
 public:
  struct Spec {
    TrainingPlan plan;  // Its `workers`, `arity` and `synchronous` follow from the aggregator.
    AggregatorSpec rule;
    std::string codec = "fp32";
    // Empty: all that suit the aggregator, but not `score`.
    std::vector<std::string> validators;
  };
  static base::Result<Session> make(Spec spec);

  // What a worker says it did.
  struct Claim {
    std::int64_t worker = 0;
    Unit unit;
    std::int64_t base = 0;  // The version it began from.
    std::int64_t samples = 0;
    Evidence evidence;
  };
  struct Refusal {
    std::string why;
    std::string_view by;  // The validator, if it was one.
  };
  // Nothing: it is believed, and accept() may follow. Else the unit is taken back. `version` is
  // the newest of the parameters. Requires training().find(worker, unit.id).
  std::optional<Refusal> judge(const Claim& claim, std::int64_t version, base::Time now);
  // The unit is taken back.
  Refusal refuse(std::int64_t unit, std::string why, base::Time now, bool blame = true);
  void accept(const Claim& claim, base::Time now);
  // Are `waiting` accepted updates enough to fold, and how many of them go into one fold?
  [[nodiscard]] std::size_t to_fold(std::size_t waiting) const;

  // What workers multiply the changes of a model's state by (running means and variances, which are
  // measured rather than trained). Each worker moves them most of the way to what it sees; added up
  // over all who work at a time, and with momentum, that would go too far and swing.
  [[nodiscard]] double state_scale() const;

  // Begins again from what was saved.
  void restore(TrainingState state, std::deque<Size> sizes, std::deque<double> losses);

  [[nodiscard]] Training& training() { return training_; }
  [[nodiscard]] const Training& training() const { return training_; }
  [[nodiscard]] const Aggregator& rule() const { return *rule_; }
  [[nodiscard]] const Codec& codec() const { return *codec_; }
  [[nodiscard]] const History& history() const { return history_; }
  // Where updates are judged by what they do to the loss; else nullptr.
  [[nodiscard]] Scores* scores() { return scores_ ? &*scores_ : nullptr; }

 private:
  Session(std::unique_ptr<Aggregator> rule, std::unique_ptr<Codec> codec, TrainingPlan plan)
      : rule_(std::move(rule)), codec_(std::move(codec)), training_(std::move(plan)) {}
  [[nodiscard]] bool insisted(const Unit& unit, std::int64_t worker, base::Time now) const;
  std::string verdict(const Validator& validator, const Claim& claim, base::Time now);

  std::unique_ptr<Aggregator> rule_;
  std::unique_ptr<Codec> codec_;
  std::vector<std::unique_ptr<Validator>> validators_;
  Training training_;
  History history_;
  std::optional<Scores> scores_;
  // Who was refused what, by epoch, shard and step.
  std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, std::vector<std::int64_t>>
      refused_;
  std::set<std::int64_t> refused_in_a_row_;  // Workers, since something was accepted.
};

}  // namespace souk::train
