#include "job/job_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "wire/spellings.h"
#include "wire/yaml.h"

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

struct FileResources {
  std::optional<wire::AnyJson>
      cores;  // 2, or "2.." for at least two: which is what it means anyway.
  std::optional<std::string> memory;
  std::optional<wire::AnyJson> gpus;
  std::optional<std::string> gpu_memory;
  SOUK_FIELDS(FileResources, cores, memory, gpus, gpu_memory)
};

struct FilePrice {
  std::optional<base::Credits> limit;
  std::optional<base::Credits> budget;
  SOUK_FIELDS(FilePrice, limit, budget)
};

// "data", or {path: data, folder: ../data}, {path: .., blob: ..}, {path: .., url: .., hash: ..}.
struct FileInput {
  std::optional<std::string> path;
  std::optional<std::string> folder;
  std::optional<std::string> file;
  std::optional<std::string> blob;
  std::optional<std::string> url;
  std::optional<std::string> hash;
  SOUK_FIELDS(FileInput, path, folder, file, blob, url, hash)
};

// "data: mnist", or {format: csv, train: a.csv, test: b.csv, label: price}.
struct FileData {
  std::string format;
  wire::AnyJson train;  // A file or several.
  std::optional<wire::AnyJson> test;
  std::string label;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"label"};
  SOUK_FIELDS(FileData, format, train, test, label)
};

struct FileRate {  // "lr: 0.05", or {start: 0.05, end: 0.005}: along a cosine.
  double start = 0;
  std::optional<double> end;
  SOUK_FIELDS(FileRate, start, end)
};

struct FileValidate {
  std::int32_t per_epoch = 1;
  std::int32_t shards = 1;
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"per_epoch", "shards"};
  SOUK_FIELDS(FileValidate, per_epoch, shards)
};

struct File {
  std::string name;
  std::string kind = "batch";
  std::optional<wire::AnyJson> class_;  // "c1", or several: [c1, c4].
  std::optional<FileResources> resources;
  std::optional<wire::AnyJson> workers;  // 2 or "1..4".
  FilePrice price;
  std::optional<std::string> deadline;
  std::int32_t priority = 0;
  wire::Constraints constraints;
  std::vector<std::string> packages;  // Short for constraints.packages.
  std::optional<wire::AnyJson> run;   // As it is written: `run: true` is a command.
  std::optional<wire::AnyJson> setup;
  std::optional<std::string> workdir;
  std::vector<wire::AnyJson> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, wire::AnyJson> env;  // Numbers too.
  std::optional<std::string> image;
  std::optional<wire::BatchCheckpoint> checkpoint;
  wire::Network network = wire::Network::none;
  wire::Retry retry;
  // kind: train
  std::optional<wire::Trainer> trainer;
  std::optional<wire::AnyJson> model;  // "lenet", or {name: mlp, hidden: 64}.
  std::optional<std::string> script;
  std::optional<wire::AnyJson> data;
  std::optional<wire::AnyJson> rule;  // "fedbuff", or {name: fedbuff, buffer: 4}.
  std::optional<std::string> codec;
  std::optional<std::int32_t> epochs;
  std::optional<wire::TrainTarget> target;
  std::optional<std::int32_t> batch;
  std::optional<wire::AnyJson> lr;
  std::optional<std::int32_t> local_steps;
  std::optional<std::int32_t> shards;
  std::optional<FileValidate> validate;
  std::optional<std::vector<std::string>> validators;
  std::optional<double> replicate;
  std::optional<std::int64_t> seed;
  std::map<std::string, wire::AnyJson> options;  // For the trainer, as they are.
  static constexpr auto optional_fields = std::array<std::string_view, 7>{
      "name", "kind", "price", "priority", "constraints", "network", "retry"};
  SOUK_FIELDS(File, name, kind, class_, resources, workers, price, deadline, priority, constraints,
              packages, run, setup, workdir, inputs, outputs, env, image, checkpoint, network,
              retry, trainer, model, script, data, rule, codec, epochs, target, batch, lr,
              local_steps, shards, validate, validators, replicate, seed, options)
};

base::Error at(base::Error error, std::string field) {
  error.message = field + ": " + error.message;
  error.field = std::move(field);
  return error;
}

// A scalar as it was written.
std::string plain(const wire::AnyJson& json) {
  if (const auto text = wire::from_json<std::string>(json.text)) return *text;
  return json.text;
}

std::string_view at_least(std::string_view text) {
  if (text.ends_with("..")) text.remove_suffix(2);
  return text;
}

base::Result<std::int64_t> memory_of(const std::optional<std::string>& text, std::string field) {
  if (!text) return 0;
  auto memory = wire::parse_memory(at_least(*text));
  if (!memory) return std::unexpected(at(std::move(memory).error(), std::move(field)));
  return memory->mib;
}

