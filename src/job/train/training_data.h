#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "blob/folder.h"
#include "job/packing.h"
#include "train/dataset.h"
#include "train/table.h"
#include "wire/api/training.h"

// From the data that a job file names to shards in a store: the same for `souk run`, which then
// sends them, and for a server that prepares a job. Blocking; any thread.

namespace souk::job {

// Data as a job file names it: a built-in set, or files of a known format.
struct DataSource {
  std::string built_in;            // mnist, fashion-mnist; empty: the files below.
  std::string format;              // formats/format.h
  std::vector<std::string> train;  // idx: images, labels.
  std::vector<std::string> test;   // Empty: a tenth of the training data.
  // Of tables: the column of classes, or that of amounts, and what the others are.
  std::string label, target;
  std::map<std::string, train::ColumnKind> columns = {};
  std::string text;  // jsonl: the field of text.
};

struct BuiltInData {
  std::string_view name, what, package, version;  // Of npm.
  // Files that must be there, and their BLAKE2b-256.
  struct File {
    std::string_view path, digest;
  };
  std::vector<File> files;
};
[[nodiscard]] std::span<const BuiltInData> built_in_data();
// not_found, with the names there are.
[[nodiscard]] base::Result<const BuiltInData*> find_built_in(std::string_view name);

// The folder with the files of a built-in set, which is fetched if need be.
using FetchData = std::function<base::Result<std::string>(const BuiltInData& data)>;

struct LoadedData {
  train::Dataset train, test;
};
// Reads a built-in set where `fetch` has it, or the files that `source` names; without test data,
// a tenth is held out. There is at least one sample of each.
[[nodiscard]] base::Result<LoadedData> load_data(const DataSource& source, const FetchData& fetch);

// A shard's file: safetensors with x and, but for text, y: labels (I64) or amounts (F32).
[[nodiscard]] std::string shard_file(const train::Dataset& shard);

inline constexpr std::int32_t kMostShards = 512;  // Of a training, validation included.

// Into how many shards data is split, and how.
struct DataSplit {
  std::int32_t shards = 4;
  std::int32_t validation = 1;
  std::int64_t validation_samples = 0;  // Fewer shards where each would have fewer samples.
  std::int64_t seed = 1;
  std::int64_t context = 64;  // Of text, which is read in windows of so many bytes.

  auto operator<=>(const DataSplit&) const = default;
};

// Data in shards that are in a store, and what the trainer must know of it.
struct Shards {
  std::vector<wire::TrainShard> training, validation;
  std::map<std::string, std::string> config;
};

// Makes the shards in the packer's store.
[[nodiscard]] base::Result<Shards> split_data(const LoadedData& data, const DataSplit& split,
                                              Packer& packer);

}  // namespace souk::job
