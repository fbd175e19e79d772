#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/time.h"
#include "base/vocabulary.h"
#include "train/metrics.h"
#include "train/opinions.h"
#include "train/units/round_clock.h"
#include "train/units/training_plan.h"
#include "train/units/unit_length.h"

namespace souk::train {

using base::UnitKind;

// Something for a worker to do. `id` names this worker's attempt at it, once and for all: whatever
// is done under it counts at most once.
struct Unit {
  UnitKind kind = UnitKind::wait;
  // evaluate: not what the parameters are worth, but the model's state, on a training shard.
  bool measure = false;
  std::int64_t id = 0;
  std::int32_t epoch = 1;
  std::int32_t shard = 0;
  std::int64_t first_step = 0;
  std::int64_t steps = 0;
  std::int32_t parts = 1;    // Its worker divides each step into so many (TrainingPlan::parts).
  std::int32_t at_work = 1;  // So many share the work.
  std::int64_t version = 0;  // Of the parameters to use, exactly; 0 with train: the newest.
  double lr = 0;
  std::int64_t seed = 0;
  base::Time deadline;
  base::Duration wait;
};

// What somebody says a validation shard came to.
struct CheckAnswer {
  std::int64_t unit = 0;
  std::int64_t worker = 0;
  std::uint64_t owner = 0;
  std::int32_t shard = 0;
  Measured measured;
};

// The state of one version of the parameters, as workers measure it (training_statistics.cc).
struct StateMeasurement {
  struct Answer {
    std::int64_t unit = 0;
    std::int64_t worker = 0;
    std::uint64_t owner = 0;
  };
  std::int32_t shard = -1;  // On which; below zero: not chosen yet.
  std::vector<Answer> by = {};
  Opinions opinions = {};
  std::int32_t failed = 0;
  std::optional<base::Time> until = {};
};

// A check of one version of the parameters on the validation shards.
struct Check {
  std::int32_t epoch = 1;
  bool last = false;  // Of its epoch.
  std::int64_t version = 0;
  base::Duration at;
  std::int64_t samples_trained = 0;
  std::int32_t workers = 0;
  double train_loss = 0;
  // Filled in as the shards are done.
  std::int64_t samples = 0;
  double loss_sum = 0;
  double right_sum = 0;            // Not used: snapshots have it.
  std::vector<std::int32_t> left;  // Shards to do.
  // Of this life of the hub only: after a crash a check is done again.
  std::vector<CheckAnswer> answers = {};
  std::set<std::int64_t> unsettled = {};           // Units of theirs whose pay is not decided.
  std::optional<base::Time> confirm_until = {};    // It is being done again by other owners.
  std::optional<StateMeasurement> measuring = {};  // Before its shards are given out.
  std::int64_t looks_at = 0;  // The version with the state that was measured; 0: `version`.
  SOUK_FIELDS(Check, epoch, last, version, at, samples_trained, workers, train_loss, samples,
              loss_sum, right_sum, left)
};

struct EpochRow {
  std::int32_t epoch = 0;
  base::Duration at;
  std::int64_t samples = 0;
  std::int64_t version = 0;
  double loss = 0, validation_loss = 0;
  double accuracy = 0;                // Of the last check; 0 where there is none in `metrics`.
  double sum = 0, low = 0, high = 0;  // Of the training's figure, over the `figures` that had it.
  std::int32_t checks = 0;
  std::int32_t workers = 0;
  Metrics metrics = {};  // Of the last check of the epoch, the accuracy among them.
  std::int32_t figures = 0;
  [[nodiscard]] double mean() const { return figures == 0 ? 0 : sum / figures; }
  // Snapshots from before there were other metrics than the accuracy do not have it.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"figures"};
  SOUK_FIELDS(EpochRow, epoch, at, samples, version, loss, validation_loss, accuracy, sum, low,
              high, checks, workers, metrics, figures)
};

// Steps of one shard and epoch that nobody has done yet.
struct Range {
  std::int32_t epoch = 1;
  std::int32_t shard = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;  // Not included.
  SOUK_FIELDS(Range, epoch, shard, first, last)
};

struct EpochWork {
  std::int32_t epoch = 1;
  std::int64_t done = 0;  // Steps.
  double loss_sum = 0;
  std::int64_t loss_samples = 0;
  std::int32_t checks = 0;
  std::vector<Range> open;  // In the order they are given out.
  SOUK_FIELDS(EpochWork, epoch, done, loss_sum, loss_samples, checks, open)
};

// All that must survive a crash of the hub. What was given out counts as not done.
struct TrainingState {
  std::int64_t life = 0;  // Lives of the hub so far: no unit id is used twice.
  bool initialised = false;
  std::vector<EpochWork> epochs;  // The oldest that is not done and, perhaps, the one after it.
  std::vector<Check> checks;      // Under way.
  std::vector<EpochRow> rows;
  std::int64_t samples = 0, useful_steps = 0, wasted_steps = 0;
  base::Duration elapsed;
  bool finished = false;
  std::string reason;
  std::int64_t final_version = 0;
  bool confirmed = false;  // The last check was done by two owners, who came to the same.
  std::string figure;      // What checks are judged by: Training::figure(). Empty: none was done.
  // Snapshots from before checks were confirmed, or had figures, do not have them.
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"confirmed", "figure"};
  SOUK_FIELDS(TrainingState, life, initialised, epochs, checks, rows, samples, useful_steps,
              wasted_steps, elapsed, finished, reason, final_version, confirmed, figure)
};

