#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "base/vocabulary.h"
#include "wire/schema.h"

// What goes over the wire about training: what a job wants, what a worker is asked to do and says
// it did, and how far it is. docs/worker-protocol.md has the other half, between agent and trainer.

namespace souk::wire {

using base::Duration;
using base::Sends;
using base::UnitKind;

struct TrainShard {
  std::string blob;  // A folder with one file.
  std::int64_t samples = 0;
  SOUK_FIELDS(TrainShard, blob, samples)
};

// Where a training may end: {accuracy: 0.98}, or {metric: f1, at_least: 0.9}, or {metric: loss,
// at_most: 0.1}.
struct TrainTarget {
  std::optional<double> accuracy;
  std::optional<std::string> metric;
  std::optional<double> at_least, at_most;
  SOUK_FIELDS(TrainTarget, accuracy, metric, at_least, at_most)

  // Of one that was checked (job/train/training_work.h).
  [[nodiscard]] std::string figure() const { return accuracy ? "accuracy" : metric.value_or(""); }
  [[nodiscard]] bool below() const { return at_most.has_value(); }
  [[nodiscard]] double value() const {
    return accuracy.value_or(at_least.value_or(at_most.value_or(0)));
  }
};

// What workers keep of their optimiser (momentum, Adam's moments) from unit to unit.
SOUK_ENUM(LocalState, keep, fresh)

// What is checked and handed out: the mean of the parameters over the last tenth of the work, or
// the parameters as they are.
SOUK_ENUM(Average, tail, none)

// torch: the native one. python: a script of the borrower's.
SOUK_ENUM(Trainer, torch, python)

struct Train {
  Trainer trainer = Trainer::torch;
  std::map<std::string, std::string> config;  // The trainer's `hello`: JSON values by name.
  std::string rule;                           // Empty: the default.
  std::map<std::string, double> rule_params;
  std::string codec = "fp32";           // auto: chosen for each worker, by its link.
  std::vector<std::string> validators;  // Empty: all.
  double replicate = 0;                 // Of newcomers' units, the share that is done twice.
  std::int32_t epochs = 1;
  std::optional<TrainTarget> target;
  std::int32_t batch = 32;       // What all workers together learn from at a time.
  std::int32_t local_batch = 8;  // The least that one of them takes.
  // Absent: kept where no unit is done again by another, who does not have that state.
  std::optional<LocalState> local_state;
  std::optional<Average> average;  // Absent: none.
  double lr = 0.05;
  std::optional<double> lr_end;  // Reached along a cosine; absent: the rate stays.
  // The part of all steps over which the rate rises to `lr` first.
  std::optional<double> lr_warmup;
  std::int32_t local_steps = 0;  // Of a unit on the fastest machine; 0: chosen.
  std::int32_t validations = 1;  // Per epoch.
  std::int64_t seed = 1;
  std::vector<TrainShard> shards;
  std::vector<TrainShard> validation;
  // A run to be learnt from: of four units one has half the batch and one a quarter.
  bool measure = false;
  static constexpr auto optional_fields = std::array<std::string_view, 15>{
      "trainer",    "config",    "rule",       "rule_params", "codec",
      "validators", "replicate", "batch",      "local_steps", "validations",
      "seed",       "lr",        "validation", "measure",     "local_batch"};
  SOUK_FIELDS(Train, trainer, config, rule, rule_params, codec, validators, replicate, epochs,
              target, batch, lr, lr_end, lr_warmup, local_steps, validations, seed, shards,
              validation, measure, local_batch, local_state, average)
};

// Where a worker's time went. No moment counts twice: what travels while the trainer computes, or
// checks, is no time of its own.
struct TimeSpent {
  Duration compute;   // Training.
  Duration checking;  // Validation.
  Duration prepare;   // Handing parameters and shards to the trainer, packing what it made.
  Duration fetch;     // Shards.
  Duration download;  // What to do, and parameters.
  Duration upload;    // Updates, until they were judged.
  Duration waiting;   // For something to do.
  SOUK_FIELDS(TimeSpent, compute, checking, prepare, fetch, download, upload, waiting)
};

inline constexpr Duration TimeSpent::* kTimeParts[] = {
    &TimeSpent::compute,  &TimeSpent::checking, &TimeSpent::prepare, &TimeSpent::fetch,
    &TimeSpent::download, &TimeSpent::upload,   &TimeSpent::waiting};
static_assert(std::size(kTimeParts) == TimeSpent::souk_field_names.size());

// What steps of this batch took to compute.
struct BatchTime {
  std::int32_t batch = 0;
  std::int64_t steps = 0;
  Duration compute;
  SOUK_FIELDS(BatchTime, batch, steps, compute)
};

// A worker asks for something to do.
struct UnitAsk {
  std::int32_t epoch = 0;          // Of the lease.
  std::vector<std::string> holds;  // Shards in its cache.
  std::optional<TimeSpent> spent;  // Since it asked before.
  // The unit that it still works on. Others that it had are given up.
  std::optional<std::int64_t> keeps;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"holds"};
  SOUK_FIELDS(UnitAsk, epoch, holds, spent, keeps)
};

