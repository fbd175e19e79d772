#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "train/aggregators/aggregator.h"
#include "train/units/training.h"

// Training for real under a virtual clock. What is learnt is learnt: the engine, the aggregator,
// the codec, the validators and the learner are those of a job, and every update is computed,
// encoded, judged and folded. What is invented is time: how fast machines are, how long bytes
// travel, who dies when. So a run of hours on a hundred machines takes one machine and minutes, and
// ends with the same parameters each time.

namespace souk::lab {

// What a trainer does for its machine (docs/worker-protocol.md), for one model and one split of the
// data. Its answers are functions of its arguments alone, and of what it keeps under `memory`.
class Learner {
 public:
  struct Trained {
    std::vector<float> values;  // The change, or the new parameters where these were asked for.
    std::int64_t samples = 0;
    double loss = 0;
  };
  struct Evaluated {
    std::int64_t samples = 0;
    double loss = 0;
    double accuracy = 0;
  };
  virtual ~Learner() = default;
  // Of what init() gives. Empty: nothing of it is state (train/statistics.h).
  [[nodiscard]] virtual train::Layout layout() const { return {}; }
  virtual base::Result<std::vector<float>> init(std::int64_t seed) = 0;
  // `memory`: whose optimiser's state to go on with, and to keep; empty: nobody's.
  virtual base::Result<Trained> train(std::span<const float> base, const train::Unit& unit,
                                      train::Sends send, double state_scale,
                                      const std::string& memory) = 0;
  virtual base::Result<Evaluated> evaluate(std::span<const float> values, std::int32_t shard) = 0;
};

// What dishonest machines send in place of their change, with the loss they really saw:
// its negative; nothing that is a number; nothing at all, after the time that work would have
// taken; noise as long as the change.
SOUK_ENUM(Attack, sign_flip, nan, free_rider, random)

struct Fleet {
  std::vector<double> speeds = {1};                    // Of the machines in turn, again and again.
  base::Duration step = base::milliseconds(20);        // A step of training at speed 1.
  base::Duration round_trip = base::milliseconds(20);  // For each question to the hub.
  double up_mbit = 0, down_mbit = 0;                   // Of each machine's link; 0: no limit.
  double preempt = 0;                                  // The chance to vanish during a unit.
  base::Duration kill_every;                           // Some machine dies; 0: never.
  base::Duration away = base::seconds(10);             // Until a machine that vanished is back.
  double adversaries = 0;                              // Their share of the machines.
  Attack attack = Attack::sign_flip;
};

struct SimConfig {
  // Its `workers`, `arity` and `synchronous` are set by the two below.
  train::TrainingPlan plan;
  train::AggregatorSpec rule;  // Its `workers` are the machines.
  std::string codec = "fp32";
  std::vector<std::string> validators;  // Empty: all, as in a job.
  bool average = false;                 // Checks are of the mean of the last parameters.
  bool keep = true;                     // Machines keep their optimiser's state until they vanish.
  bool in_turn = false;  // They fetch, compute and send in turn, not at the same time.
  Fleet fleet;
  std::optional<double> target;  // Noted when reached; to end there, set the plan's.
};

struct SimRow {
  std::int32_t epoch = 0;
  double seconds = 0;  // Virtual, since the beginning.
  std::int64_t samples = 0;
  double loss = 0;                     // Of training.
  double accuracy = 0;                 // Of the last check of the epoch,
  double mean = 0, low = 0, high = 0;  // and over all of them.
  SOUK_FIELDS(SimRow, epoch, seconds, samples, loss, accuracy, mean, low, high)
};

struct SimResult {
  std::string rule;
  std::string reason;  // Why it ended.
  std::vector<SimRow> rows;
  double accuracy = 0;  // Of the last row.
  double seconds = 0;
  std::optional<double> seconds_to_target;
  std::int64_t samples = 0;
  std::int64_t bytes_up = 0, bytes_down = 0;
  // Seconds of computing by all machines, checks aside, and those whose update was folded.
  double computed = 0, useful = 0;
  double goodput = 0;  // useful / computed
  std::int64_t accepted = 0;
  std::int64_t lost = 0;  // Units whose machine vanished.
  std::int64_t late = 0;  // Updates that came after somebody else's.
  std::int64_t rejected_honest = 0, rejected_adversary = 0, accepted_adversary = 0;
  std::map<std::string, std::int64_t> honest_rejected_by;  // Validators.
  std::string hash;                                        // Of the parameters it ended with.
  SOUK_FIELDS(SimResult, rule, reason, rows, accuracy, seconds, seconds_to_target, samples,
              bytes_up, bytes_down, computed, useful, goodput, accepted, lost, late,
              rejected_honest, rejected_adversary, accepted_adversary, honest_rejected_by, hash)
};

// Runs one training to its end; `progress` hears from 0 to 1. The same config and learner give the
// same result bit for bit: events are ordered by time, then machine. A training that gets nowhere,
// because all that comes is refused or too late, ends when it has done four times its plan.
//
// Machines hold all shards from the beginning. The hub is not told of a death: the unit's deadline
// passes, or the machine comes back and asks.
[[nodiscard]] base::Result<SimResult> simulate(
    const SimConfig& config, Learner& learner,
    const std::function<void(double)>& progress = [](double) {});

}  // namespace souk::lab
