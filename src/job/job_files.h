#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "blob/store.h"
#include "job/job_file.h"
#include "job/training_data.h"

// What a job file names, put into a store and named in the job's batch: the same for `souk run` and
// for a server that prepares a job. Blocking; any thread.

namespace souk::job {

// Requires job.train.
void add_shards(JobFile& job, const Shards& shards);

// The folder of the Python package (sdk/python) that scripts import.
using PythonPackage = std::function<base::Result<std::string>()>;
// The script of a Python trainer and what it imports; nothing for others.
[[nodiscard]] base::Result<> add_script(JobFile& job, const PythonPackage& package,
                                        blob::Store& store, Packing& packing);

// The working folder and the inputs. Requires sources that are files or folders here, no URLs.
[[nodiscard]] base::Result<> add_folders(JobFile& job, blob::Store& store, Packing& packing);

}  // namespace souk::job
