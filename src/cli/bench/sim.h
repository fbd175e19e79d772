#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench/learner.h"
#include "cli/shell/command.h"
#include "lab/worlds/train_sim.h"

// What `souk train-sim` and `souk bench tta` share.

namespace souk::cli {

struct SimFlags {
  Lesson lesson;
  std::int32_t workers = 8;
  Names speeds;
  double preempt = 0;
  base::Duration kill_every;
  base::Duration away = base::seconds(10);
  base::Duration step = base::milliseconds(200);
  double up = 0, down = 0;
  bool in_turn = false;
  std::string adversaries;  // "0.2:sign-flip"
  std::int32_t epochs = 3, local_steps = 0, local_batch = train::kLeastLocalBatch, validations = 4;
  wire::LocalState local_state = wire::LocalState::keep;
  wire::Average average = wire::Average::tail;
  double lr = 0.05;
  std::optional<double> lr_end;
  std::string codec = "fp32";
  Names validators;
  std::optional<double> target;
  std::int64_t seed = 1;
};

[[nodiscard]] std::vector<Option> sim_options(SimFlags& flags);

// "vc-asgd:alpha=0.95": an aggregator and its params.
[[nodiscard]] base::Result<train::AggregatorSpec> parse_rule(std::string_view text);

// What to simulate, but for the aggregator. The learner has the lesson of the flags.
[[nodiscard]] base::Result<lab::SimConfig> sim_config(const SimFlags& flags,
                                                      const TorchLearner& learner);

}  // namespace souk::cli
