#pragma once

#include <string_view>

#include "base/result.h"
#include "market/state.h"
#include "wire/api/batch.h"
#include "wire/api/training.h"

// What the server knows of batch work. The market keeps it as text it does not read.

namespace souk::job {

// What a machine offers beside its programs, spelled like packages so that matching, `why` and the
// cheapest relaxation treat it like any other demand.
inline constexpr std::string_view kInternet = "@internet";
inline constexpr std::string_view kContainers = "@containers";
inline constexpr std::string_view kTorch = "@torch";  // The native trainer.
inline constexpr std::string_view kUnsandboxed = "@no-sandbox";

inline constexpr std::int32_t kMostShards = 512;  // Of a training, validation included.

// Paths that stay inside the working folder, known words, bounded lists.
[[nodiscard]] base::Result<> check_batch(const wire::Batch& batch);

// Known rules, codecs and validators; numbers in their range.
[[nodiscard]] base::Result<> check_train(const wire::Train& train, std::int32_t workers);

// The task of a lease, or nothing when its job has no work of this kind.
[[nodiscard]] std::optional<wire::BatchAssignment> task_of(const market::State& s,
                                                           const market::Lease& l);

}  // namespace souk::job
