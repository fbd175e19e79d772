#include "lab/worlds/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "base/containment.h"
#include "lab/worlds/book_world.h"
#include "lab/worlds/market_world.h"

namespace souk::lab {
namespace {

constexpr std::uint64_t kParts = 1'000;  // Of a run, for progress.

// What this thread has computed so far: others on the machine do not count.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

// What the runs of an experiment have come to so far.
struct Tally {
  std::atomic<std::uint64_t> parts = 0;
  std::atomic<std::size_t> trades = 0;
};

Result<Run> one(const Scenario& s, const Traces& traces, std::size_t mechanism, std::uint64_t seed,
                const ExperimentOptions& options, Tally& tally) {
  std::uint64_t told = 0;
  Watch watch{.stop = options.stop, .most_trades = options.most_trades};
  watch.progress = [&](double share) {
    const auto now = static_cast<std::uint64_t>(share * kParts);
    if (now <= told) return;
    tally.parts += now - told;
    told = now;
  };
  const auto begin = thread_seconds();
  const auto& choice = s.mechanisms[mechanism];
  auto record = s.world == World::book ? run_book(s, choice, seed, watch)
                                       : run_market(s, traces, choice, seed, watch);
  if (!record) return std::unexpected(std::move(record).error());
  SOUK_TRY(watch.go_on(tally.trades += record->trades.size()));
  watch.progress(1);
  Run out{.mechanism = mechanism, .seed = seed, .metrics = measure(*record)};
  out.trades = std::move(record->trades);
  out.waits = std::move(record->waits);
  std::ranges::sort(out.waits);
  out.events = record->events;
  out.seconds = thread_seconds() - begin;
  return out;
}

}  // namespace

Result<std::vector<Run>> run_experiment(const Scenario& s, const ExperimentOptions& options) {
  SOUK_ASSIGN(const auto traces, load_traces(s));
  const auto total = s.mechanisms.size() * s.seeds.size();
  std::vector<Result<Run>> results(total);
  std::atomic<std::size_t> next = 0;
  Tally tally;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t working = 0;
  const bool contained = base::Containment::active();  // On its threads as on the caller's.
  const auto work = [&] {
    std::optional<base::Containment> containment;
    if (contained) containment.emplace();
    for (std::size_t i = next++; i < total && !failed; i = next++) {
      try {
        results[i] =
            one(s, traces, i / s.seeds.size(), s.seeds[i % s.seeds.size()], options, tally);
      } catch (const std::exception& e) {
        results[i] = base::fail(base::Code::internal, fmt::format("a run failed: {}", e.what()));
      }
      if (!results[i]) failed = true;
    }
    const std::lock_guard lock(mutex);
    --working;
    changed.notify_all();
  };
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  const auto wanted = options.threads > 0 ? static_cast<std::size_t>(options.threads) : cores;
  working = std::min(wanted, total);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0, n = working; i < n; ++i) threads.emplace_back(work);
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return working == 0; }))
      if (options.progress)
        options.progress(static_cast<double>(tally.parts) / static_cast<double>(total * kParts));
  }
  std::vector<Run> out;
  out.reserve(total);
  for (auto& result : results) {
    // With one failed the others may not have run: a failure that is there is the reason.
    if (!result) return std::unexpected(std::move(result).error());
    if (!failed) out.push_back(*std::move(result));
  }
  return out;
}

}  // namespace souk::lab
