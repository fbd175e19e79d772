#include "cli/lend/gpu_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "agent/challenge_desk.h"
#include "base/hash.h"
#include "server/proof/challenges.h"

namespace souk::cli {
namespace {

constexpr base::MachineId kMachine(1);
constexpr base::AccountId kOwner(1);
constexpr int kTries = 3;  // Quick GPUs are asked for more.

std::string name_of(const wire::Challenge& c) {
  using Kind = wire::ChallengeKind;
  switch (c.kind) {
    case Kind::gpu_open:
      return "made ready";
    case Kind::gpu_product:
      return fmt::format("{} of them multiply matrices ({} steps of {})", c.seeds.size(), c.steps,
                         c.size);
    case Kind::gpu_rows:
      return fmt::format("{} rows of that shown", c.rows.size() * c.gpus.size());
    case Kind::gpu_fill:
      return fmt::format("{} MiB filled", c.memory_mib);
    case Kind::gpu_read:
      return fmt::format("{} million reads of that", c.reads * base::kGpuGroups / 1'000'000);
    default:
      return "";
  }
}

double rate_of(const wire::Challenge& c, double seconds) {
  return std::pow(c.size, 3) * static_cast<double>(c.steps) / std::max(seconds, 1e-6) / 1e9;
}

}  // namespace

GpuCheck check_gpus(std::int64_t memory_mib, agent::Gpus& gpus, agent::GpuBoard& board,
                    const std::function<base::Duration()>& now, const server::GpuScale& scale) {
  GpuCheck out{.gpus = gpus.count(), .memory_mib = memory_mib};
  server::Challenges challenges({.every = base::hours(1)}, base::table_hash("doctor"), scale);
  const server::ClaimedMachine claimed{.machine = kMachine,
                                       .owner = kOwner,
                                       .gpus = gpus.count(),
                                       .gpu_memory_mib = memory_mib,
                                       .untrusted = true};
  auto rest = base::hours(1);
  const auto time = [&] { return base::Time() + now() + rest; };
  for (int i = 0; i < kTries; ++i, rest = rest + base::hours(1)) {
    auto plan = challenges.to_prepare(claimed, time());
    if (!plan) break;
    const auto before = now();
    server::Challenges::compute(*plan);
    out.prepared_in = (now() - before).seconds();
    challenges.prepared(kMachine, kOwner, *plan);
    auto question = challenges.ask(claimed, time());
    agent::ChallengeDesk desk(gpus, board);
    std::optional<server::Challenges::Verdict> verdict;
    while (question) {
      const auto start = now();
      auto answer = desk.answer(*question);
      answer.cpu_share.reset();  // Other programs may use the processor: it is not asked about.
      const auto seconds = (now() - start).seconds();
      if (const auto name = name_of(*question); !name.empty())
        out.questions.push_back({name, seconds});
      if (question->kind == wire::ChallengeKind::gpu_product)
        out.products_per_s = rate_of(*question, seconds);
      verdict = challenges.take(kMachine, answer, time());
      question = verdict ? verdict->next : std::nullopt;
    }
    if (!verdict) break;
    out.passed = verdict->passed;
    out.reason = verdict->why_not();
    if (verdict->again.empty()) break;
  }
  return out;
}

}  // namespace souk::cli