// One training job: what is left to do and who does what. It gives out units, takes them back when
// their deadline passes or their worker leaves, gives the last ones out twice, asks for checks and
// says when it is over. It knows nothing of parameters: whoever folds updates tells it what was
// accepted. Pure and single-threaded; time comes with each call.
//
// Epochs overlap by one: a worker that finds nothing left of an epoch begins the next while others
// finish, so nobody waits for the slowest. With a synchronous aggregator at most `arity` updates of
// one version are under way.
class Training {
 public:
  using Worker = std::int64_t;
  using Owner = std::uint64_t;  // Of a worker's machine; 0: not known.

  explicit Training(TrainingPlan plan, TrainingState state = {});

  // Something for `worker`, who holds these shards and still works on the unit `keeps` (0: on
  // none). Any other that it had is given up. So a worker has at most two: one that it computes,
  // and one that it fetches meanwhile or whose update is on its way. With a synchronous aggregator
  // it has one at a time.
  Unit next(Worker worker, base::Time now, const std::set<std::int32_t>& holds = {},
            Owner owner = 0, std::int64_t keeps = 0);

  // Where the worker's time went since it asked before (UnitLength).
  void time_spent(Worker worker, base::Duration computed, base::Duration waited);

  // The unit as it was given out, while it still counts for this worker.
  [[nodiscard]] const Unit* find(Worker worker, std::int64_t id) const;

  // Moves the deadline of a unit that is given out, e.g. to kNever while its report is judged.
  void set_deadline(std::int64_t id, base::Time deadline);

