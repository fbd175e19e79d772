#include "server/core/core.h"

#include <spdlog/spdlog.h>

#include <deque>
#include <utility>

#include "base/random.h"
#include "server/core/contain.h"

namespace souk::server {

using base::Time;
using market::Event;

base::Result<market::Events> Core::Turn::execute(const market::Actor& actor,
                                                 market::Command command) {
  ++core_.commands_;
  const market::Request request{now_, actor, std::move(command)};
  auto decision = market::decide(core_.state_, request);
  if (decision && core_.before_apply_ && core_.before_apply_(*this, decision->events))
    decision = market::decide(core_.state_, request);
  if (decision && !decision->events.empty() && core_.options_.may_write)
    if (auto room = core_.options_.may_write(); !room)
      decision = std::unexpected(std::move(room).error());
  if (!decision) {
    ++core_.refused_;
    return std::unexpected(std::move(decision).error());
  }
  apply(*decision);
  return std::move(decision->events);
}

// A state that is half changed, or ahead of the journal, is of no use to anybody: what is thrown
// here ends the process.
void Core::Turn::apply(const market::Decision& decision) noexcept {
  for (const auto& event : decision.events) market::apply(core_.state_, decision.at, event);
  auto number = core_.state_.events - decision.events.size();
  for (const auto& event : decision.events) {
    core_.liveness_.observe(event, core_.state_.now);
    events_.push_back({++number, core_.state_.now, event});
    if (core_.on_applied_) core_.on_applied_(core_.state_, events_.back());
  }
}

void Core::Turn::record(Event event) noexcept {
  const auto at = std::max(now_, core_.state_.now);
  market::apply(core_.state_, at, event);
  events_.push_back({core_.state_.events, at, std::move(event)});
}

std::size_t Core::Turn::task_bytes() const {
  codec::EventWriter writer;
  for (auto i = ends_.empty() ? 0 : ends_.back(); i < events_.size(); ++i)
    writer.add(events_[i].at, events_[i].event);
  return writer.bytes().size();
}

Core::Core(market::State state, journal::Journal& journal, const base::Clock& clock,
           CoreOptions options)
    : state_(std::move(state)),
      clock_(clock),
      options_(options),
      began_(state_.events),
      queue_(options_.most_queued),
      commits_(journal, {options_.most_pending, options_.most_pending_bytes}) {
  CHECK(state_.events + 1 == journal.next());
  const auto now = clock_.now();
  liveness_.reset(state_, now);
  next_tick_ = now + options_.tick;
  next_round_ = now + options_.round;
  seed_ = static_cast<std::uint64_t>(now.us);
}

Core::~Core() { stop(); }

void Core::observe(Observer observer) { commits_.observe(std::move(observer)); }
void Core::before_apply(std::function<bool(Turn&, const market::Events&)> fn) {
  before_apply_ = std::move(fn);
}
void Core::on_applied(std::function<void(const market::State&, const Committed&)> fn) {
  on_applied_ = std::move(fn);
}
void Core::before_round(BeforeRound fn) { before_round_ = std::move(fn); }
void Core::every_tick(std::function<void(Turn&)> fn) { every_tick_ = std::move(fn); }

void Core::start() {
  if (state_.events == 0)
    post([bonus = options_.signup_bonus](Turn& turn) {
      for (auto& event : market::founding_events()) turn.record(std::move(event));
      if (bonus <= base::Credits()) return;
      auto settings = turn.state().settings;
      settings.signup_bonus = bonus;
      turn.record(market::SettingsChanged{settings});
      turn.record(market::CreditsGranted{
          ledger::kPlatform, base::Credits(bonus.micro * kFirstBonuses), "sign-up bonuses"});
    });
  commits_.start(state_.events + 1);
  thread_ = std::thread([this] { run(); });
}

void Core::stop() {
  if (!thread_.joinable()) return;
  queue_.close();
  thread_.join();
  commits_.stop();
}

bool Core::post(Task task) {
  if (queue_.push(std::move(task))) return true;
  ++queue_full_;
  return false;
}

CoreCounters Core::counters() const {
  return {.commands = commands_,
          .refused = refused_,
          .events = began_ + commits_.committed(),
          .commits = commits_.commits(),
          .commit_us = commits_.spent_us(),
          .queue_full = queue_full_};
}

void Core::run() {
  constexpr std::size_t at_once = 256;  // Then timers get a look in.
  std::deque<Task> tasks;
  while (true) {
    const auto wait = std::min(next_tick_, next_round_) - clock_.now();
    if (!queue_.take(std::clamp(wait, base::Duration(), base::milliseconds(200)), at_once, tasks))
      return;
    const auto now = clock_.now();
    note_stall(now);
    Turn turn(*this, now);
    for (auto& task : tasks) {
      contain("a task of the core", [&] { task(turn); });
      turn.end_task();
    }
    tasks.clear();
    finish(turn);
    run_timers(now);
  }
}

// Silence counts only while somebody listened, and whoever waited to be heard gets the time for it.
void Core::note_stall(Time now) {
  if (!options_.steady) return;
  const auto missed = listening_.missed(now, options_.steady());
  if (missed == base::Duration()) return;
  spdlog::warn("nobody was listened to for {}", to_string(missed));
  liveness_.forgive(missed, now);
  patient_until_ = now + std::min(missed, state_.settings.silence);
}

void Core::run_timers(Time now) {
  // A clock that was set back must not stop the market until it has caught up.
  next_tick_ = std::min(next_tick_, now + options_.tick);
  next_round_ = std::min(next_round_, now + options_.round);
  patient_until_ = std::min(patient_until_, now + state_.settings.silence);
  Turn turn(*this, now);
  const auto execute = [&](market::Command command) {
    auto events = turn.execute(market::kSystem, std::move(command));
    turn.end_task();
    return events && !events->empty();
  };
  if (now >= next_tick_) {
    next_tick_ = now + options_.tick;
    if (now >= patient_until_) {
      for (const auto lease : liveness_.silent(state_, turn.now()))
        execute(market::ExpireLease{lease});
      for (const auto lease : liveness_.untaken(state_, turn.now()))
        execute(market::ExpireLease{lease, true});
      // A tick attends to a bounded number of things; go on until nothing is due.
      for (int i = 0; i < 16 && execute(market::Tick{liveness_.fetching(state_, turn.now()),
                                                     liveness_.gone_silent(state_, turn.now())});
           ++i) {
      }
    }
    if (every_tick_) contain("a tick", [&] { every_tick_(turn); });
  }
  if (now >= next_round_) {
    next_round_ = now + options_.round;
    base::Random random(seed_);
    const auto unheard = liveness_.unheard(state_, turn.now());
    for (const auto& slot_class : state_.classes) {
      market::Clear round{slot_class.id, random.next()};
      round.unheard = unheard;
      contain("a round", [&] {
        if (before_round_ && !before_round_(state_, turn.now(), round)) return;
        execute(std::move(round));
      });
    }
    seed_ = random.next();
  }
  turn.end_task();
  finish(turn);
}

void Core::finish(Turn& turn) { commits_.add(turn.events_, turn.ends_, turn.afters_); }

}  // namespace souk::server
