#include "server/core/core.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/random.h"

namespace souk::server {

using base::Time;
using market::Event;

base::Result<market::Events> Core::Turn::execute(const market::Actor& actor,
                                                 market::Command command) {
  ++core_.commands_;
  auto events = market::execute(core_.state_, {now_, actor, std::move(command)});
  if (!events) {
    ++core_.refused_;
    return events;
  }
  auto number = core_.state_.events - events->size();
  for (const auto& event : *events) {
    core_.liveness_.observe(event, core_.state_.now);
    events_.push_back({++number, core_.state_.now, event});
    if (core_.on_applied_) core_.on_applied_(core_.state_, events_.back());
  }
  return events;
}

void Core::Turn::record(Event event) {
  const auto at = std::max(now_, core_.state_.now);
  market::apply(core_.state_, at, event);
  events_.push_back({core_.state_.events, at, std::move(event)});
}

Core::Core(market::State state, journal::Journal& journal, const base::Clock& clock,
           CoreOptions options)
    : state_(std::move(state)), journal_(journal), clock_(clock), options_(options) {
  CHECK(state_.events + 1 == journal_.next());
  const auto now = clock_.now();
  liveness_.reset(state_, now);
  next_tick_ = now + options_.tick;
  next_round_ = now + options_.round;
  seed_ = static_cast<std::uint64_t>(now.us);
  committed_ = state_.events;
}

Core::~Core() { stop(); }

void Core::observe(Observer observer) { observer_ = std::move(observer); }
void Core::on_applied(std::function<void(const market::State&, const Committed&)> fn) {
  on_applied_ = std::move(fn);
}
void Core::before_round(std::function<void(const market::State&, base::Time, market::Clear&)> fn) {
  before_round_ = std::move(fn);
}

void Core::every_tick(std::function<void(Turn&)> fn) { every_tick_ = std::move(fn); }

void Core::start() {
  pending_.first = state_.events + 1;
  if (state_.events == 0)
    post([](Turn& turn) {
      for (auto& event : market::founding_events()) turn.record(std::move(event));
    });
  commit_thread_ = std::thread([this] { commit_loop(); });
  core_thread_ = std::thread([this] { run(); });
}

void Core::stop() {
  if (!core_thread_.joinable()) return;
  {
    const std::lock_guard lock(queue_mutex_);
    stopping_ = true;
  }
  queue_ready_.notify_all();
  core_thread_.join();
  {
    const std::lock_guard lock(pending_mutex_);
    commit_stopping_ = true;
  }
  pending_ready_.notify_all();
  commit_thread_.join();
}

bool Core::post(Task task) {
  {
    const std::lock_guard lock(queue_mutex_);
    if (stopping_ || queue_.size() >= options_.most_queued) {
      ++queue_full_;
      return false;
    }
    queue_.push_back(std::move(task));
    if (queue_.size() > 1) return true;  // The core is awake, or about to look.
  }
  queue_ready_.notify_one();
  return true;
}

CoreCounters Core::counters() const {
  return {commands_, refused_, committed_, commits_, commit_us_, queue_full_};
}

void Core::run() {
  constexpr std::size_t at_once = 256;  // Then timers get a look in.
  std::deque<Task> tasks;
  while (true) {
    {
      std::unique_lock lock(queue_mutex_);
      const auto wait = std::min(next_tick_, next_round_) - clock_.now();
      queue_ready_.wait_for(lock,
                            std::chrono::microseconds(
                                std::clamp<std::int64_t>(wait.us, 0, base::milliseconds(200).us)),
                            [&] { return stopping_ || !queue_.empty(); });
      if (stopping_ && queue_.empty()) return;
      while (!queue_.empty() && tasks.size() < at_once) {
        tasks.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
    }
    const auto now = clock_.now();
    Turn turn(*this, now);
    for (auto& task : tasks) {
      task(turn);
      turn.end_task();
    }
    tasks.clear();
    finish(turn);
    run_timers(now);
  }
}

void Core::run_timers(Time now) {
  // A clock that was set back must not stop the market until it has caught up.
  next_tick_ = std::min(next_tick_, now + options_.tick);
  next_round_ = std::min(next_round_, now + options_.round);
  Turn turn(*this, now);
  const auto execute = [&](market::Command command) {
    auto events = turn.execute(market::kSystem, std::move(command));
    turn.end_task();
    return events && !events->empty();
  };
  if (now >= next_tick_) {
    next_tick_ = now + options_.tick;
    for (const auto lease : liveness_.silent(state_, turn.now()))
      execute(market::ExpireLease{lease});
    // A tick attends to a bounded number of things; go on until nothing is due.
    for (int i = 0; i < 16 && execute(market::Tick{}); ++i) {
    }
    if (every_tick_) every_tick_(turn);
  }
  if (now >= next_round_) {
    next_round_ = now + options_.round;
    base::Random random(seed_);
    for (const auto& slot_class : state_.classes) {
      market::Clear round{slot_class.id, random.next()};
      if (before_round_) before_round_(state_, now, round);
      execute(std::move(round));
    }
    seed_ = random.next();
  }
  turn.end_task();
  finish(turn);
}

// Hands a turn's events and afters to the commit thread; runs the afters at once when everything
// they could have seen is durable already.
void Core::finish(Turn& turn) {
  if (turn.events_.empty() && turn.afters_.empty()) return;
  std::unique_lock lock(pending_mutex_);
  if (turn.events_.empty() && pending_.events.empty() && !committing_) {
    lock.unlock();
    for (auto& fn : turn.afters_) fn();
    return;
  }
  const auto room = [&] {
    return pending_.events.size() < options_.most_pending &&
           pending_.writer.bytes().size() < options_.most_pending_bytes;
  };
  std::size_t next = 0;
  for (const auto end : turn.ends_) {
    if (!room()) {
      pending_ready_.notify_one();
      pending_taken_.wait(lock, room);
    }
    for (; next < end; ++next) {
      auto& committed = turn.events_[next];
      pending_.writer.add(committed.at, committed.event);
      pending_.events.push_back(std::move(committed));
    }
  }
  for (auto& fn : turn.afters_) pending_.afters.push_back(std::move(fn));
  lock.unlock();
  pending_ready_.notify_one();
}

void Core::commit_loop() {
  Group group;
  while (true) {
    {
      std::unique_lock lock(pending_mutex_);
      committing_ = false;
      pending_ready_.wait(lock, [&] {
        return commit_stopping_ || !pending_.events.empty() || !pending_.afters.empty();
      });
      if (pending_.events.empty() && pending_.afters.empty()) return;
      committing_ = true;
      std::swap(group, pending_);
      pending_.first = group.first + group.events.size();
    }
    pending_taken_.notify_one();
    commit(group);
    group.writer.clear();
    group.events.clear();
    group.afters.clear();
  }
}

void Core::commit(Group& group) {
  if (!group.events.empty()) {
    const auto began = std::chrono::steady_clock::now();
    const auto done = journal_.append({group.first, group.writer.count(), group.writer.bytes()});
    if (!done) {
      // Nothing that follows could be trusted. Whoever waits for an answer never gets one.
      fmt::print(stderr, "souk: the journal failed, so the server ends: {}\n",
                 done.error().message);
      std::fflush(stderr);
      std::_Exit(70);
    }
    const auto spent = std::chrono::steady_clock::now() - began;
    commit_us_ += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(spent).count());
    ++commits_;
    committed_ += group.events.size();
    if (observer_) observer_(group.events);
  }
  for (auto& fn : group.afters) fn();
}

}  // namespace souk::server
