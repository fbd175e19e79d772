#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agent/gpu/board.h"
#include "agent/probe/gpus.h"
#include "base/fields.h"
#include "base/time.h"
#include "server/proof/gpu_proof.h"

// `souk doctor --gpu`: asks this machine's GPUs what a market would ask them, judges the answers as
// a market would, and says how long each took.

namespace souk::cli {

struct GpuQuestion {
  std::string what;
  double seconds = 0;
  SOUK_FIELDS(GpuQuestion, what, seconds)
};

struct GpuCheck {
  std::int32_t gpus = 0;
  std::int64_t memory_mib = 0;  // Of each.
  double prepared_in = 0;       // What a market computes before it asks, in seconds.
  std::vector<GpuQuestion> questions;
  double products_per_s = 0;  // Multiplications and additions, of the slowest, in billions.
  bool passed = false;
  std::string reason;  // Why not.
  SOUK_FIELDS(GpuCheck, gpus, memory_mib, prepared_in, questions, products_per_s, passed, reason)
};

// `memory_mib`: that each claims to have. `now`: the time since some moment.
GpuCheck check_gpus(std::int64_t memory_mib, agent::Gpus& gpus, agent::GpuBoard& board,
                    const std::function<base::Duration()>& now, const server::GpuScale& scale = {});

}  // namespace souk::cli
