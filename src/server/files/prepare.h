#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "job/train/training_data.h"
#include "server/files/blob_claims.h"
#include "server/files/pinned_folders.h"
#include "wire/api/account.h"
#include "wire/api/prepare.h"
#include "wire/api/slot_class.h"

namespace souk::server {

struct PrepareOptions {
  job::FetchData built_in_data = {};  // Absent: there is none.
  // The folder of the Python package (sdk/python).
  std::function<base::Result<std::string>()> python_package = {};  // Absent: no scripts.
  std::uint64_t keep_bytes = 1 << 30;  // Of what was prepared and is not submitted yet.
};

// Makes jobs of job files for those who have no `souk`: browsers. The paths of a file lead into a
// folder that was uploaded before, never to the disk of this machine: that folder is written into a
// scratch folder of its own, which goes with the call. Built-in data is split once for each way to
// split it, whoever asks. Blocking, for seconds, or minutes where data is fetched first; any
// thread. Must not outlive the store.
class Prepare {
 public:
  // Of uploaded folders. Larger ones are for `souk run`, which does the work where they are.
  static constexpr std::uint64_t kMostBytes = 1 << 30;
  static constexpr std::size_t kMostFiles = 10'000;
  // Of data files, which are in memory while they are split; numbers as text take many times as
  // much.
  static constexpr std::uint64_t kMostDataBytes = 256 << 20, kMostCsvBytes = 64 << 20;

  // Removes what is in the folder `scratch`.
  Prepare(blob::Store& store, BlobClaims& claims, std::string scratch, const base::Clock& clock,
          PrepareOptions options);

  // Who asks, and what the market has: for what the file does not say of its price.
  struct Asker {
    wire::Account account;
    std::vector<wire::SlotClass> classes;
  };
  // The job, whose files are in the store, are the asker's (blob_claims.h) and stay there for some
  // hours. Mistakes in the file are
  // errors that begin with their line: "job.yaml:3: ...".
  [[nodiscard]] base::Result<wire::PreparedJob> job(const wire::JobDraft& draft,
                                                    const Asker& asker);

 private:
  class Folder;
  class Packer;
  using SplitSet = std::pair<std::string, job::DataSplit>;  // A built-in set, and how it is split.

  base::Result<job::Shards> shards_of(const job::DataSource& data, const job::DataSplit& split,
                                      Packer& packer);
  base::Result<job::Shards> built_in_shards(const std::string& name, const job::DataSplit& split,
                                            Packer& packer);
  bool keep(const job::Shards& shards, Packer& packer);

  blob::Store& store_;
  BlobClaims& claims_;
  const std::string scratch_;
  const base::Clock& clock_;
  const PrepareOptions options_;
  PinnedFolders kept_;
  std::atomic<std::uint64_t> calls_ = 0;
  // One at a time: data takes memory, and a set is fetched once.
  std::mutex splitting_;
  std::map<SplitSet, job::Shards> built_in_;
};

}  // namespace souk::server
