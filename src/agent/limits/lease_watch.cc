#include "agent/limits/lease_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/limits/disk_scratch.h"

namespace souk::agent {
namespace {

using std::chrono::steady_clock;
using Rest = steady_clock::duration;

// A look that took a millisecond is followed by a rest of twenty, so that no number of processes or
// files takes more than a twentieth of a core; but no lease is left alone for longer than the
// latest.
constexpr int kRest = 20;
constexpr Rest kSoonest = std::chrono::milliseconds(100);
constexpr Rest kLatest = std::chrono::milliseconds(500);
constexpr Rest kSoonestDisk = std::chrono::milliseconds(500);
constexpr Rest kLatestDisk = std::chrono::seconds(5);

}  // namespace

LeaseWatch& LeaseWatch::of_machine() {
  static LeaseWatch watch;
  return watch;
}

LeaseWatch::~LeaseWatch() {
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<LeaseWatch::Lease> LeaseWatch::watch(WatchPlan plan, std::function<void()> end) {
  const std::lock_guard lock(mutex_);
  const auto id = next_id_++;
  entries_.emplace(id, Entry{.plan = std::move(plan), .end = std::move(end)});
  if (!running_) {
    if (thread_.joinable()) thread_.join();  // It has said that it ends, and takes no lock again.
    running_ = true;
    thread_ = std::thread([this] { run(); });
  }
  return std::unique_ptr<Lease>(new Lease(*this, id));
}

void LeaseWatch::forget(std::int64_t id) {
  std::unique_lock lock(mutex_);
  entries_.erase(id);
  if (!entries_.empty() || !running_) return;
  // The last one waits, so that a process without leases has no thread of ours.
  wake_.notify_all();
  wake_.wait(lock, [this] { return !running_ || !entries_.empty(); });
  if (running_) return;
  auto ended = std::exchange(thread_, {});
  lock.unlock();
  if (ended.joinable()) ended.join();
}

void LeaseWatch::run() {
  ProcessCensus census;
  auto next_disks = steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!entries_.empty()) {
    lock.unlock();
    const auto began = steady_clock::now();
    const bool disks = began >= next_disks;
    look(census, disks);
    const auto took = (steady_clock::now() - began) * kRest;
    if (disks) next_disks = began + std::clamp<Rest>(took, kSoonestDisk, kLatestDisk);
    lock.lock();
    wake_.wait_for(lock, std::clamp<Rest>(took, kSoonest, kLatest),
                   [this] { return entries_.empty(); });
  }
  running_ = false;
  wake_.notify_all();
}

void LeaseWatch::look(ProcessCensus& census, bool disks) {
  std::map<std::int64_t, WatchPlan> plans;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : entries_) plans.emplace(id, entry.plan);
  }
  std::vector<pid_t> keepers;
  for (const auto& [id, plan] : plans) keepers.push_back(plan.keeper);
  const auto leases = census.look(keepers);
  for (const auto& [id, plan] : plans) look_at(id, plan, leases.at(plan.keeper), disks);
}

// Measures without the lock, as a large lease takes its time.
void LeaseWatch::look_at(std::int64_t id, const WatchPlan& plan,
                         const std::vector<ProcessMemory>& members, bool disks) {
  std::vector<pid_t> processes;
  for (const auto& member : members) processes.push_back(member.pid);
  std::optional<std::int64_t> memory, disk;
  if (plan.memory_limit > 0)
    memory = measure_memory(members, plan.memory_scratch, plan.memory_limit);
  if (plan.disk_limit > 0 && disks)
    disk = folder_bytes(plan.disk_folder) + unlinked_bytes(plan.disk_folder, processes);

  const std::lock_guard lock(mutex_);
  const auto at = entries_.find(id);
  if (at == entries_.end()) return;
  auto& entry = at->second;
  const auto count = static_cast<int>(processes.size());
  entry.processes = std::move(processes);
  entry.memory = memory.value_or(entry.memory);
  entry.memory_peak = std::max(entry.memory_peak, entry.memory);
  entry.disk = disk.value_or(entry.disk);
  if (entry.excess) return;
  if (plan.memory_limit > 0 && entry.memory > plan.memory_limit)
    entry.excess = Excess{false, entry.memory, count};
  else if (plan.disk_limit > 0 && entry.disk > plan.disk_limit)
    entry.excess = Excess{true, entry.disk, count};
  if (entry.excess) entry.end();
}

LeaseWatch::Lease::~Lease() { watch_.forget(id_); }

std::int64_t LeaseWatch::Lease::memory_bytes() const {
  return read([](const Entry& e) { return e.memory; });
}

std::int64_t LeaseWatch::Lease::memory_peak_bytes() const {
  return read([](const Entry& e) { return e.memory_peak; });
}

std::int64_t LeaseWatch::Lease::disk_bytes() const {
  return read([](const Entry& e) { return e.disk; });
}

std::vector<pid_t> LeaseWatch::Lease::processes() const {
  return read([](const Entry& e) { return e.processes; });
}

std::optional<Excess> LeaseWatch::Lease::excess() const {
  return read([](const Entry& e) { return e.excess; });
}

}  // namespace souk::agent
