#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "blob/folder.h"
#include "job/job_file.h"
#include "train/dataset.h"

// From the data that a job file names to shards in a store: the same for `souk run`, which then
// sends them, and for a server that prepares a job. Blocking; any thread.

namespace souk::job {

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

// A shard's file: safetensors with x and, but for text, y.
[[nodiscard]] std::string shard_file(const train::Dataset& shard);

// How data is cut.
struct Cut {
  std::int32_t shards = 4;
  std::int32_t validation = 1;
  std::int64_t seed = 1;
  std::int64_t context = 64;  // Of text, which is read in windows of so many bytes.

  auto operator<=>(const Cut&) const = default;
};
// As the file says, or so that each worker has some shards of its own, each big enough to be worth
// a transfer. Requires job.train.
[[nodiscard]] base::Result<Cut> cut_of(const JobFile& job);

// Data in shards that are in a store, and what the trainer must know of it.
struct Shards {
  std::vector<wire::TrainShard> training, validation;
  std::map<std::string, std::string> config;
};

// Hears of what is packed: to show how far it is, and to keep it.
class Packing {
 public:
  virtual ~Packing() = default;
  // A folder or file is about to be read.
  virtual blob::OnProgress reading(const std::string& path) = 0;
  // `done` of `total` shards are cut; `what` is "training" or "validation".
  virtual void cut(std::string_view what, std::size_t done, std::size_t total) = 0;
  // Something is in the store, for as long as its pin is kept.
  virtual void packed(std::string what, blob::Packed packed) = 0;
};

[[nodiscard]] base::Result<Shards> cut_data(const LoadedData& data, const Cut& cut,
                                            blob::Store& store, Packing& packing);

}  // namespace souk::job