base::Result<std::int32_t> count_of(const std::optional<wire::AnyJson>& json,
                                    std::int32_t otherwise, std::string field) {
  if (!json) return otherwise;
  auto count = wire::parse_whole<std::int32_t>(at_least(plain(*json)));
  if (!count) return std::unexpected(at(std::move(count).error(), std::move(field)));
  return count;
}

base::Result<std::string> placed(const PathRules& rules, const std::string& path,
                                 std::string field) {
  if (!rules.place) return path;
  auto place = rules.place(path);
  if (!place) return std::unexpected(at(std::move(place).error(), std::move(field)));
  return place;
}

base::Result<LocalInput> input_of(const wire::AnyJson& json, std::size_t i,
                                  const PathRules& rules) {
  const auto field = fmt::format("inputs[{}]", i);
  FileInput in;
  if (const auto text = wire::from_json<std::string>(json.text)) {
    in.folder = *text;
  } else {
    auto read = wire::from_json<FileInput>(json.text);
    if (!read) return std::unexpected(at(std::move(read).error(), field));
    in = *std::move(read);
  }
  const auto given =
      in.folder.has_value() + in.file.has_value() + in.blob.has_value() + in.url.has_value();
  if (given != 1)
    return std::unexpected(at({base::Code::invalid, "an input comes from one place",
                               "give one of folder, file, blob and url"},
                              field));
  if (in.url.has_value() != in.hash.has_value())
    return std::unexpected(at({base::Code::invalid, "a URL and the hash of what it gives",
                               "give both url and hash (BLAKE2b-256 or SHA-256 in hex)"},
                              field));
  LocalInput out{.source = in.folder.value_or(in.file.value_or(in.url.value_or(""))),
                 .hash = in.hash.value_or(""),
                 .blob = in.blob.value_or("")};
  auto name = out.source;
  while (name.ends_with('/')) name.pop_back();
  name = std::filesystem::path(name.substr(0, name.find_first_of("?#"))).filename().string();
  out.path = in.path.value_or(name);
  if (out.path.empty() || out.path == "." || out.path == "..")
    return std::unexpected(at(
        {base::Code::invalid, "it has no name of its own", "say where it goes with path:"}, field));
  if (in.url && rules.allow_url)
    if (auto allowed = rules.allow_url(*in.url); !allowed)
      return std::unexpected(at(std::move(allowed).error(), field));
  if (in.folder || in.file) {
    SOUK_ASSIGN(out.source, placed(rules, out.source, field));
  }
  return out;
}

// One name, or a list of names; none if it is neither.
std::vector<std::string> one_or_several(const wire::AnyJson& json) {
  if (auto one = wire::from_json<std::string>(json.text)) return {*std::move(one)};
  if (auto many = wire::from_json<std::vector<std::string>>(json.text)) return *std::move(many);
  return {};
}

base::Result<> convert_classes(const File& f, wire::NewJob& job) {
  if (!f.class_) return {};
  auto names = one_or_several(*f.class_);
  if (names.empty())
    return std::unexpected(at({base::Code::invalid, "it is no slot class",
                               "give a class, or for a training several: [c1, c4]"},
                              "class"));
  job.class_ = names.front();
  job.also_classes.assign(names.begin() + 1, names.end());
  return {};
}

base::Result<std::vector<std::string>> files_of(const wire::AnyJson& json, const PathRules& rules,
                                                const std::string& field) {
  auto out = one_or_several(json);
  if (out.empty())
    return std::unexpected(
        at({base::Code::invalid, "it is no file", "give a path, or a list of paths"}, field));
  for (auto& path : out) {
    SOUK_ASSIGN(path, placed(rules, path, field));
  }
  return out;
}

base::Result<DataSource> data_of(const File& f, const PathRules& rules) {
  if (!f.data)
    return std::unexpected(at({base::Code::invalid, "a training needs data",
                               "data: mnist, or {format: csv, train: FILE, test: FILE}"},
                              "data"));
  if (auto name = wire::from_json<std::string>(f.data->text))
    return DataSource{.built_in = *std::move(name)};
  auto read = wire::from_json<FileData>(f.data->text);
  if (!read) return std::unexpected(at(std::move(read).error(), "data"));
  const auto formats = {"idx", "cifar10", "csv", "text"};
  if (std::ranges::find(formats, read->format) == formats.end())
    return std::unexpected(at({base::Code::invalid, "'" + read->format + "' is no known format",
                               "use idx, cifar10, csv or text"},
                              "data.format"));
  DataSource out{.format = read->format, .label = read->label};
  SOUK_ASSIGN(out.train, files_of(read->train, rules, "data.train"));
  if (read->test) {
    SOUK_ASSIGN(out.test, files_of(*read->test, rules, "data.test"));
  }
  return out;
}

