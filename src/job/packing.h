#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "blob/folder.h"
#include "blob/store.h"
#include "job/job_file.h"

// What a job file names, put into a store and named in the job's work: the same for `souk run` and
// for a server that prepares a job. Blocking; any thread.

namespace souk::job {

struct DataSource;
struct DataSplit;
struct Shards;

// Whoever packs a job's files: has the store, shows how far it is, and keeps what was packed.
class Packer {
 public:
  virtual ~Packer() = default;
  [[nodiscard]] virtual blob::Store& store() = 0;
  // A folder or file is about to be read.
  virtual blob::OnProgress reading(const std::string& path) = 0;
  // `done` of `total` shards are made; `what` is "training" or "validation".
  virtual void splitting(std::string_view what, std::size_t done, std::size_t total) = 0;
  // Something is in the store, for as long as its pin is kept.
  virtual void packed(std::string what, blob::Packed packed) = 0;

  // Data in shards that are in the store (job/train/training_data.h).
  [[nodiscard]] virtual base::Result<Shards> shards(const DataSource& data,
                                                    const DataSplit& split) = 0;
  // Packages that a job brings along, built and in the store. Only whoever runs `souk run` builds
  // them: building runs programs that strangers wrote.
  [[nodiscard]] virtual base::Result<wire::BatchEnvironment> environment(const EnvironmentFile&) {
    return base::fail(base::Code::conflict, "environments are not built here",
                      "use `souk run`, which builds them on your own machine", "environment");
  }
  // The folder of the Python package (sdk/python) that scripts import.
  [[nodiscard]] virtual base::Result<std::string> python_package() = 0;
};

// Packs the folder or file at `path`, and returns its name.
[[nodiscard]] base::Result<std::string> pack_path(const std::string& path, Packer& packer,
                                                  std::string ignore = {});

// Packs all that the file names: what its kind has of its own, the working folder and the inputs.
// Requires job.batch, and inputs whose sources are files or folders here, no URLs.
[[nodiscard]] base::Result<> pack_files(JobFile& file, Packer& packer);

}  // namespace souk::job
