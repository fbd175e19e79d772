#include "server/proof/gpu_proof.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

#include "base/random.h"

namespace souk::server {
namespace {

constexpr std::int64_t kMibOfGib = 1024;
constexpr std::int32_t kMostGpus = 32;   // Their answers fit the largest body.
constexpr std::size_t kCommitment = 64;  // Characters.

// Different numbers below `n`, in order; all of them if there are no more.
std::vector<std::int32_t> draw_some(std::size_t count, std::int32_t n, const Draw& draw) {
  std::set<std::int32_t> out;
  while (out.size() < std::min(count, static_cast<std::size_t>(n)))
    out.insert(static_cast<std::int32_t>(draw() % static_cast<std::uint64_t>(n)));
  return {out.begin(), out.end()};
}

// Three fifths, as the system and displays need some.
std::int64_t memory_to_fill(std::int64_t claimed_mib) {
  const auto mib = std::min(claimed_mib * 3 / 5, base::kMostGpuMib);
  return mib / base::kMibOfChains * base::kMibOfChains;
}

// The hashes of all rows are what was committed to, and the rows are theirs, and right.
bool rows_are_right(const GpuPlan& plan, const GpuPlan::Known& known,
                    std::span<const std::string> shown, const std::string& committed) {
  const auto size = static_cast<std::size_t>(plan.size);
  const auto hashes = base::numbers_of<std::uint64_t>(shown[0], size);
  if (hashes.empty() || base::commitment(hashes) != committed) return false;
  for (std::size_t i = 0; i < known.rows.size(); ++i) {
    const auto row = base::numbers_of<std::uint32_t>(shown[i + 1], size);
    const auto index = known.rows[i];
    if (row.empty() ||
        base::row_hash(known.product.seed, row) != hashes[static_cast<std::size_t>(index)] ||
        !base::is_row_of(known.product, index, row, known.r, known.folded))
      return false;
  }
  return true;
}

}  // namespace

GpuPlan plan_gpus(std::int32_t gpus, std::int64_t gpu_memory_mib, std::int32_t steps,
                  const GpuScale& scale, const Draw& draw) {
  GpuPlan out{.gpus = std::clamp(gpus, 0, kMostGpus)};
  if (out.gpus == 0) return out;
  const auto gib = std::clamp<std::int64_t>(gpu_memory_mib / kMibOfGib, 1, 1024);
  out.size = scale.size;
  const auto wanted = static_cast<std::int32_t>(gib) * scale.steps_of_gib;
  out.steps = std::clamp(wanted, scale.least_steps, scale.most_steps);
  out.steps = std::clamp(steps, out.steps, base::kMostGpuSteps);
  out.memory_mib = memory_to_fill(gpu_memory_mib);
  out.reads = std::min(gib * scale.reads_of_gib, scale.most_reads);
  if (!draw) return out;
  const auto places = draw_some(GpuPlan::kMostKnown, out.gpus, draw);
  const auto each = (GpuPlan::kRows + places.size() - 1) / places.size();
  for (const auto gpu : places) {
    GpuPlan::Known known{.gpu = gpu,
                         .product = {.seed = draw(), .size = out.size, .steps = out.steps}};
    base::Random secret(draw());
    for (std::int32_t i = 0; i < out.size; ++i)
      known.r.push_back(static_cast<std::uint32_t>(secret.next() >> 32));
    known.rows = draw_some(each, out.size, draw);
    known.pattern = draw();
    known.reads = draw();
    known.group = static_cast<std::int32_t>(draw() % base::kGpuGroups);
    out.known.push_back(std::move(known));
  }
  return out;
}

void compute_gpus(GpuPlan& plan) {
  for (auto& known : plan.known) {
    known.folded = base::fold_matrices(known.product, known.r);
    if (plan.memory_mib > 0)
      known.sum =
          base::gpu_group(known.pattern, plan.memory_mib, known.reads, plan.reads, known.group);
  }
}

wire::Challenge gpu_question(const GpuPlan& plan, GpuStage stage, const Draw& draw) {
  wire::Challenge out;
  const auto seeds = [&](auto seed_of) {
    for (std::int32_t i = 0; i < plan.gpus; ++i) out.seeds.push_back(std::to_string(draw()));
    for (const auto& known : plan.known)
      out.seeds[static_cast<std::size_t>(known.gpu)] = std::to_string(seed_of(known));
  };
  switch (stage) {
    case GpuStage::open:
      out.kind = wire::ChallengeKind::gpu_open;
      out.gpus.resize(static_cast<std::size_t>(plan.gpus));
      std::iota(out.gpus.begin(), out.gpus.end(), 0);
      out.size = plan.size;
      break;
    case GpuStage::one:  // Another product than those that are asked for next.
    case GpuStage::all:
      out.kind = wire::ChallengeKind::gpu_product;
      out.size = plan.size;
      out.steps = plan.steps;
      if (stage == GpuStage::one)
        out.seeds = {std::to_string(draw())};
      else
        seeds([](const auto& known) { return known.product.seed; });
      break;
    case GpuStage::rows:
      out.kind = wire::ChallengeKind::gpu_rows;
      for (const auto& known : plan.known) {
        out.gpus.push_back(known.gpu);
        out.rows.insert(out.rows.end(), known.rows.begin(), known.rows.end());
      }
      break;
    case GpuStage::fill:
      out.kind = wire::ChallengeKind::gpu_fill;
      out.memory_mib = plan.memory_mib;
      seeds([](const auto& known) { return known.pattern; });
      break;
    case GpuStage::read:
      out.kind = wire::ChallengeKind::gpu_read;
      out.reads = plan.reads;
      seeds([](const auto& known) { return known.reads; });
      break;
  }
  return out;
}

bool gpu_answer_is_right(const GpuPlan& plan, GpuStage stage,
                         const std::vector<std::string>& results,
                         const std::vector<std::string>& committed) {
  const auto all = static_cast<std::size_t>(plan.gpus);
  switch (stage) {
    case GpuStage::open:
    case GpuStage::fill:
      return results.empty();
    case GpuStage::one:
    case GpuStage::all:
      return results.size() == (stage == GpuStage::all ? all : 1) &&
             std::ranges::all_of(results, [](const auto& r) { return r.size() == kCommitment; });
    case GpuStage::rows: {
      const auto each = plan.known.front().rows.size() + 1;
      if (results.size() != plan.known.size() * each || committed.size() != all) return false;
      for (std::size_t i = 0; i < plan.known.size(); ++i)
        if (const auto& known = plan.known[i];
            !rows_are_right(plan, known, std::span(results).subspan(i * each, each),
                            committed[static_cast<std::size_t>(known.gpu)]))
          return false;
      return true;
    }
    case GpuStage::read:
      return results.size() == all && std::ranges::all_of(plan.known, [&](const auto& known) {
               const auto sums = base::numbers_of<std::uint64_t>(
                   results[static_cast<std::size_t>(known.gpu)], base::kGpuGroups);
               return !sums.empty() && sums[static_cast<std::size_t>(known.group)] == known.sum;
             });
  }
  return false;
}

}  // namespace souk::server
