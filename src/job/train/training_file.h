#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"
#include "job/job_file.h"
#include "job/train/training_data.h"

// kind: train, as its file describes it. docs/training.md lists the keys.

namespace souk::job {

inline constexpr std::string_view kTrainingExample = R"(kind: train
model: lenet
data: mnist
epochs: 5
workers: 1..4
price: {budget: 1}
)";

// The key `trainer`. transformers: a language model of Hugging Face's libraries, by a script of the
// SDK's.
SOUK_ENUM(TrainerKey, torch, python, transformers)

// A training before its data is split and on the server.
struct TrainingFile {
  wire::Train train;
  DataSource data;
  std::int32_t shards = 0;             // 0: chosen.
  std::int32_t validation_shards = 0;  // 0: chosen.
  std::string script;                  // Of a Python trainer.
  // trainer: transformers, which needs no script; and the folder of its model, if it has one.
  bool transformers = false;
  std::string model_folder;
};

[[nodiscard]] std::span<const std::string_view> training_keys();
[[nodiscard]] base::Result<> read_training(const boost::json::object& file, const PathRules& rules,
                                           JobFile& out);

// What the file says of its training. Null: it was read as another kind, or not at all.
[[nodiscard]] TrainingFile* training_of(JobFile& file);
[[nodiscard]] const TrainingFile* training_of(const JobFile& file);

// Where a worker of trainer: transformers finds its model; and what of it is no weights, which is
// all that the results need (sdk/python/src/souk/transformers).
inline constexpr std::string_view kModelInput = "model";
inline constexpr std::string_view kModelFilesInput = ".souk/model-files";
// Was the work made of such a file?
[[nodiscard]] bool has_transformers_trainer(const wire::Batch& work);

// The models of the native trainer (trainers/torch/models.cc).
struct ModelInfo {
  std::string_view name, what;
};
[[nodiscard]] std::span<const ModelInfo> models();

}  // namespace souk::job
