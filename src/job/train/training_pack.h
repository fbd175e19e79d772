#pragma once

#include "base/result.h"
#include "job/packing.h"
#include "job/train/training_data.h"

// The data and the script of a training, put into a store and named in its work.

namespace souk::job {

// As the file says, or so that each worker has some shards of its own, each big enough to be worth
// a transfer. Requires training_of(file).
[[nodiscard]] base::Result<DataSplit> split_of(const JobFile& file);

// The shards of its data; of a Python trainer also the script and what that imports. A file that
// was not read as a training has none of these.
[[nodiscard]] base::Result<> pack_training(JobFile& file, Packer& packer);

}  // namespace souk::job
