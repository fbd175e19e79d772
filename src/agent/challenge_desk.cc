#include "agent/challenge_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <mutex>
#include <span>

#include "base/containment.h"
#include "base/threads.h"

namespace souk::agent {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::int32_t kMostChallengeThreads = 4096;

Result<std::uint64_t> number_of(const std::string& text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(Code::invalid, "'" + text.substr(0, 30) + "' is no seed of a challenge");
  return out;
}

std::vector<std::string> texts(const std::vector<std::uint64_t>& numbers) {
  std::vector<std::string> out;
  for (const auto number : numbers) out.push_back(std::to_string(number));
  return out;
}

// work(i) for each of `count`, each on a thread of its own; the first trouble, if any.
template <class Work>
Result<> all_at_once(std::size_t count, Work work) {
  std::mutex mutex;
  Result<> out;
  base::on_threads(static_cast<std::int32_t>(count),
                   [&](std::int32_t self, std::int32_t threads, auto&) {
                     for (auto i = base::share(count, self, threads);
                          i < base::share(count, self + 1, threads); ++i) {
                       const auto done = base::contained([&] { return work(i); });
                       if (done) continue;
                       const std::lock_guard lock(mutex);
                       if (out) out = done;
                     }
                   });
  return out;
}

}  // namespace

wire::ChallengeAnswer ChallengeDesk::answer(const wire::Challenge& challenge) {
  auto answer = base::contained([&] { return try_to_answer(challenge); });
  if (answer) return *std::move(answer);
  return {.id = challenge.id, .trouble = answer.error().message};
}

Result<wire::ChallengeAnswer> ChallengeDesk::try_to_answer(const wire::Challenge& challenge) {
  std::vector<std::uint64_t> seeds;
  for (const auto& text : challenge.seeds) {
    SOUK_ASSIGN(const auto seed, number_of(text));
    seeds.push_back(seed);
  }
  wire::ChallengeAnswer out{.id = challenge.id};
  if (challenge.kind >= wire::ChallengeKind::gpu_open) {
    SOUK_ASSIGN(out.results, answer_about_gpus(challenge, seeds));
    return out;
  }
  if (seeds.empty()) return fail(Code::invalid, "a challenge without a seed");
  const auto cores = std::clamp(challenge.cores, 1, kMostChallengeThreads);
  if (challenge.kind == wire::ChallengeKind::compute) {
    SOUK_ASSIGN(const auto lanes, base::lanes(seeds, challenge.steps));
    out.results = texts(lanes.results);
    out.cpu_share = lanes.cpu_share;
  } else if (challenge.kind == wire::ChallengeKind::fill) {
    memory_.reset();
    SOUK_ASSIGN(memory_, base::PatternMemory::fill(seeds[0], challenge.memory_mib, cores));
  } else if (memory_) {
    out.results = texts(memory_->read(seeds[0], cores));
    memory_.reset();
  } else {
    return fail(Code::conflict, "nothing was filled that could be read");
  }
  return out;
}

Result<std::vector<std::string>> ChallengeDesk::answer_about_gpus(
    const wire::Challenge& challenge, const std::vector<std::uint64_t>& seeds) {
  using Kind = wire::ChallengeKind;
  if (challenge.kind == Kind::gpu_open) {
    SOUK_TRY(open(challenge));
    return std::vector<std::string>();
  }
  if (seeds.size() > open_.size())
    return fail(Code::conflict,
                fmt::format("{} GPUs are ready, not {}", open_.size(), seeds.size()));
  if (challenge.kind == Kind::gpu_product) return products(challenge, seeds);
  if (challenge.kind == Kind::gpu_rows) return rows(challenge);
  std::vector<std::string> out;
  if (challenge.kind == Kind::gpu_fill) {
    SOUK_TRY(all_at_once(seeds.size(), [&](std::size_t i) {
      return open_[i].device->fill(seeds[i], challenge.memory_mib);
    }));
    return out;
  }
  out.resize(seeds.size());
  SOUK_TRY(all_at_once(seeds.size(), [&](std::size_t i) -> Result<> {
    SOUK_ASSIGN(const auto sums, open_[i].device->read(seeds[i], challenge.reads));
    out[i] = base::hex_of<std::uint64_t>(sums);
    return {};
  }));
  return out;
}

// Each computes a little: its programs are compiled and it is awake, and who is slow is known.
Result<> ChallengeDesk::open(const wire::Challenge& challenge) {
  open_.clear();
  borrowed_ = {};
  SOUK_ASSIGN(borrowed_, gpus_.borrow(static_cast<int>(challenge.gpus.size())));
  const auto places = borrowed_.places();
  using Clock = std::chrono::steady_clock;
  std::vector<std::pair<Clock::duration, OpenGpu>> opened(places.size());
  SOUK_TRY(all_at_once(places.size(), [&](std::size_t i) -> Result<> {
    auto& [took, gpu] = opened[i];
    SOUK_ASSIGN(gpu.device, board_.open(places[i]));
    const base::GpuProduct little{.seed = 1, .size = challenge.size, .steps = 2};
    SOUK_TRY(gpu.device->product(little));
    const auto start = Clock::now();
    SOUK_TRY(gpu.device->product(little));
    took = Clock::now() - start;
    return {};
  }));
  std::ranges::sort(opened, std::ranges::greater(), [](const auto& o) { return o.first; });
  for (auto& [took, gpu] : opened) open_.push_back(std::move(gpu));
  return {};
}

Result<std::vector<std::string>> ChallengeDesk::products(const wire::Challenge& challenge,
                                                         const std::vector<std::uint64_t>& seeds) {
  std::vector<std::string> out(seeds.size());
  SOUK_TRY(all_at_once(seeds.size(), [&](std::size_t i) -> Result<> {
    const base::GpuProduct product{.seed = seeds[i],
                                   .size = challenge.size,
                                   .steps = static_cast<std::int32_t>(std::clamp<std::int64_t>(
                                       challenge.steps, 0, base::kMostGpuSteps + 1))};
    SOUK_ASSIGN(open_[i].row_hashes, open_[i].device->product(product));
    out[i] = base::commitment(open_[i].row_hashes);
    return {};
  }));
  return out;
}

Result<std::vector<std::string>> ChallengeDesk::rows(const wire::Challenge& challenge) {
  std::vector<std::string> out;
  const auto each = challenge.gpus.empty() ? 0 : challenge.rows.size() / challenge.gpus.size();
  std::span rows(challenge.rows);
  for (const auto gpu : challenge.gpus) {
    if (gpu < 0 || gpu >= std::ssize(open_))
      return fail(Code::invalid, fmt::format("GPU {} of {} that are ready", gpu, open_.size()));
    auto& of = open_[static_cast<std::size_t>(gpu)];
    out.push_back(base::hex_of<std::uint64_t>(of.row_hashes));
    for (const auto index : rows.first(each)) {
      SOUK_ASSIGN(const auto row, of.device->row(index));
      out.push_back(base::hex_of<std::uint32_t>(row));
    }
    rows = rows.subspan(each);
  }
  return out;
}

}  // namespace souk::agent
