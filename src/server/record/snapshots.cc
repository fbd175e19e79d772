#include "server/record/snapshots.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "codec/snapshot.h"
#include "journal/open.h"
#include "journal/snapshot.h"
#include "server/record/recovery.h"

namespace souk::server {

using base::Result;

namespace {

// For the core thread, which asks no database.
std::uint64_t bytes_here(const std::string& journal) {
  const auto reach = journal::reach_of(journal);
  return reach == journal::Reach::computer ? journal::bytes_on_disk(journal) : 0;
}

}  // namespace

Snapshots::Snapshots(Options options, Core& core, const base::Clock& clock, std::uint64_t saved,
                     std::uint64_t first)
    : options_(std::move(options)),
      core_(core),
      clock_(clock),
      saved_(saved),
      retention_({options_.journal, options_.keep, options_.archive}, core, first) {}

void Snapshots::start() {
  if (!options_.path.empty()) thread_ = std::thread([this] { run(); });
}

void Snapshots::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Snapshots::run() {
  const auto every = std::chrono::microseconds(std::max(options_.every, base::milliseconds(1)).us);
  const auto warn = [this](const Result<>& done, std::string_view what) {
    if (!done && go_on()) spdlog::warn("{}: {}", what, done.error().message);
  };
  measure();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, every, [&] { return stopping_; })) {
    lock.unlock();
    warn(save_next(), "snapshot");
    warn(retention_.drop_old(clock_.now(), [this] { return go_on(); }),
         "nothing is dropped from the journal");
    measure();
    lock.lock();
  }
}

Result<> Snapshots::go_on() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return base::fail(base::Code::unavailable, "the server stops");
  return {};
}

// From the one before and the events since.
Result<> Snapshots::save_next() {
  if (core_.counters().events == saved_) return {};
  SOUK_ASSIGN(auto opened, journal::open(options_.journal, {.read_only = true}));
  SOUK_ASSIGN(auto state, nearest_state(options_.path, *opened.journal));
  SOUK_TRY(catch_up(state, *opened.journal, [this] { return go_on(); }));
  opened.journal.reset();  // While it is open, SQLite's log cannot be used anew.
  const auto bytes = codec::encode_state(state);
  return save(state.events, bytes);
}

Result<> Snapshots::save(std::uint64_t events, std::string_view bytes) {
  SOUK_TRY(journal::save_snapshot(options_.path, events, bytes));
  saved_ = events;
  saved_at_us_ = clock_.now().us;
  return {};
}

void Snapshots::save_last(const market::State& s) {
  if (options_.path.empty() || s.events == saved_) return;
  if (const auto done = save(s.events, codec::encode_state(s)); !done)
    spdlog::warn("snapshot: {}", done.error().message);
}

// A database is asked here, where one may wait for it.
void Snapshots::measure() {
  const auto reach = journal::reach_of(options_.journal);
  if (reach == journal::Reach::servers) remote_bytes_ = journal::bytes_on_disk(options_.journal);
}

JournalFigures Snapshots::figures() const {
  const auto remote = remote_bytes_.load();
  return {.bytes = remote > 0 ? remote : bytes_here(options_.journal),
          .first_event = retention_.first(),
          .last_snapshot = base::Time(saved_at_us_)};
}

}  // namespace souk::server
