#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "blob/store.h"
#include "cli/context.h"
#include "cli/job_file.h"

namespace souk::cli {

// The chunks this user has packed or fetched before: $XDG_CACHE_HOME/souk/blobs. What is in it
// need not be read or sent again.
Result<std::unique_ptr<blob::Store>> user_store(const Context& c);

// How many bytes of files a job brings along; found without reading them.
Result<std::uint64_t> bytes_to_bring(const JobFile& file);

// Packs and sends what the server lacks, with progress, and writes the names into the job's batch.
Result<> upload_files(Context& c, JobFile& job);

}  // namespace souk::cli