  void initialised(std::int64_t id, base::Time now);
  // `steps` of the unit's were done and their update accepted; the rest goes back.
  void accept(std::int64_t id, std::int64_t steps, std::int64_t samples, double loss,
              base::Time now);
  // Not accepted; whoever is to blame for it waits a while before the next.
  void reject(std::int64_t id, base::Time now, bool blame = true);
  // Its worker has not begun it, and will not.
  void give_back(std::int64_t id, base::Time now);
  // The update of a unit is here, made from `version`, but is believed only if another worker comes
  // to the same: the unit stays open, is given to another from exactly that version, and waits to
  // be accepted or rejected. Its worker goes on.
  void hold(std::int64_t id, std::int64_t version, base::Time now);
  // Of which held unit this is a replica; 0: of none.
  [[nodiscard]] std::int64_t original(std::int64_t id) const;
  // A replica is over; it was right, or wrong, or that is not decided yet: then another owner does
  // it once more.
  void replicated(std::int64_t id, std::optional<bool> agreed, base::Time now);
  // An update on trial: somebody else measures the loss of two versions of the parameters on one
  // validation shard, without the update and with it.
  struct Trial {
    std::int64_t before = 0, after = 0;
    std::int32_t shard = 0;
  };
  struct TrialLosses {
    double before = 0, after = 0;
  };
  // The update of a unit is here, but is believed only when another owner has measured what it does
  // to the loss. The unit stays open, and waits to be accepted or rejected. Its worker goes on.
  void hold_for_trial(std::int64_t id, Trial trial, base::Time now);
  // An evaluation that belongs to a trial (original() says of which unit) came to this loss. Once
  // the second is here: both. Then whoever measured them is done with the trial, and if it is not
  // decided another owner measures both once more.
  std::optional<TrialLosses> measured(std::int64_t id, double loss, base::Time now);
  // Trials under way.
  [[nodiscard]] std::size_t trials() const;
  // A worker's answer to a unit that others did as well turned out right or wrong.
  void credit(Worker worker, bool right);
  // The held unit was answered rightly by another: what is accepted is that one's.
  void hand_over(std::int64_t id, Worker to);
  // Is somebody there to do a unit again who has not done it yet, nor one of whose machines has?
  [[nodiscard]] bool can_be_done_again(std::int64_t id, base::Time now) const;
  // Held units that nobody has checked for too long.
  [[nodiscard]] std::vector<std::int64_t> unchecked(base::Time now) const;
  // A check that would end the training is done again by other owners where there are some; till
  // then its units are not settled.
  void evaluated(std::int64_t id, Measured measured, base::Time now);
  // The model has state that is measured rather than trained: checks begin with that.
  void measure_state();
  // Units that measured the same state before this one, in their order,
  [[nodiscard]] std::vector<std::int64_t> measured_before(std::int64_t id) const;
  // and whether this one agrees with each of them.
  void state_measured(std::int64_t id, const std::vector<bool>& agrees, base::Time now);
  // A check is of `version` with the state that a unit measured: as a version of its own, by the
  // name of that unit, which is kept as long as kept() says.
  struct MeasuredVersion {
    std::int64_t version = 0;
    std::int64_t unit = 0;
  };
  // Since the last call.
  [[nodiscard]] std::vector<MeasuredVersion> take_measured() {
    return std::exchange(measured_, {});
  }
  // A unit of a check: what it said is believed, or others came to something else.
  struct SettledCheck {
    std::int64_t unit = 0;
    bool right = true;
  };
  // Since the last call.
  [[nodiscard]] std::vector<SettledCheck> take_settled() { return std::exchange(settled_, {}); }
  void gone(Worker worker, base::Time now);
  // A synchronous or buffered aggregator has folded what was accepted so far.
  void folded();
  // The round is over: what was accepted of it is to be folded before there is other work.
  [[nodiscard]] bool round_over() const { return round_over_; }

  // The most time that `steps` of a unit that is given out are worth: some times as long as its
  // worker, and other owners, usually take for them. Nothing: it is not known yet.
  [[nodiscard]] std::optional<base::Duration> fair_time(std::int64_t id, std::int64_t steps) const;
  // Is there a worker of another known owner than this?
  [[nodiscard]] bool others_there(Owner owner, base::Time now) const;
  [[nodiscard]] Owner owner(Worker worker) const;

  // A check is due: the parameters of this `version` must be kept until kept() no longer names it.
  bool begin_check(std::int64_t version, base::Time now);
  // Would begin_check() begin one?
  [[nodiscard]] bool check_due() const;
  [[nodiscard]] std::set<std::int64_t> kept() const;
  // Nothing more will be accepted: what is buffered may be folded as it is.
  [[nodiscard]] bool flush() const;

