#include "job/train/training_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "job/train/training_file.h"
#include "wire/json.h"

namespace souk::job {

using base::Code;
using base::fail;
using base::Result;

namespace {

// What the file says goes before what the data suggests.
void add_shards(TrainingFile& training, Shards shards, wire::Batch& work) {
  auto& train = training.train;
  for (const auto& [key, value] : shards.config) train.config.try_emplace(key, value);
  train.shards = std::move(shards.training);
  train.validation = std::move(shards.validation);
  work.train = train;
}

// The model of trainer: transformers: all of it for workers, and apart from that what is no
// weights.
constexpr std::string_view kWeights =
    "*.safetensors\n*.bin\n*.pt\n*.pth\n*.gguf\n*.onnx\n*.h5\n*.msgpack\n*.ot\n";

Result<> add_model(const std::string& folder, wire::Batch& work, Packer& packer) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder + "/config.json", ignored))
    return fail(Code::invalid, fmt::format("{} has no config.json", folder),
                "a model is a folder as Hugging Face's libraries write it, or new-gpt", "model");
  SOUK_ASSIGN(auto all, pack_path(folder, packer));
  work.inputs.push_back({std::string(kModelInput), std::move(all), false});
  SOUK_ASSIGN(auto files, pack_path(folder, packer, std::string(kWeights)));
  work.inputs.push_back({std::string(kModelFilesInput), std::move(files), false});
  return {};
}

constexpr std::string_view kTransformersScript =
    "import souk.transformers\n\nsouk.transformers.worker()\n";

Result<> add_script(const TrainingFile& training, wire::Batch& work, Packer& packer) {
  SOUK_ASSIGN(const auto folder, packer.python_package());
  SOUK_ASSIGN(auto python, pack_path(folder, packer, "__pycache__\n"));
  work.inputs.push_back({".souk/python", std::move(python), false});
  std::string text(kTransformersScript);
  if (!training.transformers) {
    SOUK_ASSIGN(text, base::read_file(training.script, "script: names a Python file"));
  }
  SOUK_ASSIGN(auto script, blob::pack_files({{"trainer.py", std::move(text)}}, packer.store()));
  work.inputs.push_back({"trainer.py", to_string(script.root), true});
  packer.packed(training.transformers ? "trainer.py" : training.script, std::move(script));
  work.env.try_emplace("PYTHONPATH", "/work/.souk/python");
  work.env.try_emplace("PYTHONDONTWRITEBYTECODE", "1");
  return {};
}

// Of a check that is cut as we choose: so many pieces at most, with so many samples at least.
constexpr std::int64_t kMostCheckers = 8, kCheckedTogether = 1'000;

}  // namespace

Result<DataSplit> split_of(const JobFile& file) {
  const auto& training = *training_of(file);
  const std::int64_t workers = file.job.workers.max;
  DataSplit out{.shards = training.shards > 0 ? training.shards
                                              : static_cast<std::int32_t>(
                                                    std::clamp<std::int64_t>(4 * workers, 4, 64)),
                .validation = training.validation_shards,
                .seed = training.train.seed};
  // Nobody goes on after the last check, so workers share it, where there is something to share.
  if (out.validation == 0) {
    out.validation = static_cast<std::int32_t>(std::clamp<std::int64_t>(workers, 1, kMostCheckers));
    out.validation_samples = kCheckedTogether;
  }
  if (out.validation < 0 || std::int64_t{out.shards} + out.validation > kMostShards)
    return fail(Code::invalid,
                fmt::format("{} shards, and {} for validation", out.shards, out.validation),
                fmt::format("use {} at most in all", kMostShards), "shards");
  const auto& config = training.train.config;
  auto it = config.find("sample_bytes");
  if (it == config.end()) it = config.find("context");
  if (it != config.end())
    if (const auto given = wire::from_json<std::int64_t>(it->second); given && *given > 0)
      out.context = *given;
  return out;
}

Result<> pack_training(JobFile& file, Packer& packer) {
  auto* training = training_of(file);
  if (training == nullptr) return {};
  SOUK_ASSIGN(const auto split, split_of(file));
  SOUK_ASSIGN(auto shards, packer.shards(training->data, split));
  add_shards(*training, std::move(shards), *file.job.batch);
  if (!training->model_folder.empty())
    SOUK_TRY(add_model(training->model_folder, *file.job.batch, packer));
  if (!training->transformers && training->script.empty()) return {};
  return add_script(*training, *file.job.batch, packer);
}

}  // namespace souk::job
