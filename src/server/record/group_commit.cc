#include "server/record/group_commit.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/kill_point.h"
#include "server/core/contain.h"

namespace souk::server {
namespace {

// Nothing that follows could be trusted. Whoever waits for an answer never gets one.
[[noreturn]] void end_process(const base::Error& error) {
  fmt::print(stderr, "souk: the journal failed, so the server ends: {}\n", error.message);
  std::fflush(stderr);
  std::_Exit(70);
}

}  // namespace

void GroupCommit::start(std::uint64_t first) {
  pending_.first = first;
  thread_ = std::thread([this] { run(); });
}

void GroupCommit::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  thread_.join();
}

void GroupCommit::add(std::vector<Committed>& events, std::span<const std::size_t> ends,
                      std::vector<After>& afters) {
  if (events.empty() && afters.empty()) return;
  std::unique_lock lock(mutex_);
  if (events.empty() && pending_.events.empty() && !committing_) {
    lock.unlock();
    for (auto& fn : afters) contain("an answer", fn);
    return;
  }
  const auto room = [&] {
    return pending_.events.size() < limits_.events &&
           pending_.writer.bytes().size() < limits_.bytes;
  };
  std::size_t next = 0;
  for (const auto end : ends) {
    if (!room()) {
      ready_.notify_one();
      taken_.wait(lock, room);
    }
    for (; next < end; ++next) {
      auto& committed = events[next];
      pending_.writer.add(committed.at, committed.event);
      pending_.events.push_back(std::move(committed));
    }
  }
  for (auto& fn : afters) pending_.afters.push_back(std::move(fn));
  lock.unlock();
  ready_.notify_one();
}

base::Result<> GroupCommit::upkeep(const Upkeep& piece) {
  std::unique_lock lock(mutex_);
  CHECK(upkeep_ == nullptr);
  upkeep_ = &piece;
  ready_.notify_one();
  kept_.wait(lock, [&] { return upkeep_ == nullptr; });
  return upkept_;
}

void GroupCommit::run_upkeep(const Upkeep& piece) {
  auto more = piece(journal_);
  if (more && *more) return;
  if (!more && more.error().code != base::Code::invalid) end_process(more.error());
  const std::lock_guard lock(mutex_);
  upkept_ = more ? base::Result<>() : std::unexpected(std::move(more).error());
  upkeep_ = nullptr;
  kept_.notify_one();
}

void GroupCommit::run() {
  Group group;
  while (true) {
    const Upkeep* piece = nullptr;
    {
      std::unique_lock lock(mutex_);
      committing_ = false;
      const auto gathered = [&] { return !pending_.events.empty() || !pending_.afters.empty(); };
      ready_.wait(lock, [&] { return stopping_ || gathered() || upkeep_ != nullptr; });
      if (!gathered() && upkeep_ == nullptr) return;
      committing_ = gathered();
      std::swap(group, pending_);
      pending_.first = group.first + group.events.size();
      piece = upkeep_;
    }
    taken_.notify_one();
    commit(group);
    group.writer.clear();
    group.events.clear();
    group.afters.clear();
    if (piece != nullptr) run_upkeep(*piece);
  }
}

void GroupCommit::commit(Group& group) {
  if (!group.events.empty()) {
    const auto began = std::chrono::steady_clock::now();
    base::kill_point("journal-append");
    const auto done = journal_.append({group.first, group.writer.count(), group.writer.bytes()});
    if (!done) end_process(done.error());
    base::kill_point("journal-appended");
    const auto spent = std::chrono::steady_clock::now() - began;
    spent_us_ += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(spent).count());
    ++commits_;
    committed_ += group.events.size();
    if (observer_) observer_(group.events);
  }
  for (auto& fn : group.afters) contain("an answer", fn);
}

}  // namespace souk::server
