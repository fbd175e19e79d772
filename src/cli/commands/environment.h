#pragma once

#include <cstdint>
#include <string>

#include "cli/shell/context.h"
#include "job/job_file.h"
#include "wire/api/batch.h"

// The packages that a job brings along, resolved and built on the borrower's machine with uv. Kept
// in cache_folder()/environments by the hash of the lock, so that the next job with the same
// packages builds and sends nothing.

namespace souk::cli {

struct BuiltEnvironment {
  // What is sent: packages, and bin/ with their programs. Empty: lenders build it, from
  // work.wheels.
  std::string folder;
  std::string packed;           // A file with the name of the folder once it was packed.
  wire::BatchEnvironment work;  // All but its blob.
  bool kept = false;            // It was there already.
};

// Resolves the requirements into a lock with hashes and installs that, if it is not there yet.
// Says what it does that takes time, and if it has to fetch uv first. Killed at any moment, it
// leaves nothing that would pass for a whole environment.
Result<BuiltEnvironment> build_environment(Context& c, const job::EnvironmentFile& file);

// The rest is for tests.

// The wheels in a pylock.toml (PEP 751) as uv writes it for one kind of machine: the first of each
// package. Fails for a package that has none.
[[nodiscard]] Result<std::vector<wire::Wheel>> wheels_in(std::string_view pylock);
// Names of the packages in a lock ("name==version" at the beginning of a line), normalised.
[[nodiscard]] std::vector<std::string> names_in_lock(std::string_view lock);
// Without the packages that `names` lists.
[[nodiscard]] std::string lock_without(std::string_view lock,
                                       const std::vector<std::string>& names);
// "#!/somewhere/python3.11 -E" as "#!/usr/bin/env python3"; other texts as they are.
[[nodiscard]] std::string with_any_python(std::string script);

}  // namespace souk::cli
