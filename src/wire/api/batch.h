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
#include "wire/api/sweep.h"
#include "wire/api/training.h"
#include "wire/schema.h"

// What the workers of a batch job do.
//
// Files are named by the digest of a manifest (blob/manifest.h): upload first, then submit.

namespace souk::wire {

using base::Duration;

struct BatchInput {
  std::string path;  // Where the program finds it, below its working folder; read-only.
  std::string blob;
  bool file = false;  // It is one file: `path` is its name, not that of a folder.
  // Instead of a blob: where each lender fetches the file for itself, and what it must be.
  std::string url;
  std::string sha256;
  static constexpr auto optional_fields =
      std::array<std::string_view, 4>{"blob", "file", "url", "sha256"};
  SOUK_FIELDS(BatchInput, path, blob, file, url, sha256)
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

// A package of Python as its index publishes it.
struct Wheel {
  std::string url;  // https://
  std::string sha256;
  std::optional<std::int64_t> size;  // In bytes, where the index says so.
  SOUK_FIELDS(Wheel, url, sha256, size)
};

// Packages that a job brings along: a folder of Python's, built by the borrower (souk run), or a
// list of wheels that each lender fetches and unpacks for itself; read-only and first among the
// packages that its programs see.
struct BatchEnvironment {
  std::string blob;             // Of the folder; or
  std::string python;           // "3.11": the machine must have a Python like it.
  std::string lock;             // The hash of the list of packages that it was built from.
  std::int32_t count = 0;       // Of packages.
  std::string arch = "x86_64";  // Of the machines that it runs on.
  std::vector<Wheel> wheels;    // what there is instead of it.
  static constexpr auto optional_fields =
      std::array<std::string_view, 5>{"blob", "lock", "count", "arch", "wheels"};
  SOUK_FIELDS(BatchEnvironment, blob, python, lock, count, arch, wheels)
};

// The workers of a gang run together, in a network of their own.
struct BatchGang {
  bool led = false;  // The others end when worker 0 has; else all run to their ends.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"led"};
  SOUK_FIELDS(BatchGang, led)
};

// Who may send requests to a service: its owner, or every member of the market.
SOUK_ENUM(Callers, owner, members)

// A program behind a port, which the market passes requests to: /v1/services/NAME/...
struct BatchService {
  std::string name;
  std::int32_t port = 0;  // Where the program listens.
  std::string health;     // A path that answers 2xx when it is ready; empty: it takes connections.
  std::int32_t at_once = 8;             // Requests that one worker gets at a time.
  Duration timeout = base::minutes(2);  // Of one request.
  Callers callers = Callers::owner;
  std::string model;  // Of a language model: its name; then it answers /v1/chat/completions, too.
  static constexpr auto optional_fields =
      std::array<std::string_view, 5>{"health", "at_once", "timeout", "callers", "model"};
  SOUK_FIELDS(BatchService, name, port, health, at_once, timeout, callers, model)
};

// A terminal, or a program behind a port, for the job's owner.
struct BatchSession {
  Duration idle = base::minutes(30);  // After so long without a byte it ends.
  std::int32_t port = 0;              // Where the program listens; 0: a terminal.
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"idle", "port"};
  SOUK_FIELDS(BatchSession, idle, port)
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
  std::optional<Sweep> sweep;  // This is the work of a trial; the sweep says what differs in each.
  std::optional<BatchGang> gang;
  std::optional<BatchService> service;
  std::optional<BatchSession> session;
  // Folders below the working folder that outlive the job, by their names.
  std::vector<std::string> volumes;
  static constexpr auto optional_fields = std::array<std::string_view, 7>{
      "setup", "outputs", "env", "inputs", "network", "retry", "volumes"};
  SOUK_FIELDS(Batch, run, setup, workdir, inputs, outputs, env, image, checkpoint, network, retry,
              train, replicate, scratch_mib, environment, sweep, gang, service, session, volumes)
};

// A worker's place in its gang.
struct GangPlace {
  std::int32_t world = 1;  // Workers that it has now, this one included.
  std::int32_t restarts = 0;
  SOUK_FIELDS(GangPlace, world, restarts)
};

// A volume, and what is in it; no blob: nothing yet.
struct VolumeContent {
  std::string name;
  std::optional<std::string> blob;
  SOUK_FIELDS(VolumeContent, name, blob)
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
  std::optional<GangPlace> gang;
  std::vector<VolumeContent> volumes;
  SOUK_FIELDS(BatchAssignment, job_name, kind, index, workers, tries, checkpoint, batch, cores,
              memory_mib, gpus, packages, gang, volumes)
};

SOUK_JSON_ELSEWHERE(Batch);
SOUK_JSON_ELSEWHERE(BatchAssignment);

}  // namespace souk::wire
