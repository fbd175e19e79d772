#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "safetensors.h"

namespace souk::trainer {

enum class Optimizer { sgd, adam };

// What a job says about its model and optimiser: the `config` of the protocol's hello. README.md
// lists the fields. What a model has no use for is ignored.
struct Config {
  std::string model;
  Shape input;  // One sample, channels first. Empty: the model's own default.
  std::int64_t classes = 10;
  std::int64_t threads = 1;

  double lr = 0.05;  // For requests that name none.
  Optimizer optimizer = Optimizer::sgd;
  double momentum = 0.9;  // Of adam: the decay of its first moment.
  double weight_decay = 0;

  bool augment = false;
  // Per channel (of a row: per feature), or one for all. Empty: see Normalisation.
  std::vector<double> mean, std;
  std::vector<std::string> labels;  // Names of the classes, for predictions.

  // task: regression. The model has one output, an estimate of an amount less `target_mean` and
  // divided by `target_std`; there are no classes.
  bool regression = false;
  double target_mean = 0, target_std = 1;

  std::int64_t hidden = 128;  // mlp
  std::int64_t depth = 20;    // preresnet
  std::int64_t layers = 2;    // char-transformer, as are the next
  std::int64_t width = 64;
  std::int64_t heads = 4;
  std::int64_t context = 64;
};

// Throws Error naming the field, its value and what would be accepted.
Config parse_config(const nlohmann::json& json);

// Reads a file that holds such an object.
Config read_config(const std::string& path);

}  // namespace souk::trainer