  void finish(std::string reason, std::int64_t version);
  [[nodiscard]] const TrainingState& state() const { return s_; }
  // As it would be after a crash now.
  [[nodiscard]] TrainingState durable(base::Time now) const;
  [[nodiscard]] const TrainingPlan& plan() const { return plan_; }
  [[nodiscard]] std::int32_t epoch() const;
  [[nodiscard]] double progress() const;  // 0 to 1.
  [[nodiscard]] base::Duration elapsed(base::Time now) const;
  [[nodiscard]] double recent_loss() const { return recent_loss_; }
  // What checks are judged by: the target's figure; without a target the accuracy, or the loss
  // where the first check had no accuracy. Empty: there was none yet.
  [[nodiscard]] std::string_view figure() const;

  struct WorkerView {
    std::int64_t units = 0, steps = 0, lost = 0, rejected = 0, streak = 0;
    bool busy = false;
    base::Time seen;
    double seconds_per_step = 0;  // Median; 0: unknown.
  };
  [[nodiscard]] std::map<Worker, WorkerView> workers() const;
  [[nodiscard]] std::int32_t active(base::Time now) const;

 private:
  struct WorkerRecord {
    std::set<std::int64_t> has;  // Units that were given to it: one, or two.
    std::int64_t units = 0, steps = 0, lost = 0, rejected = 0, streak = 0;
    std::int64_t refused = 0, dropped = 0;  // In a row.
    std::int64_t passed_by_others = 0;      // When it was refused last.
    // Seconds a step: until a unit was accepted, since it was given out or, if that is later, since
    // the one before was reported. So no time counts for two units.
    std::deque<double> pace;
    base::Time reported;  // When a unit of its last was.
    base::Time seen;
    base::Time not_before;  // Until then it gets nothing.
    Owner owner = 0;
    std::optional<UnitLength> length = {};  // Where the job does not say.
    RoundClock::Member round = {};
    [[nodiscard]] double quantile(double q) const;
  };
  struct Answered {
    Worker worker = 0;
    Owner owner = 0;
  };
  struct Attempt {
    Unit unit;
    Worker worker = 0;
    base::Time at;
    base::Time expected;    // When its worker usually would be done.
    std::int64_t twin = 0;  // The same range, given out twice.
    std::size_t check = 0;  // evaluate: which.
    std::int64_t of = 0;    // A replica: of which.
    std::optional<base::Time> held = {};
    base::Duration took = {};             // Until it was held.
    std::vector<Answered> answered = {};  // While it is held: who has done it,
    base::Time answered_at = {};          // and when the last of them did.
    std::optional<Trial> trial = {};      // It is held for this,
    Worker scorer = 0;                    // who measures it now,
    std::vector<double> losses = {};      // and what that one has measured.
  };

  // Rounds by the clock: training_rounds.cc.
  Unit of_round(WorkerRecord& worker, Worker id, base::Time now,
                const std::set<std::int32_t>& holds);
  void close_round(base::Time now);
  [[nodiscard]] bool all_had_turn(base::Time now) const;
  [[nodiscard]] base::Duration until_folded(base::Time now) const;