// A parameter service (hub/service.h) that carries a unit's bytes instead of the market.
struct UnitHub {
  std::string url;
  std::string update;                 // The name under which the unit's update is sent there.
  std::string ticket;                 // For the header Authorization: Bearer.
  std::optional<std::string> pinned;  // Its certificate's fingerprint, if that is to be trusted.
  SOUK_FIELDS(UnitHub, url, update, ticket, pinned)
};

// Something for a worker to do; with kind wait: to ask again after `wait`.
struct Unit {
  UnitKind kind = UnitKind::wait;
  std::int64_t id = 0;
  std::string shard;
  std::int64_t version = 0;  // evaluate: of the parameters to look at, exactly.
  std::int32_t pass = 1;     // Of the data: the epoch.
  std::int64_t first_step = 0;
  std::int64_t steps = 0;
  std::int32_t batch = 0;
  double lr = 0;
  std::int64_t seed = 0;
  bool keep = false;  // train: go on with the optimiser's state of the unit before.
  // train: only the model's state is measured, nothing is learnt; the rate is 0 as well.
  bool measure = false;
  Sends send = Sends::delta;
  double state_scale = 1;  // Changes of the model's state are multiplied by this.
  // train: so much of the worker's last change, if that was not judged when the parameters were
  // fetched, is added to them.
  double own = 0;
  std::string codec = "fp32";
  Duration within;  // Then it is given to somebody else.
  Duration wait;
  std::optional<UnitHub> hub;  // train: where to pull and push; the market takes both as well.
  static constexpr auto optional_fields = std::array<std::string_view, 3>{"keep", "measure", "own"};
  SOUK_FIELDS(Unit, kind, id, shard, version, pass, first_step, steps, batch, lr, seed, send,
              state_scale, own, codec, within, wait, hub, keep, measure)
};

struct TensorInfo {
  std::string name;
  std::vector<std::int64_t> shape;
  bool state = false;  // Measured rather than trained: running means and the like.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"state"};
  SOUK_FIELDS(TensorInfo, name, shape, state)
};

// What became of a unit. The update's bytes were sent before. Without steps and samples nothing was
// done of it: it goes to another at once.
struct UnitDone {
  std::int32_t epoch = 0;  // Of the lease.
  std::int64_t base = 0;   // The version it began from.
  std::int64_t steps = 0;
  std::int64_t samples = 0;
  double loss = 0;
  std::map<std::string, double> metrics;
  std::vector<TensorInfo> tensors;    // init: what the parameters are.
  std::optional<std::string> error;   // The trainer's.
  std::optional<std::int64_t> bytes;  // Of the update that was sent to the market, all pieces.
  static constexpr auto optional_fields =
      std::array<std::string_view, 6>{"base", "steps", "samples", "loss", "metrics", "tensors"};
  SOUK_FIELDS(UnitDone, epoch, base, steps, samples, loss, metrics, tensors, error, bytes)
};

