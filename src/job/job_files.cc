#include "job/job_files.h"

#include <filesystem>

#include "base/file.h"

namespace souk::job {
namespace {

using base::Result;

Result<std::string> pack(const std::string& path, blob::Store& store, Packing& packing,
                         std::string ignore = {}) {
  SOUK_ASSIGN(
      auto packed,
      blob::pack(path, store, {.ignore = std::move(ignore), .on_progress = packing.reading(path)}));
  auto name = to_string(packed.root);
  packing.packed(path, std::move(packed));
  return name;
}

}  // namespace

void add_shards(JobFile& job, const Shards& shards) {
  auto& train = job.train->train;
  // What the file says goes before what the data suggests.
  for (const auto& [key, value] : shards.config) train.config.try_emplace(key, value);
  train.shards = shards.training;
  train.validation = shards.validation;
  job.job.batch->train = train;
}

Result<> add_script(JobFile& job, const PythonPackage& package, blob::Store& store,
                    Packing& packing) {
  if (!job.train || job.train->script.empty()) return {};
  const auto& path = job.train->script;
  auto& batch = *job.job.batch;
  SOUK_ASSIGN(const auto folder, package());
  SOUK_ASSIGN(auto python, pack(folder, store, packing, "__pycache__\n"));
  batch.inputs.push_back({".souk/python", std::move(python), false});
  SOUK_ASSIGN(auto text, base::read_file(path, "script: names a Python file"));
  SOUK_ASSIGN(auto script, blob::pack_files({{"trainer.py", std::move(text)}}, store));
  batch.inputs.push_back({"trainer.py", to_string(script.root), true});
  packing.packed(path, std::move(script));
  batch.env.try_emplace("PYTHONPATH", "/work/.souk/python");
  batch.env.try_emplace("PYTHONDONTWRITEBYTECODE", "1");
  return {};
}

Result<> add_folders(JobFile& job, blob::Store& store, Packing& packing) {
  auto& batch = *job.job.batch;
  if (job.workdir) {
    SOUK_ASSIGN(batch.workdir, pack(*job.workdir, store, packing));
  }
  for (const auto& input : job.inputs) {
    if (!input.blob.empty()) {
      batch.inputs.push_back({input.path, input.blob, false});
      continue;
    }
    const bool file = std::filesystem::is_regular_file(input.source);
    SOUK_ASSIGN(auto name, pack(input.source, store, packing));
    batch.inputs.push_back({input.path, std::move(name), file});
  }
  return {};
}

}  // namespace souk::job
