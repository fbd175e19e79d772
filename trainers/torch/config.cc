#include "config.h"

#include <fstream>

#include "fields.h"

namespace souk::trainer {
namespace {

using Json = nlohmann::json;

constexpr double kMostAmount = 1e30;  // Its square still fits.

Shape parse_input(const Json& json) {
  Shape shape;
  if (json.is_array())
    for (const Json& n : json) shape.push_back(n.is_number_unsigned() ? n.get<std::int64_t>() : 0);
  bool sound = !shape.empty() && shape.size() <= 3;
  for (const std::int64_t n : shape) sound = sound && n >= 1 && n <= 65536;
  if (!sound) throw Error("input is " + json.dump() + "; it must be a shape such as [1,28,28]");
  return shape;
}

void read_channels(const Json& object, const char* name, std::vector<double>& values) {
  const auto field = object.find(name);
  if (field == object.end()) return;
  bool sound = field->is_array() && !field->empty();
  for (const Json& n : *field) sound = sound && n.is_number();
  if (!sound) throw Error(std::string(name) + " must be a list of numbers, one a channel");
  values = field->get<std::vector<double>>();
}

std::vector<std::string> parse_labels(const Json& json) {
  bool sound = json.is_array();
  for (const Json& name : json) sound = sound && name.is_string();
  if (!sound) throw Error("labels must be a list of names, one a class");
  return json.get<std::vector<std::string>>();
}

void read_task(const Json& all, Config& config) {
  std::string task = "classification";
  read_field(all, "task", task);
  if (task != "classification" && task != "regression")
    throw Error("task is '" + task + "'; it must be classification or regression");
  config.regression = task == "regression";
  if (!config.regression) return;
  read_field(all, "target_mean", config.target_mean, -kMostAmount, kMostAmount);
  read_field(all, "target_std", config.target_std, 1 / kMostAmount, kMostAmount);
  config.classes = 1;
}

void read_optimizer(const Json& all, Config& config) {
  std::string name = "sgd";
  read_field(all, "optimizer", name);
  if (name != "sgd" && name != "adam")
    throw Error("optimizer is '" + name + "'; it must be sgd or adam");
  config.optimizer = name == "adam" ? Optimizer::adam : Optimizer::sgd;
  read_field(all, "momentum", config.momentum, 0.0, name == "adam" ? 0.9999 : 1.0);
  read_field(all, "weight_decay", config.weight_decay, 0.0, 1e6);
}

}  // namespace

Config parse_config(const Json& json) {
  if (!json.is_object()) throw Error("config is missing or not an object");
  Json all = json;
  // A job's options may come beside the other fields or in an object of their own.
  if (const auto options = json.find("options"); options != json.end() && options->is_object())
    all.update(*options);

  Config config;
  config.model = require_string(all, "model");
  if (all.contains("input")) config.input = parse_input(all["input"]);
  read_field<std::int64_t>(all, "classes", config.classes, 2, 1'000'000);
  read_field<std::int64_t>(all, "threads", config.threads, 1, 1024);
  read_field(all, "lr", config.lr, 0.0, 1e6);
  read_optimizer(all, config);
  read_field(all, "augment", config.augment);
  read_channels(all, "mean", config.mean);
  read_channels(all, "std", config.std);
  for (const double n : config.std)
    if (!(n > 0)) throw Error("std must be above 0 for every channel");
  if (all.contains("labels")) config.labels = parse_labels(all["labels"]);
  read_task(all, config);
  read_field<std::int64_t>(all, "hidden", config.hidden, 1, 1'000'000);
  read_field<std::int64_t>(all, "depth", config.depth, 8, 1202);
  read_field<std::int64_t>(all, "layers", config.layers, 1, 256);
  read_field<std::int64_t>(all, "width", config.width, 1, 65536);
  read_field<std::int64_t>(all, "heads", config.heads, 1, 1024);
  read_field<std::int64_t>(all, "context", config.context, 1, 65536);
  return config;
}

Config read_config(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path + ": cannot be opened");
  const Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) throw Error(path + ": not valid JSON");
  return parse_config(json);
}

}  // namespace souk::trainer
