#include "job/train/training_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "job/file_keys.h"
#include "job/program.h"
#include "job/train/formats/format.h"
#include "job/train/training_target.h"
#include "job/train/usual_rule.h"
#include "train/codecs/codec.h"

namespace souk::job {
namespace {

constexpr std::array kModels{
    ModelInfo{"logistic", "Logistic regression: one layer. The smallest."},
    ModelInfo{"mlp", "One hidden layer, of 128 units unless `hidden` says otherwise."},
    ModelInfo{"lenet", "LeNet-5: a small convolutional network for small pictures."},
    ModelInfo{"resnet20", "ResNet-20: 20 layers with shortcuts, for pictures like CIFAR-10's."},
    ModelInfo{"preresnet", "A pre-activation ResNet of `depth` layers."},
    ModelInfo{"char-transformer", "A small transformer that learns to write text, byte by byte."},
};

// For hints: "logistic, mlp, ...".
std::string model_names() {
  std::string out;
  for (const auto& model : kModels) out += fmt::format("{}{}", out.empty() ? "" : ", ", model.name);
  return out;
}

// "data: mnist", or {format: csv, train: a.csv, test: b.csv, label: kind}.
struct DataKeys {
  std::string format;
  wire::AnyJson train;  // A file or several.
  std::optional<wire::AnyJson> test;
  std::string label, target;
  std::map<std::string, train::ColumnKind> columns;
  std::string text;
  static constexpr auto optional_fields =
      std::array<std::string_view, 3>{"label", "target", "text"};
  SOUK_FIELDS(DataKeys, format, train, test, label, target, columns, text)
};

// "lr: 0.05", or {start: 0.05, end: 0.005, warmup: 0.05}: up in the first part, then along a
// cosine.
struct RateKeys {
  double start = 0;
  std::optional<double> end;
  std::optional<double> warmup;
  SOUK_FIELDS(RateKeys, start, end, warmup)
};

struct ValidateKeys {
  std::int32_t per_epoch = 1;
  std::int32_t shards = 0;
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"per_epoch", "shards"};
  SOUK_FIELDS(ValidateKeys, per_epoch, shards)
};

struct TrainingKeys {
  std::optional<TrainerKey> trainer;
  std::optional<wire::AnyJson> model;  // "lenet", or {name: mlp, hidden: 64}.
  std::optional<std::string> script;
  std::optional<wire::AnyJson> data;
  std::optional<wire::AnyJson> rule;  // "fedbuff", or {name: fedbuff, buffer: 4}.
  std::optional<std::string> codec;
  std::optional<std::int32_t> epochs;
  std::optional<wire::AnyJson> target;  // training_target.h
  std::optional<std::int32_t> batch;
  std::optional<wire::AnyJson> lr;
  std::optional<std::int32_t> local_batch;
  std::optional<wire::LocalState> local_state;
  std::optional<wire::Average> average;
  std::optional<std::int32_t> local_steps;
  std::optional<std::int32_t> shards;
  std::optional<ValidateKeys> validate;
  std::optional<std::vector<std::string>> validators;
  std::optional<double> replicate;
  std::optional<std::int64_t> seed;
  std::map<std::string, wire::AnyJson> options;  // For the trainer, as they are.
  SOUK_FIELDS(TrainingKeys, trainer, model, script, data, rule, codec, epochs, target, batch, lr,
              local_batch, local_state, average, local_steps, shards, validate, validators,
              replicate, seed, options)
};

base::Result<std::vector<std::string>> files_of(const wire::AnyJson& json, const PathRules& rules,
                                                const std::string& field) {
  auto out = one_or_several(json);
  if (out.empty())
    return std::unexpected(
        at({base::Code::invalid, "it is not a file", "give a path, or a list of paths"}, field));
  for (auto& path : out) {
    SOUK_ASSIGN(path, placed(rules, path, field));
  }
  return out;
}

base::Result<DataSource> data_of(const TrainingKeys& keys, const PathRules& rules) {
  if (!keys.data)
    return std::unexpected(at({base::Code::invalid, "a training needs data",
                               "data: mnist, or {format: csv, train: FILE, test: FILE}"},
                              "data"));
  if (auto name = wire::from_json<std::string>(keys.data->text))
    return DataSource{.built_in = *std::move(name)};
  auto read = wire::from_json<DataKeys>(keys.data->text);
  if (!read) return std::unexpected(at(std::move(read).error(), "data"));
  const auto format = find_format(read->format);
  if (!format) return std::unexpected(at(format.error(), "data.format"));
  const auto wrong = [&](std::string_view key, std::string hint) {
    return std::unexpected(at(
        {base::Code::invalid, fmt::format("{} data has no {}", read->format, key), std::move(hint)},
        fmt::format("data.{}", key)));
  };
  const bool table = read->format == "csv" || read->format == "jsonl";
  if (!table && !read->columns.empty()) return wrong("columns", "columns are of csv and jsonl");
  if (!table && !read->target.empty() && read->format != "npz")
    return wrong("target", "amounts are in csv, jsonl and npz");
  if (read->format != "jsonl" && !read->text.empty())
    return wrong("text", "text: is a field of jsonl; for plain text use format: text");
  if (!read->label.empty() && !read->target.empty())
    return std::unexpected(at({base::Code::invalid, "there is a label and a target",
                               "give label: for classes, or target: for amounts"},
                              "data.target"));
  DataSource out{.format = read->format,
                 .label = read->label,
                 .target = read->target,
                 .columns = read->columns,
                 .text = read->text};
  SOUK_ASSIGN(out.train, files_of(read->train, rules, "data.train"));
  if (read->test) {
    SOUK_ASSIGN(out.test, files_of(*read->test, rules, "data.test"));
  }
  return out;
}

base::Result<> read_rate(const TrainingKeys& keys, wire::Train& train) {
  if (!keys.lr) return {};
  if (const auto one = wire::from_json<double>(keys.lr->text)) {
    train.lr = *one;
    return {};
  }
  auto both = wire::from_json<RateKeys>(keys.lr->text);
  if (!both) return std::unexpected(at(std::move(both).error(), "lr"));
  train.lr = both->start;
  train.lr_end = both->end;
  train.lr_warmup = both->warmup;
  return {};
}

// A training has a script or a model, and runs nothing else.
base::Result<> check_trainer(const TrainingKeys& keys, const ProgramKeys& program,
                             TrainerKey trainer) {
  const bool python = trainer == TrainerKey::python;
  const auto wrong = [](std::string message, std::string hint, std::string field) {
    return std::unexpected(
        at({base::Code::invalid, std::move(message), std::move(hint)}, std::move(field)));
  };
  if (python != keys.script.has_value())
    return wrong(python ? "a Python trainer is a script" : "a script needs trainer: python",
                 "give script: FILE with trainer: python, or model: NAME with trainer: torch",
                 "script");
  if (trainer == TrainerKey::transformers && !keys.model)
    return wrong("a training needs a model", "give the model's folder, or new-gpt", "model");
  if (!python && !keys.model) return wrong("a training needs a model", model_names(), "model");
  if (trainer == TrainerKey::torch && program.setup)
    return wrong("a built-in model has nothing to set up",
                 "drop setup:, or bring a trainer of your own with trainer: python", "setup");
  if (program.run)
    return wrong("a training runs its trainer, nothing else", "drop run:, or kind: train", "run");
  return {};
}

// The model's name and numbers go to the trainer, with its other options.
base::Result<> read_model(const TrainingKeys& keys, wire::Train& train) {
  if (keys.model) {
    SOUK_ASSIGN(const auto model, read_named(*keys.model, "model"));
    for (const auto& [key, value] : model.options) train.config[key] = value.text;
    if (!model.name.empty()) train.config["model"] = wire::to_json(model.name);
  }
  for (const auto& [key, value] : keys.options) train.config[key] = value.text;
  return {};
}

constexpr std::string_view kNewGpt = "new-gpt";  // Made by the worker: no folder.
// How many bytes of text make a sample, unless the file says: a token has about four.
constexpr std::int64_t kContext = 512, kMostContext = 1 << 20, kBytesPerToken = 4;

// The model of trainer: transformers is a folder; its workers find it as an input.
base::Result<> read_transformer(const PathRules& rules, TrainingFile& training) {
  auto& config = training.train.config;
  training.transformers = true;
  config["trainer"] = "\"transformers\"";
  auto bytes_per_token = kBytesPerToken;
  if (const auto name = wire::from_json<std::string>(config["model"]); name == kNewGpt) {
    bytes_per_token = 1;
  } else {
    SOUK_ASSIGN(training.model_folder, placed(rules, name.value_or(""), "model"));
    config["model"] = wire::to_json(std::string(kModelInput));
  }
  const auto& text = config.try_emplace("context", std::to_string(kContext)).first->second;
  const auto context = wire::from_json<std::int64_t>(text);
  if (!context || *context < 2 || *context > kMostContext)
    return std::unexpected(at({base::Code::invalid, fmt::format("context is {}", text),
                               fmt::format("it is a number of tokens, from 2 to {}", kMostContext)},
                              "model.context"));
  config.try_emplace("sample_bytes", std::to_string(*context * bytes_per_token));
  return {};
}

base::Result<> read_aggregator(const TrainingKeys& keys, wire::Train& train) {
  if (!keys.rule) return {};
  SOUK_ASSIGN(const auto rule, read_named(*keys.rule, "rule"));
  train.rule = rule.name;
  for (const auto& [key, value] : rule.options) {
    const auto number = wire::from_json<double>(value.text);
    if (!number)
      return std::unexpected(at({base::Code::invalid, "it is not a number", ""}, "rule." + key));
    train.rule_params[key] = *number;
  }
  return {};
}

}  // namespace