// "name", or an object with a name and other things: calls `other` with each of those.
template <class Other>
base::Result<std::string> named(const std::optional<wire::AnyJson>& json, std::string field,
                                const Other& other) {
  if (!json) return std::string();
  if (auto name = wire::from_json<std::string>(json->text)) return *std::move(name);
  auto all = wire::from_json<std::map<std::string, wire::AnyJson>>(json->text);
  if (!all || !all->contains("name"))
    return std::unexpected(
        at({base::Code::invalid, "it has no name", "give a name, or {name: NAME, ...}"},
           std::move(field)));
  for (const auto& [key, value] : *all)
    if (key != "name") SOUK_TRY(other(key, value));
  return plain(all->at("name"));
}

base::Result<> convert_rate(const File& f, wire::Train& train) {
  if (!f.lr) return {};
  if (const auto one = wire::from_json<double>(f.lr->text)) {
    train.lr = *one;
    return {};
  }
  auto both = wire::from_json<FileRate>(f.lr->text);
  if (!both) return std::unexpected(at(std::move(both).error(), "lr"));
  train.lr = both->start;
  train.lr_end = both->end;
  return {};
}

base::Result<> convert_train(File& f, const PathRules& rules, JobFile& out) {
  LocalTrain local;
  auto& train = local.train;
  train.trainer = f.trainer.value_or(f.script ? wire::Trainer::python : wire::Trainer::torch);
  const bool python = train.trainer == wire::Trainer::python;
  if (python != f.script.has_value())
    return std::unexpected(
        at({base::Code::invalid,
            python ? "a Python trainer is a script" : "a script needs trainer: python",
            "give script: FILE with trainer: python, or model: NAME with trainer: torch"},
           "script"));
  if (!python && !f.model)
    return std::unexpected(
        at({base::Code::invalid, "a training needs a model", model_names()}, "model"));
  if (f.run)
    return std::unexpected(at({base::Code::invalid, "a training runs its trainer, nothing else",
                               "drop run:, or kind: train"},
                              "run"));
  if (f.script) {
    SOUK_ASSIGN(local.script, placed(rules, *f.script, "script"));
  }
  SOUK_ASSIGN(const auto model,
              named(f.model, "model", [&](const std::string& key, const wire::AnyJson& value) {
                train.config[key] = value.text;
                return base::Result<>();
              }));
  if (!model.empty()) train.config["model"] = wire::to_json(model);
  for (const auto& [key, value] : f.options) train.config[key] = value.text;
  SOUK_ASSIGN(train.rule,
              named(f.rule, "rule",
                    [&](const std::string& key, const wire::AnyJson& value) -> base::Result<> {
                      const auto number = wire::from_json<double>(value.text);
                      if (!number)
                        return std::unexpected(
                            at({base::Code::invalid, "it is no number", ""}, "rule." + key));
                      train.rule_params[key] = *number;
                      return {};
                    }));
  SOUK_ASSIGN(local.data, data_of(f, rules));
  SOUK_TRY(convert_rate(f, train));
  train.codec = f.codec.value_or(train.codec);
  train.epochs = f.epochs.value_or(10);
  train.target = f.target;
  train.batch = f.batch.value_or(train.batch);
  train.local_steps = f.local_steps.value_or(0);
  train.validators = f.validators.value_or(std::vector<std::string>{});
  train.replicate = f.replicate.value_or(0);
  train.seed = f.seed.value_or(1);
  if (f.validate) {
    train.validations = f.validate->per_epoch;
    local.validation_shards = f.validate->shards;
  }
  local.shards = f.shards.value_or(0);
  out.train = std::move(local);
  f.run = wire::AnyJson{wire::to_json(std::string(python ? "python3 trainer.py" : "souk-torch"))};
  return {};
}

base::Result<> refuse_training_keys(const File& f) {
  const std::initializer_list<std::pair<std::string_view, bool>> keys{
      {"trainer", f.trainer.has_value()},
      {"model", f.model.has_value()},
      {"script", f.script.has_value()},
      {"data", f.data.has_value()},
      {"rule", f.rule.has_value()},
      {"codec", f.codec.has_value()},
      {"epochs", f.epochs.has_value()},
      {"target", f.target.has_value()},
      {"batch", f.batch.has_value()},
      {"lr", f.lr.has_value()},
      {"local_steps", f.local_steps.has_value()},
      {"shards", f.shards.has_value()},
      {"validate", f.validate.has_value()},
      {"validators", f.validators.has_value()},
      {"replicate", f.replicate.has_value()},
      {"seed", f.seed.has_value()},
      {"options", !f.options.empty()}};
  for (const auto& [name, given] : keys)
    if (given)
      return std::unexpected(
          at({base::Code::invalid, "it is about training", "add kind: train"}, std::string(name)));
  return {};
}

