#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/job_file.h"
#include "wire/api/batch.h"
#include "wire/json.h"

// environment: in a job file: packages of Python that a job brings along instead of demanding them.
// `souk run` builds them (cli/commands/environment.h); here is what the file says of them and what
// they demand of machines.

namespace souk::job {

// "requirements.txt", or {requirements: FILE or [PACKAGE, ...], python: "3.12", on: torch,
// build: lender}.
[[nodiscard]] base::Result<EnvironmentFile> read_environment(const wire::AnyJson& json,
                                                             const PathRules& rules);

// "3.11" and its like, a blob or wheels, and no image beside it.
[[nodiscard]] base::Result<> check_environment(const wire::Batch& work);

// What it demands of machines, as packages.
[[nodiscard]] std::vector<std::string> environment_demands(const wire::BatchEnvironment& e);

}  // namespace souk::job
