#pragma once

#include <any>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/api/job.h"
#include "wire/api/training.h"

namespace souk::job {

// One input of a job before it is on the server.
struct LocalInput {
  std::string path;    // Where the program finds it.
  std::string source;  // A folder or file here, or a URL. Empty: `blob` is on the server already.
  std::string hash;    // Of a URL's content: BLAKE2b-256 or SHA-256, in hex.
  std::string blob;
  bool by_lender = false;  // Each lender fetches the URL, and `hash` is its SHA-256.
};

// Packages that a job brings along, before they are built.
struct EnvironmentFile {
  std::string requirements;           // A file: requirements.txt, pyproject.toml or uv.lock;
  std::vector<std::string> packages;  // or what would be its lines.
  std::string python;                 // "3.12"; empty: that of whoever runs the job.
  std::vector<std::string> on;        // Packages that the lender's environment has.
  bool by_lender = false;             // Lenders fetch the packages, each for itself.
};

// A job as its file describes it. Its work, if it has one, names no files yet: those are here until
// they are packed (packing.h).
struct JobFile {
  wire::NewJob job;
  std::optional<std::string> workdir;
  std::vector<LocalInput> inputs;
  std::optional<EnvironmentFile> environment;
  std::any of_kind;  // What only its kind understands: of a training, a TrainingFile.
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
// or a time). `kind` says which other keys there are (kinds.h; docs/borrowing.md and
// docs/training.md list them). An unknown key is an error with line and nearest key. `file` is for
// messages.
base::Result<JobFile> read_job_file(std::string_view text, std::string_view file, base::Time now,
                                    const PathRules& rules = {});
// Paths in it are relative to its folder.
base::Result<JobFile> load_job_file(const std::string& path, base::Time now);

}  // namespace souk::job