base::Result<> convert_batch(File& f, const PathRules& rules, JobFile& out) {
  if (!f.run) {
    const std::initializer_list<std::pair<std::string_view, bool>> useless{
        {"setup", f.setup.has_value()},
        {"workdir", f.workdir.has_value()},
        {"inputs", !f.inputs.empty()},
        {"outputs", !f.outputs.empty()},
        {"env", !f.env.empty()},
        {"image", f.image.has_value()},
        {"checkpoint", f.checkpoint.has_value()}};
    for (const auto& [name, given] : useless)
      if (given)
        return std::unexpected(at({base::Code::invalid, "it means nothing without a command",
                                   "add run: with the command"},
                                  std::string(name)));
    return {};
  }
  wire::Batch batch{.run = plain(*f.run),
                    .setup = f.setup ? plain(*f.setup) : "",
                    .outputs = std::move(f.outputs),
                    .image = f.image,
                    .checkpoint = f.checkpoint,
                    .network = f.network,
                    .retry = f.retry};
  for (const auto& [name, value] : f.env) batch.env[name] = plain(value);
  for (std::size_t i = 0; i < f.inputs.size(); ++i) {
    SOUK_ASSIGN(auto input, input_of(f.inputs[i], i, rules));
    out.inputs.push_back(std::move(input));
  }
  if (f.workdir) {
    SOUK_ASSIGN(out.workdir, placed(rules, *f.workdir, "workdir"));
  }
  out.job.batch = std::move(batch);
  return {};
}

base::Result<JobFile> convert(File f, base::Time now, const PathRules& rules) {
  JobFile out;
  auto& job = out.job;
  job = {.name = std::move(f.name), .kind = std::move(f.kind)};
  SOUK_TRY(convert_classes(f, job));
  if (f.resources) {
    const auto& r = *f.resources;
    job.resources.emplace();
    SOUK_ASSIGN(job.resources->cores, count_of(r.cores, 1, "resources.cores"));
    SOUK_ASSIGN(job.resources->memory_mib, memory_of(r.memory, "resources.memory"));
    SOUK_ASSIGN(job.resources->gpus, count_of(r.gpus, 0, "resources.gpus"));
    SOUK_ASSIGN(job.resources->gpu_memory_mib, memory_of(r.gpu_memory, "resources.gpu_memory"));
  }
  if (f.workers) {
    auto workers = wire::parse_workers(plain(*f.workers));
    if (!workers) return std::unexpected(at(std::move(workers).error(), "workers"));
    job.workers = *workers;
  }
  if (f.deadline) {
    auto deadline = wire::parse_when(*f.deadline, now);
    if (!deadline) return std::unexpected(at(std::move(deadline).error(), "deadline"));
    job.deadline = *deadline;
  }
  job.limit = f.price.limit;
  job.budget = f.price.budget.value_or(base::Credits());
  job.priority = f.priority;
  job.constraints = std::move(f.constraints);
  for (auto& package : f.packages) job.constraints.packages.push_back(std::move(package));
  SOUK_TRY(job.kind == "train" ? convert_train(f, rules, out) : refuse_training_keys(f));
  SOUK_TRY(convert_batch(f, rules, out));
  return out;
}

}  // namespace

base::Result<JobFile> read_job_file(std::string_view text, std::string_view file, base::Time now,
                                    const PathRules& rules) {
  SOUK_ASSIGN(const auto document, wire::parse_yaml(text, file));
  const auto read = [&]() -> base::Result<JobFile> {
    SOUK_ASSIGN(auto described, wire::from_value<File>(document.value));
    return convert(std::move(described), now, rules);
  };
  auto out = read();
  if (!out) {
    auto error = wire::locate(std::move(out).error(), document, file);
    error.field.clear();  // The line says it better.
    return std::unexpected(std::move(error));
  }
  return out;
}

base::Result<JobFile> load_job_file(const std::string& path, base::Time now) {
  SOUK_ASSIGN(const auto text, wire::read_yaml_text(path));
  // Not to where somebody happens to be.
  const auto folder = std::filesystem::path(path).parent_path();
  return read_job_file(text, path, now, {.place = [&](const std::string& relative) {
                         return base::Result<std::string>((folder / relative).string());
                       }});
}

std::span<const ModelInfo> models() { return kModels; }

}  // namespace souk::job
