#include "job/train/training_pack.h"

#include <fmt/format.h>

#include <algorithm>

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

Result<> add_script(const std::string& path, wire::Batch& work, Packer& packer) {
  SOUK_ASSIGN(const auto folder, packer.python_package());
  SOUK_ASSIGN(auto python, pack_path(folder, packer, "__pycache__\n"));
  work.inputs.push_back({".souk/python", std::move(python), false});
  SOUK_ASSIGN(auto text, base::read_file(path, "script: names a Python file"));
  SOUK_ASSIGN(auto script, blob::pack_files({{"trainer.py", std::move(text)}}, packer.store()));
  work.inputs.push_back({"trainer.py", to_string(script.root), true});
  packer.packed(path, std::move(script));
  work.env.try_emplace("PYTHONPATH", "/work/.souk/python");
  work.env.try_emplace("PYTHONDONTWRITEBYTECODE", "1");
  return {};
}

}  // namespace

Result<DataSplit> split_of(const JobFile& file) {
  const auto& training = *training_of(file);
  DataSplit out{.shards = training.shards > 0 ? training.shards
                                              : static_cast<std::int32_t>(std::clamp<std::int64_t>(
                                                    4 * std::int64_t{file.job.workers.max}, 4, 64)),
                .validation = training.validation_shards,
                .seed = training.train.seed};
  if (out.validation < 0 || std::int64_t{out.shards} + out.validation > kMostShards)
    return fail(Code::invalid,
                fmt::format("{} shards, and {} for validation", out.shards, out.validation),
                fmt::format("use {} at most in all", kMostShards), "shards");
  if (const auto it = training.train.config.find("context"); it != training.train.config.end())
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
  return training->script.empty() ? Result<>()
                                  : add_script(training->script, *file.job.batch, packer);
}

}  // namespace souk::job