std::span<const std::string_view> training_keys() {
  static constexpr auto all = [] {
    constexpr auto& program = wire::field_names<ProgramKeys>;
    constexpr auto& training = wire::field_names<TrainingKeys>;
    std::array<std::string_view, program.size() + training.size()> out;
    std::ranges::copy(training, std::ranges::copy(program, out.begin()).out);
    return out;
  }();
  return all;
}

base::Result<> read_training(const boost::json::object& file, const PathRules& rules,
                             JobFile& out) {
  SOUK_ASSIGN(auto program, read_keys<ProgramKeys>(file));
  SOUK_ASSIGN(auto keys, read_keys<TrainingKeys>(file));
  TrainingFile training;
  auto& train = training.train;
  const auto trainer = keys.trainer.value_or(keys.script ? TrainerKey::python : TrainerKey::torch);
  const bool python = trainer != TrainerKey::torch;
  train.trainer = python ? wire::Trainer::python : wire::Trainer::torch;
  SOUK_TRY(check_trainer(keys, program, trainer));
  if (keys.script) {
    SOUK_ASSIGN(training.script, placed(rules, *keys.script, "script"));
  }
  SOUK_TRY(read_model(keys, train));
  if (trainer == TrainerKey::transformers) SOUK_TRY(read_transformer(rules, training));
  SOUK_TRY(read_aggregator(keys, train));
  SOUK_ASSIGN(training.data, data_of(keys, rules));
  SOUK_TRY(read_rate(keys, train));
  train.codec = keys.codec.value_or(std::string(train::kAutoCodec));
  train.epochs = keys.epochs.value_or(10);
  if (keys.target) {
    SOUK_ASSIGN(train.target, read_target(*keys.target));
  }
  train.batch = keys.batch.value_or(train.batch);
  train.local_batch = keys.local_batch.value_or(train.local_batch);
  train.local_state = keys.local_state;
  train.average = keys.average.value_or(wire::Average::tail);
  train.local_steps = keys.local_steps.value_or(0);
  train.validators = keys.validators.value_or(std::vector<std::string>{});
  train.replicate = keys.replicate.value_or(0);
  train.seed = keys.seed.value_or(1);
  if (keys.validate) {
    train.validations = keys.validate->per_epoch;
    training.validation_shards = keys.validate->shards;
  }
  training.shards = keys.shards.value_or(0);
  program.replicate.reset();  // Units of a training are, some of them.
  out.of_kind = std::move(training);
  program.run =
      wire::AnyJson{wire::to_json(std::string(python ? "python3 trainer.py" : "souk-torch"))};
  SOUK_TRY(read_program(std::move(program), rules, out));
  auto& read = training_of(out)->train;
  if (!keys.rule) read.rule = usual_rule(read, out.job.workers.max);
  return {};
}

TrainingFile* training_of(JobFile& file) { return std::any_cast<TrainingFile>(&file.of_kind); }

const TrainingFile* training_of(const JobFile& file) {
  return std::any_cast<TrainingFile>(&file.of_kind);
}

bool has_transformers_trainer(const wire::Batch& work) {
  if (!work.train) return false;
  const auto it = work.train->config.find("trainer");
  return it != work.train->config.end() && it->second == "\"transformers\"";
}

std::span<const ModelInfo> models() { return kModels; }

}  // namespace souk::job
