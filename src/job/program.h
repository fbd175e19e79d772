#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/file_keys.h"
#include "job/job_file.h"
#include "wire/api/batch.h"

// The program that each worker of a job runs, its files and its environment: what the work of every
// kind has in common. A kind adds to it in its own folder.

namespace souk::job {

// The keys of a job file that are about the program.
struct ProgramKeys {
  std::optional<wire::AnyJson> run;  // As it is written: `run: true` is a command.
  std::optional<wire::AnyJson> setup;
  std::optional<std::string> workdir;
  std::vector<wire::AnyJson> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, wire::AnyJson> env;  // Numbers too.
  std::optional<std::string> image;
  std::optional<wire::BatchCheckpoint> checkpoint;
  wire::Network network = wire::Network::none;
  wire::Retry retry;
  std::optional<double> replicate;  // Of a training: a share.
  std::optional<std::string> scratch;
  std::optional<wire::AnyJson> environment;
  std::vector<std::string> volumes;
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"network", "retry"};
  SOUK_FIELDS(ProgramKeys, run, setup, workdir, inputs, outputs, env, image, checkpoint, network,
              retry, replicate, scratch, environment, volumes)
};

// The program that the keys describe, in `out`. Without keys.run: the image's own.
[[nodiscard]] base::Result<> read_program(ProgramKeys keys, const PathRules& rules, JobFile& out);

// Paths that stay inside the working folder, known words, bounded lists.
[[nodiscard]] base::Result<> check_program(const wire::Batch& work);

// What it demands of machines: names of packages.h, and a Python for the packages that it brings.
[[nodiscard]] std::vector<std::string> program_demands(const wire::Batch& work);

// Of kinds whose programs have a network of their own: an image must then be known by its digest.
[[nodiscard]] base::Result<> check_own_network(const wire::Batch& work);

// The folders that it names: its working folder and its inputs.
[[nodiscard]] std::vector<std::string> program_blobs(const wire::Batch& work);

}  // namespace souk::job