  void expire(base::Time now);
  void take_back(std::int64_t id, base::Time now, bool lost);
  void drop(std::int64_t id, base::Time now);
  void hold_off(WorkerRecord& worker, base::Time now);
  void put_back(const Range& range);
  Unit give(Unit unit, WorkerRecord& worker, Worker id, base::Time now);
  [[nodiscard]] base::Duration allowance(const WorkerRecord& worker, const Unit& unit) const;
  void reported(Worker worker, std::int64_t id, base::Time now);
  std::optional<Unit> evaluation(WorkerRecord& worker, Worker id, base::Time now,
                                 const std::set<std::int32_t>& holds);
  // `most`: steps; 0: as many as suit the worker.
  std::optional<Unit> range_for(WorkerRecord& worker, Worker id, base::Time now,
                                const std::set<std::int32_t>& holds, std::int64_t most = 0);
  std::optional<Unit> second_try(WorkerRecord& worker, Worker id, base::Time now);
  std::optional<Unit> replica(WorkerRecord& worker, Worker id, base::Time now);
  // Trials: training_trials.cc.
  Attempt& begin_hold(std::int64_t id, base::Time now);
  [[nodiscard]] static Unit next_of_trial(const Attempt& held);
  static void forget_scorer(Attempt& held);
  void leave_trials(Worker id);
  [[nodiscard]] static bool is_of_check(const Attempt& given, std::size_t i);
  [[nodiscard]] std::int64_t steps_for(const WorkerRecord& worker, std::int32_t epoch,
                                       std::int32_t at_work) const;
  [[nodiscard]] base::Duration time_for(const WorkerRecord& worker, std::int64_t steps,
                                        double q) const;
  [[nodiscard]] double usual_pace(double q) const;
  [[nodiscard]] double rate(const EpochWork& work) const;
  [[nodiscard]] std::int64_t unit_seed(const Range& range) const;
  [[nodiscard]] std::size_t under_way() const;
  EpochWork* open_epoch(std::int32_t epoch);
  EpochWork* find_epoch(std::int32_t epoch);
  void close_epochs();
  [[nodiscard]] bool independent(const Attempt& given, const WorkerRecord& worker, Worker id) const;
  [[nodiscard]] double pace_of_others(Worker id) const;
  [[nodiscard]] std::int64_t check_steps(std::int32_t shard) const;
  [[nodiscard]] static bool is_active(const WorkerRecord& worker, base::Time now);

  // The model's state: training_statistics.cc.
  void begin_measuring(Check& check) const;
  [[nodiscard]] std::int64_t measured_steps(std::int32_t shard) const;
  [[nodiscard]] static bool is_of_measurement(const Attempt& given, std::size_t i);
  std::optional<Unit> measurement(std::size_t i, WorkerRecord& worker, Worker id, base::Time now,
                                  const std::set<std::int32_t>& holds);
  void measurement_failed(std::size_t i);
  void end_late_measurements(base::Time now);
  void end_measuring(std::size_t i);

  // Checks: training_checks.cc.
  [[nodiscard]] std::string figure_of(const std::vector<CheckAnswer>& answers) const;
  [[nodiscard]] bool less_better(std::string_view figure) const;
  [[nodiscard]] bool would_end(const Check& check, const Measured& measured) const;
  [[nodiscard]] bool may_be_confirmed(const Check& check, base::Time now) const;
  void advance_check(std::size_t i, base::Time now);
  void close_late_checks(base::Time now);
  void settle(Check& check, const CheckAnswer& answer, bool right);
  void settle_all(const Check& check);
  void close_check(std::size_t i, const std::vector<CheckAnswer>& believed, bool confirmed);
  Check take_check(std::size_t i);
  void put_row(const Check& check, Measured measured);
  void adopt_old_rows();

  TrainingPlan plan_;
  TrainingState s_;
  std::int64_t total_ = 0;  // Steps of an epoch.
  std::map<Worker, WorkerRecord> workers_;
  std::map<std::int64_t, Attempt> given_;
  std::int64_t counter_ = 0;
  std::size_t buffered_ = 0;
  double recent_loss_ = 0;
  std::optional<base::Time> began_;  // In this life.
  std::vector<SettledCheck> settled_;
  RoundClock round_;
  bool round_over_ = false;
  bool measures_ = false;  // measure_state() was called.
  std::vector<MeasuredVersion> measured_;
  std::vector<Check> due_;              // Of epochs that were completed, without a version yet.
  std::set<std::string> metric_names_;  // Of all rows.
};

}  // namespace souk::train
