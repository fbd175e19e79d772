#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/proof/gpu_challenge.h"
#include "wire/api/heartbeat.h"

namespace souk::server {

// How much is asked of a GPU, in proportion to the memory that it claims: GPUs with more memory are
// faster. Tests ask for less.
struct GpuScale {
  std::int32_t size = 2048;
  std::int32_t steps_of_gib = 4, least_steps = 8, most_steps = 512;
  std::int64_t reads_of_gib = 4096, most_reads = 64 * 4096;  // Of each group.
};

// What to ask the GPUs of one machine, and what is right. All GPUs are asked; of a few, which were
// drawn before, the right answers are known. A plain value: made and asked on the core thread,
// computed on any.
struct GpuPlan {
  static constexpr std::size_t kMostKnown = 8;
  static constexpr std::size_t kRows = 24;  // That are looked at, of all known GPUs together.

  struct Known {
    std::int32_t gpu = 0;
    base::GpuProduct product;
    std::vector<std::uint32_t> r, folded;  // Nobody else sees them.
    std::vector<std::int32_t> rows;        // To be shown; of each GPU as many.
    std::uint64_t pattern = 0, reads = 0;
    std::int32_t group = 0;
    std::uint64_t sum = 0;
  };
  std::int32_t gpus = 0;  // 0: none are asked.
  std::int32_t size = 0, steps = 0;
  std::int64_t memory_mib = 0;  // To be filled on each; 0: not known, so nothing is.
  std::int64_t reads = 0;
  std::vector<Known> known;

  [[nodiscard]] bool asks_like(const GpuPlan& other) const {
    return gpus == other.gpus && steps == other.steps && memory_mib == other.memory_mib;
  }
};

using Draw = std::function<std::uint64_t()>;

// `steps`: at least so many. Without `draw` it only says how much would be asked.
[[nodiscard]] GpuPlan plan_gpus(std::int32_t gpus, std::int64_t gpu_memory_mib, std::int32_t steps,
                                const GpuScale& scale, const Draw& draw);
// Fills in what is right. Takes a second or a few.
void compute_gpus(GpuPlan& plan);

enum class GpuStage { open, one, all, rows, fill, read };

// Without its id.
[[nodiscard]] wire::Challenge gpu_question(const GpuPlan& plan, GpuStage stage, const Draw& draw);

// Is it right? `committed`: the answer to the question of all products. Costs little, also where it
// is wrong.
[[nodiscard]] bool gpu_answer_is_right(const GpuPlan& plan, GpuStage stage,
                                       const std::vector<std::string>& results,
                                       const std::vector<std::string>& committed);

}  // namespace souk::server
