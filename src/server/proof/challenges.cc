#include "server/proof/challenges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"

namespace souk::server {
namespace {

constexpr auto kForgotten = base::minutes(10);  // What was to be prepared was dropped on the way.
constexpr std::int64_t kMibOfCore = 1024;       // That one core fills in two seconds, at least.
constexpr std::int32_t kMostLanes = 4096;

// To be filled. Who claims twice what it has cannot.
std::int64_t memory_of(const ClaimedMachine& claimed) {
  return std::max<std::int64_t>(1, claimed.memory_mib * 3 / 5);
}

std::int32_t half_of(std::int32_t cores) { return (cores + 1) / 2; }

base::Duration time_to_fill(std::int32_t cores, std::int64_t memory_mib) {
  return Challenges::kToFill + base::seconds(2) * (memory_mib / cores / kMibOfCore);
}

bool is_about_gpus(auto stage) { return stage >= decltype(stage)::gpu_open; }

GpuStage gpu_stage(auto stage) {
  return static_cast<GpuStage>(static_cast<int>(stage) -
                               static_cast<int>(decltype(stage)::gpu_open));
}

base::Duration times(double factor, base::Duration d) {
  return base::Duration(static_cast<std::int64_t>(factor * static_cast<double>(d.us)));
}

}  // namespace

// Not base::Random, whose numbers tell the next.
std::uint64_t Challenges::draw() {
  const auto digest = base::blake2b(fmt::format("challenge {} {}", secret_, draws_++));
  std::uint64_t out = 0;
  std::memcpy(&out, digest.bytes.data(), sizeof out);
  return out;
}

// Times between challenges are exponential: having just been asked says nothing about the next.
base::Duration Challenges::pause() {
  const auto u = (static_cast<double>(draw() >> 11) + 1) / 9007199254740993.0;
  return base::Duration(
      static_cast<std::int64_t>(-std::log(u) * static_cast<double>(rule_.every.us)));
}

Challenges::Entry& Challenges::entry_of(const ClaimedMachine& claimed, base::Time now) {
  const auto it = machines_.find(claimed.machine);
  if (it != machines_.end()) return it->second;
  return machines_[claimed.machine] = Entry{.next = claimed.untrusted ? now : now + pause()};
}

bool Challenges::is_due(const Entry& entry, const ClaimedMachine& claimed, base::Time now) {
  return !entry.open && now >= (claimed.untrusted ? entry.rested : entry.next);
}

// Which lanes are to be known.
std::vector<Challenges::KnownResult> Challenges::draw_lanes(std::int32_t lanes) {
  std::set<std::size_t> places;
  while (places.size() < std::min(static_cast<std::size_t>(lanes), kKnownLanes))
    places.insert(static_cast<std::size_t>(draw() % static_cast<std::uint64_t>(lanes)));
  std::vector<KnownResult> out;
  for (const auto at : places) out.push_back({.at = at, .seed = draw()});
  return out;
}

bool Challenges::fits(const Preparation& have, const ClaimedMachine& claimed,
                      const Entry& entry) const {
  const auto gpu = plan_gpus(claimed.gpus, claimed.gpu_memory_mib, entry.gpu_steps, scale_, {});
  return have.memory_mib == memory_of(claimed) &&
         have.cores == std::min(claimed.cores, kMostLanes) && have.gpu.asks_like(gpu);
}

std::optional<Challenges::Preparation> Challenges::to_prepare(const ClaimedMachine& claimed,
                                                              base::Time now) {
  if (!enabled() || claimed.cores < 1 || claimed.memory_mib < 1) return std::nullopt;
  const auto cores = std::min(claimed.cores, kMostLanes);
  auto& entry = entry_of(claimed, now);
  if (!is_due(entry, claimed, now)) return std::nullopt;
  const auto busy = preparing_.find(claimed.owner);
  if (busy != preparing_.end() && now - busy->second < kForgotten) return std::nullopt;
  if (entry.prepared && fits(*entry.prepared, claimed, entry)) return std::nullopt;
  entry.prepared.reset();
  preparing_[claimed.owner] = now;
  return Preparation{.machine = claimed.machine,
                     .owner = claimed.owner,
                     .cores = cores,
                     .memory_mib = memory_of(claimed),
                     .half = draw_lanes(half_of(cores)),
                     .all = cores > 1 ? draw_lanes(cores) : std::vector<KnownResult>(),
                     .pattern = draw(),
                     .reads = draw(),
                     .group = static_cast<std::int32_t>(draw() % base::kGroups),
                     .gpu = plan_gpus(claimed.gpus, claimed.gpu_memory_mib, entry.gpu_steps, scale_,
                                      [this] { return draw(); })};
}

void Challenges::compute(Preparation& p) {
  for (auto* lanes : {&p.half, &p.all})
    for (auto& known : *lanes) known.result = base::lane(known.seed, base::kLaneSteps);
  p.group_result = base::group_of(p.pattern, p.memory_mib, p.reads, p.group, p.cores);
  compute_gpus(p.gpu);
}

void Challenges::prepared(base::MachineId machine, base::AccountId owner,
                          std::optional<Preparation> done) {
  preparing_.erase(owner);
  if (const auto it = machines_.find(machine); it != machines_.end() && !it->second.open)
    it->second.prepared = std::move(done);
}

void Challenges::shorten_rest(base::MachineId machine) {
  const auto it = machines_.find(machine);
  if (it == machines_.end()) return;
  auto& entry = it->second;
  entry.rested = std::min(entry.rested, entry.ended + kShortRest);
}

std::optional<wire::Challenge> Challenges::ask(const ClaimedMachine& claimed, base::Time now) {
  const auto it = machines_.find(claimed.machine);
  if (it == machines_.end()) return std::nullopt;
  auto& entry = it->second;
  if (!is_due(entry, claimed, now) || !entry.prepared || !fits(*entry.prepared, claimed, entry))
    return std::nullopt;
  entry.open = OpenQuestion{.began = now};
  return question(entry, Stage::half, now);
}

wire::Challenge Challenges::question(Entry& entry, Stage stage, base::Time now) {
  const auto& p = *entry.prepared;
  auto& open = *entry.open;
  open.stage = stage;
  open.at = now;
  open.id = std::to_string(draw());
  if (is_about_gpus(stage)) {
    auto out = gpu_question(p.gpu, gpu_stage(stage), [this] { return draw(); });
    out.id = open.id;
    return out;
  }
  wire::Challenge out{.id = open.id};
  if (stage == Stage::fill || stage == Stage::read) {
    const bool fill = stage == Stage::fill;
    out.kind = fill ? wire::ChallengeKind::fill : wire::ChallengeKind::read;
    out.seeds = {std::to_string(fill ? p.pattern : p.reads)};
    out.memory_mib = p.memory_mib;
    out.cores = p.cores;
    open.results = fill ? 0 : base::kGroups;
    open.must.clear();
    if (!fill) open.must = {{static_cast<std::size_t>(p.group), p.reads, p.group_result}};
  } else {
    open.must = stage == Stage::half ? p.half : p.all;
    open.results = static_cast<std::size_t>(stage == Stage::half ? half_of(p.cores) : p.cores);
    out.steps = base::kLaneSteps;
    for (std::size_t i = 0; i < open.results; ++i) out.seeds.push_back(std::to_string(draw()));
    for (const auto& known : open.must) out.seeds[known.at] = std::to_string(known.seed);
  }
  return out;
}

std::string Challenges::slower(base::Duration took, base::Duration most,
                               const std::string& what) const {
  most = times(rule_.slack, most);
  if (took <= most) return {};
  return fmt::format("{} took it {}, and {} at most is expected", what, to_string(took),
                     to_string(most));
}

// Empty: it was quick enough.
std::string Challenges::too_slow(Entry& entry, base::Duration took) const {
  const auto& p = *entry.prepared;
  switch (entry.open->stage) {
    case Stage::half:
      entry.best = std::min(entry.best, took);
      entry.open->lane = took;
      return slower(took, kSlowest,
                    fmt::format("a challenge of {} of its cores", half_of(p.cores)));
    case Stage::all:
      return slower(took, times(kMostRatio, entry.best) + kJitter,
                    fmt::format("a challenge of its {} cores", p.cores));
    case Stage::fill:
      return slower(took, time_to_fill(p.cores, p.memory_mib),
                    fmt::format("a challenge to fill {} MiB", p.memory_mib));
    case Stage::read:
      return slower(took, kToRead, fmt::format("a challenge to read {} MiB", p.memory_mib));
    default:
      return gpus_too_slow(entry, took);
  }
}

std::string Challenges::gpus_too_slow(Entry& entry, base::Duration took) const {
  const auto& gpu = entry.prepared->gpu;
  switch (gpu_stage(entry.open->stage)) {
    case GpuStage::open:
      return slower(took, kToOpenGpus, fmt::format("to make {} GPUs ready", gpu.gpus));
    case GpuStage::one:
      if (entry.best_gpus != gpu.gpus || entry.best_steps != gpu.steps) entry.gpu_best.reset();
      entry.gpu_best = std::min(entry.gpu_best.value_or(took), took);
      entry.best_gpus = gpu.gpus;
      entry.best_steps = gpu.steps;
      return slower(took, kSlowestGpus, "a challenge of one of its GPUs");
    case GpuStage::all: {
      auto most = kSlowestGpus;
      if (gpu.gpus > 1) most = times(kMostRatio, entry.gpu_best.value_or(most)) + kJitter;
      return slower(took, most, fmt::format("a challenge of its {} GPUs", gpu.gpus));
    }
    case GpuStage::rows:
      return slower(took, kToShowRows, "to show what its GPUs computed");
    case GpuStage::fill:
      return slower(took, kToFillGpus,
                    fmt::format("a challenge to fill {} MiB of its GPUs", gpu.memory_mib));
    case GpuStage::read:
      return slower(took, kToReadGpus,
                    fmt::format("a challenge to read {} MiB of its GPUs", gpu.memory_mib));
  }
  CHECK(false);
}

// Nothing: that was the last.
std::optional<Challenges::Stage> Challenges::after(Stage stage, const Preparation& p) {
  switch (stage) {
    case Stage::half:
      return p.cores > 1 ? Stage::all : Stage::fill;
    case Stage::all:
      return Stage::fill;
    case Stage::fill:
      return Stage::read;
    case Stage::read:
      return p.gpu.gpus > 0 ? std::optional(Stage::gpu_open) : std::nullopt;
    case Stage::gpu_open:
      return p.gpu.gpus > 1 ? Stage::gpu_one : Stage::gpu_all;
    case Stage::gpu_one:
      return Stage::gpu_all;
    case Stage::gpu_all:
      return Stage::gpu_rows;
    case Stage::gpu_rows:
      return p.gpu.memory_mib > 0 ? std::optional(Stage::gpu_fill) : std::nullopt;
    case Stage::gpu_fill:
      return Stage::gpu_read;
    case Stage::gpu_read:
      return std::nullopt;
  }
  CHECK(false);
}

bool Challenges::is_right(const Entry& entry, const wire::ChallengeAnswer& answer) const {
  const auto& open = *entry.open;
  if (is_about_gpus(open.stage))
    return gpu_answer_is_right(entry.prepared->gpu, gpu_stage(open.stage), answer.results,
                               open.committed);
  return answer.results.size() == open.results &&
         std::ranges::all_of(open.must, [&](const KnownResult& known) {
           return answer.results[known.at] == std::to_string(known.result);
         });
}

std::optional<Challenges::Verdict> Challenges::take(base::MachineId machine,
                                                    const wire::ChallengeAnswer& answer,
                                                    base::Time now) {
  const auto it = machines_.find(machine);
  if (it == machines_.end() || !it->second.open || it->second.open->id != answer.id)
    return std::nullopt;
  auto& entry = it->second;
  auto& open = *entry.open;
  if (answer.trouble)
    return end(entry, now, "a challenge could not be met: " + answer.trouble->substr(0, 200), "");
  if (!is_right(entry, answer)) return end(entry, now, "", "its answer to a challenge was wrong");
  if (open.stage == Stage::half && answer.cpu_share.value_or(1) < kIdle / rule_.slack)
    return end(entry, now, "it was too busy for a challenge", "");
  const auto took = now - open.at;
  if (auto slow = too_slow(entry, took); !slow.empty()) return end(entry, now, std::move(slow), "");
  if (const auto steps = entry.prepared->gpu.steps;
      open.stage == Stage::gpu_one && took < kGpusTooQuick && steps < base::kMostGpuSteps) {
    const auto factor = (2 * kGpusTooQuick.us) / std::max<std::int64_t>(took.us, 1) + 1;
    entry.gpu_steps =
        static_cast<std::int32_t>(std::min<std::int64_t>(steps * factor, base::kMostGpuSteps));
    return end(entry, now, "", "", "its GPUs are quick: it is asked again, for more");
  }
  if (open.stage == Stage::gpu_all) open.committed = answer.results;
  const auto next = after(open.stage, *entry.prepared);
  return next ? Verdict{.next = question(entry, *next, now)} : end(entry, now, "", "");
}

std::optional<Challenges::Verdict> Challenges::unanswered(base::MachineId machine, base::Time now) {
  const auto it = machines_.find(machine);
  if (it == machines_.end() || !it->second.open) return std::nullopt;
  return end(it->second, now, "it did not answer a challenge", "");
}

Challenges::Verdict Challenges::end(Entry& entry, base::Time now, std::string slow,
                                    std::string wrong, std::string again) {
  Verdict out{.slow = std::move(slow), .wrong = std::move(wrong), .again = std::move(again)};
  out.passed = out.slow.empty() && out.wrong.empty() && out.again.empty();
  if (out.passed) out.lane = entry.open->lane;
  const auto factor = out.passed          ? kRest
                      : out.again.empty() ? kFirstRest << std::min(entry.slow_in_a_row, 10)
                                          : kFirstRest;
  const auto took = now - entry.open->began;
  const auto rest = took * std::min(kRest, factor);
  entry.open.reset();
  entry.prepared.reset();  // Nothing is asked twice.
  entry.slow_in_a_row = out.slow.empty() ? 0 : entry.slow_in_a_row + 1;
  out.suspend = entry.slow_in_a_row >= kSlowTries;
  entry.next = now + (out.passed ? std::max(rest, pause()) : rest);
  entry.ended = now;
  entry.rested = now + (out.passed ? took * kFirstRest : rest);
  return out;
}

}  // namespace souk::server
