#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/kinds.h"
#include "wire/api/batch.h"
#include "wire/api/job.h"

// The work of a training: a program that is a trainer (docs/worker-protocol.md), and what the hub
// must know to lead it.

namespace souk::job {

// Known aggregators, codecs and validators; numbers in their range; some data.
[[nodiscard]] base::Result<> check_training(const wire::NewJob& job);
[[nodiscard]] Intent describe_training(const JobFile& file);
[[nodiscard]] std::vector<std::string_view> training_demands(const wire::Batch& work);
[[nodiscard]] std::vector<std::string> training_blobs(const wire::Batch& work);

// Is its trainer the one that comes with souk (trainers/torch)? Its models can be used by `souk
// predict`; the program of another is among its files.
[[nodiscard]] bool has_native_trainer(const wire::Batch& work);

}  // namespace souk::job
