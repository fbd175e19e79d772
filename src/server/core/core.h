#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "journal/journal.h"
#include "market/decide/decide.h"
#include "market/liveness.h"
#include "server/core/listening_watch.h"
#include "server/core/task_queue.h"
#include "server/record/group_commit.h"

namespace souk::server {

struct CoreCounters {
  std::uint64_t commands = 0, refused = 0;
  std::uint64_t events = 0;  // Committed, in the whole history.
  std::uint64_t commits = 0;
  std::uint64_t commit_us = 0;  // Spent in the journal, in all.
  std::uint64_t queue_full = 0;
};

// A new market sets aside so many sign-up bonuses; an operator grants the platform more.
inline constexpr std::int64_t kFirstBonuses = 20;

struct CoreOptions {
  base::Duration round = base::seconds(5);
  base::Duration tick = base::seconds(1);
  base::Credits signup_bonus = {};   // Of a market that is founded now; operators change it later.
  std::size_t most_queued = 65'536;  // Tasks waiting for the core thread; more are turned away.
  // Waiting for the journal; with more the core waits. A batch is at most this and one task's more.
  std::size_t most_pending = 65'536;
  std::size_t most_pending_bytes = 8 << 20;
  // May more be written? Asked on the core thread before a decision is applied; absent: yes.
  std::function<base::Result<>()> may_write = {};
  // A clock that nobody can set, to notice times in which the server did not listen. Without one it
  // is taken to have listened always.
  std::function<base::Duration()> steady = {};
};

// The one owner of the market state, and the only way to it.
//
// A core thread takes tasks from a queue, one after the other. A task reads the state, may execute
// commands on it, and says what to do once everything it saw is durable (its `after`). A commit
// thread appends whatever has gathered meanwhile to the journal in one batch, then runs the afters
// in order: so no answer leaves before what it tells of is on disk, and one fsync serves many. A
// failed append ends the process: memory is then ahead of the disk, and recovery replays the disk.
// What a task throws ends that task; what it executed before stays, as each command is complete by
// itself. What is thrown while a command is applied ends the process.
class Core {
 public:
  // Inside a task, on the core thread.
  class Turn {
   public:
    [[nodiscard]] const market::State& state() const { return core_.state_; }
    // Never before the state's own time, whatever the clock says.
    [[nodiscard]] base::Time now() const { return now_; }
    [[nodiscard]] market::Liveness& liveness() { return core_.liveness_; }
    // Decides, and if it is not refused applies and queues for the journal.
    base::Result<market::Events> execute(const market::Actor& actor, market::Command command);
    // Applies an event that is no decision: the answer to an idempotency key.
    void record(market::Event event) noexcept;
    // Runs on the commit thread (or here and now, when nothing is waiting to become durable).
    void after(GroupCommit::After fn) { afters_.push_back(std::move(fn)); }
    // What the events of the task so far take in the journal.
    [[nodiscard]] std::size_t task_bytes() const;

   private:
    friend class Core;
    Turn(Core& core, base::Time now) : core_(core), now_(std::max(now, core.state_.now)) {}
    void end_task() { ends_.push_back(events_.size()); }
    void apply(const market::Decision& decision) noexcept;
    Core& core_;
    base::Time now_;
    std::vector<Committed> events_;
    std::vector<std::size_t>
        ends_;  // Of each task in `events_`: its events are committed together.
    std::vector<GroupCommit::After> afters_;
  };
  using Task = std::move_only_function<void(Turn&)>;
  // Sees committed batches in order, on the commit thread, before their afters run.
  using Observer = GroupCommit::Observer;
  // See before_round().
  using BeforeRound = std::function<bool(const market::State&, base::Time, market::Clear&)>;

  // Takes over a state that holds all of the journal's events. An empty journal gets the founding
  // events first. Nothing runs before start().
  Core(market::State state, journal::Journal& journal, const base::Clock& clock,
       CoreOptions options);
  ~Core();  // stop()

  void observe(Observer observer);  // Before start().
  // Called with each decision that is not refused, before it is applied. True: commands were
  // executed meanwhile, so the decision is made again. Before start().
  void before_apply(std::function<bool(Turn&, const market::Events&)> fn);
  // Sees each event on the core thread, right after the decision it is part of was applied.
  void on_applied(std::function<void(const market::State&, const Committed&)> fn);  // Likewise.
  // Called about once a second on the core thread, with its turn. Before start().
  void every_tick(std::function<void(Turn&)> fn);
  // Called when a round of a class is due: adds what a round may know of the world, such as which
  // machines hold what its jobs need. False: no round now; whoever said so brings it as a task of
  // its own. Before start().
  void before_round(BeforeRound fn);
  void start();
  // Finishes what is queued, commits it, runs the afters, joins the threads.
  void stop();

  // From any thread. False when the queue is full or the core has stopped; the task is dropped.
  bool post(Task task);
  [[nodiscard]] CoreCounters counters() const;
  // Work on the journal, between commits (GroupCommit::upkeep). From any one thread but the core's
  // own, between start() and stop().
  [[nodiscard]] base::Result<> upkeep(const GroupCommit::Upkeep& piece) {
    return commits_.upkeep(piece);
  }
  // For use after stop() or before start().
  [[nodiscard]] const market::State& state() const { return state_; }

 private:
  void run();
  void note_stall(base::Time now);
  void run_timers(base::Time now);
  void finish(Turn& turn);

  market::State state_;
  market::Liveness liveness_;
  const base::Clock& clock_;
  const CoreOptions options_;
  std::function<bool(Turn&, const market::Events&)> before_apply_;
  std::function<void(const market::State&, const Committed&)> on_applied_;
  std::function<void(Turn&)> every_tick_;
  BeforeRound before_round_;
  base::Time next_tick_, next_round_;
  ListeningWatch listening_;
  base::Time patient_until_;   // After a time in which nobody listened.
  std::uint64_t seed_;         // Of the next round's draws.
  const std::uint64_t began_;  // With so many events.
  std::atomic<std::uint64_t> commands_ = 0, refused_ = 0, queue_full_ = 0;
  TaskQueue<Task> queue_;
  GroupCommit commits_;
  std::thread thread_;
};

}  // namespace souk::server
