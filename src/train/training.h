#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/time.h"
#include "base/vocabulary.h"

namespace souk::train {

// What a job wants, fixed at its start. A shard of n samples is n / batch steps of an epoch,
// rounded up; a unit is some consecutive steps of one shard and epoch.
struct TrainingPlan {
  std::vector<std::int64_t> shards;      // Samples of each.
  std::vector<std::int64_t> validation;  // Likewise.
  std::int32_t epochs = 1;
  std::int32_t batch = 32;
  std::int32_t local_steps = 0;  // Of a unit on the fastest machine; 0: chosen here.
  std::int32_t validations = 1;  // Per epoch.
  std::int32_t workers = 1;      // That may come.
  double lr = 0.05;
  double lr_end = 0.05;  // Reached along a cosine.
  std::optional<double> target;
  std::int64_t seed = 1;
  std::size_t arity = 1;  // Of the aggregator (aggregator.h).
  bool synchronous = false;

  [[nodiscard]] std::int64_t shard_steps(std::size_t shard) const;
  [[nodiscard]] std::int64_t epoch_steps() const;
  // Of a unit on the fastest machine, where its shard has so many.
  [[nodiscard]] std::int64_t unit_steps() const;
};

using base::UnitKind;

// Something for a worker to do. `id` names this worker's attempt at it, once and for all: whatever
// is done under it counts at most once.
struct Unit {
  UnitKind kind = UnitKind::wait;
  std::int64_t id = 0;
  std::int32_t epoch = 1;
  std::int32_t shard = 0;
  std::int64_t first_step = 0;
  std::int64_t steps = 0;
  std::int64_t version = 0;  // Of the parameters to use, exactly; 0 with train: the newest.
  double lr = 0;
  std::int64_t seed = 0;
  base::Time deadline;
  base::Duration wait;
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
  double right_sum = 0;
  std::vector<std::int32_t> left;  // Shards to do.
  SOUK_FIELDS(Check, epoch, last, version, at, samples_trained, workers, train_loss, samples,
              loss_sum, right_sum, left)
};

struct EpochRow {
  std::int32_t epoch = 0;
  base::Duration at;
  std::int64_t samples = 0;
  std::int64_t version = 0;
  double loss = 0, validation_loss = 0;
  double accuracy = 0;                // Of the last check of the epoch,
  double sum = 0, low = 0, high = 0;  // and over all `checks`.
  std::int32_t checks = 0;
  std::int32_t workers = 0;
  [[nodiscard]] double mean() const { return checks == 0 ? 0 : sum / checks; }
  SOUK_FIELDS(EpochRow, epoch, at, samples, version, loss, validation_loss, accuracy, sum, low,
              high, checks, workers)
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
  SOUK_FIELDS(TrainingState, life, initialised, epochs, checks, rows, samples, useful_steps,
              wasted_steps, elapsed, finished, reason, final_version)
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

  explicit Training(TrainingPlan plan, TrainingState state = {});

  // Something for `worker`, who holds these shards. A worker has one unit at a time: asking again
  // gives up the one before.
  Unit next(Worker worker, base::Time now, const std::set<std::int32_t>& holds = {});

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
  // The update of a unit is here, made from `version`, but is believed only if another worker comes
  // to the same: the unit stays open, is given to another from exactly that version, and waits to
  // be accepted or rejected. Its worker goes on.
  void hold(std::int64_t id, std::int64_t version, base::Time now);
  // Of which held unit this is a replica; 0: of none.
  [[nodiscard]] std::int64_t original(std::int64_t id) const;
  // A replica is over; it agreed with its original, or not.
  void replicated(std::int64_t id, bool agreed, base::Time now);
  // Held units that nobody has checked for too long.
  [[nodiscard]] std::vector<std::int64_t> unchecked(base::Time now) const;
  void evaluated(std::int64_t id, std::int64_t samples, double loss, double accuracy,
                 base::Time now);
  void gone(Worker worker, base::Time now);
  // A synchronous or buffered aggregator has folded what was accepted so far.
  void folded() { buffered_ = 0; }

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
    std::int64_t unit = 0;
    std::int64_t units = 0, steps = 0, lost = 0, rejected = 0, streak = 0;
    std::int64_t refused = 0;  // In a row.
    std::deque<double> pace;   // Seconds a step, from being given out to being accepted.
    base::Time seen;
    base::Time not_before;  // Until then it gets nothing.
    [[nodiscard]] double quantile(double q) const;
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
  };

  void expire(base::Time now);
  void take_back(std::int64_t id, base::Time now, bool lost);
  void put_back(const Range& range);
  Unit give(Unit unit, WorkerRecord& worker, Worker id, base::Time now);
  std::optional<Unit> evaluation(WorkerRecord& worker, Worker id, base::Time now);
  std::optional<Unit> range_for(WorkerRecord& worker, Worker id, base::Time now,
                                const std::set<std::int32_t>& holds);
  std::optional<Unit> second_try(WorkerRecord& worker, Worker id, base::Time now);
  std::optional<Unit> replica(WorkerRecord& worker, Worker id, base::Time now);
  [[nodiscard]] std::int64_t steps_for(const WorkerRecord& worker) const;
  [[nodiscard]] base::Duration time_for(const WorkerRecord& worker, std::int64_t steps,
                                        double q) const;
  [[nodiscard]] double usual_pace(double q) const;
  [[nodiscard]] double rate(std::int32_t epoch) const;
  [[nodiscard]] std::size_t under_way() const;
  EpochWork* open_epoch(std::int32_t epoch);
  EpochWork* find_epoch(std::int32_t epoch);
  void close_epochs();
  void close_check(std::size_t i);

  TrainingPlan plan_;
  TrainingState s_;
  std::int64_t total_ = 0;  // Steps of an epoch,
  std::int64_t unit_ = 0;   // and of a unit on the fastest machine.
  std::map<Worker, WorkerRecord> workers_;
  std::map<std::int64_t, Attempt> given_;
  std::int64_t counter_ = 0;
  std::size_t buffered_ = 0;
  double recent_loss_ = 0;
  std::optional<base::Time> began_;  // In this life.
  std::vector<Check> due_;           // Of epochs that were completed, without a version yet.
};

}  // namespace souk::train
