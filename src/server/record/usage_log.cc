#include "server/record/usage_log.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "wire/json.h"

namespace souk::server {
namespace {

constexpr auto kForgetEvery = base::hours(1);

}  // namespace

UsageLog::UsageLog(journal::Records& records, const base::Clock& clock, Options options)
    : records_(records), clock_(clock), options_(options), thread_([this] { run(); }) {}

UsageLog::~UsageLog() { stop(); }

void UsageLog::add(base::LeaseId lease, const wire::UsageSample& sample) {
  const std::lock_guard lock(mutex_);
  auto& pace = paces_[lease];
  pace.every = std::max(pace.every, options_.closest);
  if (pace.last != base::Time() && sample.at - pace.last < pace.every) return;
  if (waiting_.size() >= kMostWaiting) {
    ++dropped_;
    return;
  }
  pace.last = sample.at;
  if (++pace.written >= kSamples) {
    pace.written = 0;
    pace.every = pace.every * 2;
  }
  waiting_.emplace_back(kUsageRecords,
                        journal::Record{lease.value, sample.at, wire::to_json(sample.usage)});
}

void UsageLog::ended(base::LeaseId lease) {
  const std::lock_guard lock(mutex_);
  paces_.erase(lease);
}

void UsageLog::note(const journal::RecordKind& kind, journal::Record record) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMostWaiting)
    ++dropped_;
  else
    waiting_.emplace_back(kind, std::move(record));
}

std::vector<wire::UsageSample> UsageLog::read(base::LeaseId lease, base::Time from,
                                              base::Time to) const {
  const auto rows = records_.of(kUsageRecords, lease.value, from, to);
  std::vector<wire::UsageSample> out;
  if (!rows) return out;
  for (const auto& row : *rows)
    if (const auto usage = wire::from_json<wire::Usage>(row.bytes)) out.push_back({row.at, *usage});
  return out;
}

std::uint64_t UsageLog::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

void UsageLog::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// Once each time that something else is wrong.
void UsageLog::tell(const base::Result<>& done, std::string_view what) {
  const auto trouble = done ? std::string() : done.error().message;
  if (!trouble.empty() && trouble != trouble_) spdlog::warn("cannot {}: {}", what, trouble);
  trouble_ = trouble;
}

void UsageLog::run() {
  base::Time forget_at = clock_.now();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_for(lock, std::chrono::microseconds(options_.every.us),
                      [&] { return stopping_; });
    const bool last = stopping_;
    lock.unlock();
    write();
    if (clock_.now() >= forget_at) {
      forget();
      forget_at = clock_.now() + kForgetEvery;
    }
    lock.lock();
    if (last) return;
  }
}

void UsageLog::write() {
  std::vector<std::pair<journal::RecordKind, journal::Record>> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(waiting_);
  }
  if (batch.empty()) return;
  std::map<std::string_view, std::pair<journal::RecordKind, std::vector<journal::Record>>> by_kind;
  for (auto& [kind, record] : batch) {
    auto& [same, records] = by_kind[kind.name];
    same = kind;
    records.push_back(std::move(record));
  }
  for (auto& [name, each] : by_kind) {
    const auto done = records_.put(each.first, each.second);
    tell(done, "write down what leases use");
    if (done) continue;
    // Once more with the next, as far as there is room.
    const std::lock_guard lock(mutex_);
    for (auto& record : each.second) {
      if (waiting_.size() >= kMostWaiting)
        ++dropped_;
      else
        waiting_.emplace_back(each.first, std::move(record));
    }
  }
}

void UsageLog::forget() {
  const auto gone = records_.drop_before(clock_.now() - options_.keep);
  if (!gone)
    spdlog::warn("cannot forget what leases used long ago: {}", gone.error().message);
  else if (*gone > 0)
    spdlog::info("forgot {} days of what leases used", *gone);
}

}  // namespace souk::server