struct UnitVerdict {
  bool accepted = false;
  std::string reason;  // Why not.
  Duration worked;     // The time that is paid for it.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"worked"};
  SOUK_FIELDS(UnitVerdict, accepted, reason, worked)
};

struct TrainRow {
  std::int32_t epoch = 0;
  Duration at;  // Since the first unit.
  std::int64_t samples = 0;
  std::int64_t version = 0;
  double loss = 0;  // Of training, mean over the epoch.
  double validation_loss = 0;
  std::optional<double> accuracy;  // Of the last check of the epoch, where it is measured.
  // Of the training's figure, over all checks of the epoch that had it.
  std::optional<double> mean, low, high;
  std::int32_t workers = 0;
  std::map<std::string, double> metrics;  // Of the last check, the accuracy among them.
  SOUK_FIELDS(TrainRow, epoch, at, samples, version, loss, validation_loss, accuracy, mean, low,
              high, workers, metrics)
};

struct TrainWorker {
  std::string worker;  // Its lease.
  std::int64_t units = 0, steps = 0, lost = 0, rejected = 0;
  double steps_per_second = 0;
  TimeSpent spent;
  std::string codec;  // Of its latest update; empty: it has sent none.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"codec"};
  SOUK_FIELDS(TrainWorker, worker, units, steps, lost, rejected, steps_per_second, spent, codec)
};

// What the checks of a training are judged by: what its target names, else the accuracy, else the
// loss.
struct TrainFigure {
  std::string name;
  bool below = false;           // Less of it is better.
  std::optional<double> value;  // Of the last check; absent: it was not measured.
  SOUK_FIELDS(TrainFigure, name, below, value)
};

// waiting: for its first parameters.
SOUK_ENUM(TrainingState, waiting, training, finished)

struct Training {
  TrainingState state = TrainingState::waiting;
  std::string reason;
  std::string rule;
  std::int32_t epoch = 0;
  std::int32_t epochs = 0;
  double progress = 0;  // Of all epochs, 0 to 1.
  std::int64_t version = 0;
  std::int64_t samples = 0;
  double loss = 0;  // Lately.
  std::optional<double> accuracy;
  std::optional<double> target;  // Of the figure.
  Duration elapsed;
  std::optional<Duration> left;  // At the present speed.
  std::int32_t workers = 0;
  std::int64_t wasted_steps = 0, useful_steps = 0;
  std::int64_t bytes_in = 0, bytes_out = 0;
  std::vector<TrainRow> rows;
  std::vector<TrainWorker> by_worker;
  TimeSpent spent;  // By all workers, those that left too.
  std::vector<BatchTime> by_batch;
  std::int64_t folds = 0;  // Of updates into the parameters, since the process began,
  Duration folding;        // and the time they took.
  // Once it is finished: two owners came to the same in the check that ended it. A check that
  // nobody else could confirm counts as it is.
  std::optional<bool> confirmed;
  std::optional<TrainFigure> figure;  // Absent: there was no check yet, and there is no target.

  [[nodiscard]] bool reached() const {
    if (!target || !figure || !figure->value) return false;
    return figure->below ? *figure->value <= *target : *figure->value >= *target;
  }
  SOUK_FIELDS(Training, state, reason, rule, epoch, epochs, progress, version, samples, loss,
              accuracy, target, elapsed, left, workers, wasted_steps, useful_steps, bytes_in,
              bytes_out, rows, by_worker, spent, by_batch, folds, folding, confirmed, figure)
};

SOUK_JSON_ELSEWHERE(Train);
SOUK_JSON_ELSEWHERE(UnitAsk);
SOUK_JSON_ELSEWHERE(Unit);
SOUK_JSON_ELSEWHERE(UnitDone);
SOUK_JSON_ELSEWHERE(UnitVerdict);
SOUK_JSON_ELSEWHERE(Training);

}  // namespace souk::wire
