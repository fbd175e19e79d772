#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/api/job.h"
#include "wire/api/training.h"

namespace souk::job {

// Data as a job file names it: a built-in set, or files of a known format.
struct DataSource {
  std::string built_in;            // mnist, fashion-mnist; empty: the files below.
  std::string format;              // idx, cifar10, csv, text
  std::vector<std::string> train;  // idx: images, labels.
  std::vector<std::string> test;   // Empty: a tenth of the training data.
  std::string label;               // csv: its column.
};

// One input of a batch job before it is on the server.
struct LocalInput {
  std::string path;    // Where the program finds it.
  std::string source;  // A folder or file here, or a URL. Empty: `blob` is on the server already.
  std::string hash;    // Of a URL's content: BLAKE2b-256 or SHA-256, in hex.
  std::string blob;
};

// A training before its data is split and on the server.
struct LocalTrain {
  wire::Train train;
  DataSource data;
  std::int32_t shards = 0;  // 0: chosen.
  std::int32_t validation_shards = 1;
  std::string script;  // Of a Python trainer.
};

// A job as its file describes it. The batch, if it has one, names no files yet: those are here.
struct JobFile {
  wire::NewJob job;
  std::optional<std::string> workdir;
  std::vector<LocalInput> inputs;
  std::optional<LocalTrain> train;
};

// What becomes of the paths and URLs in a job file. An error is reported with their line.
struct PathRules {
  // Where `path` really is. Absent: at that path.
  std::function<base::Result<std::string>(const std::string& path)> place = {};
  // Is a URL accepted? Absent: yes.
  std::function<base::Result<>(const std::string& url)> allow_url = {};
};

// A job file: YAML with the keys of the API's NewJob, but with people's spellings: `workers: 1..4`,
// `memory: 8G`, `class: [c1, c4]`, `price: {limit: .., budget: ..}`, `deadline: 3h` (from `now` on,
// or a time). A job with `run` is a batch job, one of `kind: train` trains a model
// (docs/borrowing.md and docs/training.md list the keys). An unknown key is an error with line and
// nearest key. `file` is for messages.
base::Result<JobFile> read_job_file(std::string_view text, std::string_view file, base::Time now,
                                    const PathRules& rules = {});
// Paths in it are relative to its folder.
base::Result<JobFile> load_job_file(const std::string& path, base::Time now);

// The models of the native trainer (trainers/torch/models.cc).
struct ModelInfo {
  std::string_view name, what;
};
[[nodiscard]] std::span<const ModelInfo> models();

}  // namespace souk::job
