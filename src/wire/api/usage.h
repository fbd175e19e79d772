#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "wire/schema.h"

// What the programs of a job used.

namespace souk::wire {

using base::Time;

// What a lease's program has used since it began, and uses now.
struct Usage {
  double cpu_seconds = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_peak_bytes = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t received_bytes = 0;    // Files fetched for it,
  std::int64_t sent_bytes = 0;        // and sent back.
  std::optional<double> gpu_seconds;  // Of a whole GPU; for two that compute, two a second.
  std::optional<std::int64_t> gpu_memory_bytes;
  SOUK_FIELDS(Usage, cpu_seconds, memory_bytes, memory_peak_bytes, scratch_bytes, received_bytes,
              sent_bytes, gpu_seconds, gpu_memory_bytes)
};

struct UsageSample {
  Time at;
  Usage usage;
  SOUK_FIELDS(UsageSample, at, usage)
};

// The series of one lease, oldest first.
struct LeaseUsage {
  base::LeaseId lease;
  std::optional<std::int32_t> part;
  std::vector<UsageSample> samples;
  SOUK_FIELDS(LeaseUsage, lease, part, samples)
};

struct JobUsage {
  std::vector<LeaseUsage> items;
  SOUK_FIELDS(JobUsage, items)
};

SOUK_JSON_ELSEWHERE(Usage);
SOUK_JSON_ELSEWHERE(JobUsage);

}  // namespace souk::wire
