#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/time.h"
#include "wire/api/training.h"

// What the workers of a batch job do.
//
// Files are named by the digest of a manifest (blob/manifest.h): upload first, then submit.

namespace souk::wire {

using base::Duration;

struct BatchInput {
  std::string path;  // Where the program finds it, below its working folder; read-only.
  std::string blob;
  bool file = false;  // It is one file: `path` is its name, not that of a folder.
  SOUK_FIELDS(BatchInput, path, blob, file)
};

struct BatchCheckpoint {
  std::string path;  // A folder below the working folder, kept every so often and on drain.
  Duration every = base::minutes(2);
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"every"};
  SOUK_FIELDS(BatchCheckpoint, path, every)
};

// lost: its machine fell silent. failed: the program did.
SOUK_ENUM(RetryOn, lost, failed)

struct Retry {
  std::vector<RetryOn> on = {RetryOn::lost};
  std::int32_t max = 10;  // For each worker.
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"on", "max"};
  SOUK_FIELDS(Retry, on, max)
};

SOUK_ENUM(Network, none, internet)

// Packages that a job brings along: a folder of Python's, built by the borrower (souk run),
// read-only and first among the packages that its programs see.
struct BatchEnvironment {
  std::string blob;
  std::string python;           // "3.11": the machine must have a Python like it.
  std::string lock;             // The hash of the list of packages that it was built from.
  std::int32_t count = 0;       // Of packages.
  std::string arch = "x86_64";  // Of the machines that it runs on.
  static constexpr auto optional_fields = std::array<std::string_view, 3>{"lock", "count", "arch"};
  SOUK_FIELDS(BatchEnvironment, blob, python, lock, count, arch)
};

// One program, run once by each worker; SOUK_INDEX and SOUK_WORKERS tell them apart.
struct Batch {
  std::string run;                     // For sh -c, in the working folder.
  std::string setup;                   // Before it, and billed like it.
  std::optional<std::string> workdir;  // What the working folder begins with.
  std::vector<BatchInput> inputs;
  std::vector<std::string> outputs;  // Files and folders to keep when it has ended.
  std::map<std::string, std::string> env;
  std::optional<std::string> image;  // Of a container; else the machine's own programs.
  std::optional<BatchCheckpoint> checkpoint;
  Network network = Network::none;
  Retry retry;
  std::optional<Train> train;  // `run` is then a trainer (docs/worker-protocol.md).
  // 2: each worker's part is done by two owners, whose outputs must be the same; a third decides.
  std::optional<std::int32_t> replicate;
  // The least room for files in the working folder. More than a machine has in memory for it lies
  // on its disk.
  std::optional<std::int64_t> scratch_mib;
  std::optional<BatchEnvironment> environment;
  static constexpr auto optional_fields =
      std::array<std::string_view, 6>{"setup", "outputs", "env", "inputs", "network", "retry"};
  SOUK_FIELDS(Batch, run, setup, workdir, inputs, outputs, env, image, checkpoint, network, retry,
              train, replicate, scratch_mib, environment)
};

// One worker's share of a batch job, as its machine gets it.
struct BatchAssignment {
  std::string job_name;
  std::string kind = "batch";  // Of the job: what the agent does beside running the program.
  std::int32_t index = 0;
  std::int32_t workers = 1;
  std::int32_t tries = 0;                 // Before this one.
  std::optional<std::string> checkpoint;  // To go on from.
  Batch batch;
  std::int32_t cores = 1;  // What the slot guarantees and the program may use.
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::vector<std::string> packages;  // That the job demands: the agent chooses what has them.
  SOUK_FIELDS(BatchAssignment, job_name, kind, index, workers, tries, checkpoint, batch, cores,
              memory_mib, gpus, packages)
};

}  // namespace souk::wire
