#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/time.h"
#include "codec/events.h"
#include "journal/journal.h"
#include "market/events.h"

namespace souk::server {

// One committed event, as observers see it.
struct Committed {
  std::uint64_t number = 0;
  base::Time at;
  market::Event event;
};

// Makes events durable. A thread of its own appends whatever has gathered to the journal in one
// batch, tells the observer, and then runs what waited for it, in order: one fsync serves many.
// While it waits for the disk, more may gather; with too much of it add() waits.
//
// A failed append ends the process: memory is then ahead of the disk, and recovery replays the
// disk. add() is for one thread.
class GroupCommit {
 public:
  using After = std::move_only_function<void()>;
  using Observer = std::function<void(std::span<const Committed>)>;
  // A small piece of work on the journal; true: there is more to do.
  using Upkeep = std::function<base::Result<bool>(journal::Journal&)>;
  struct Limits {  // Of what waits. A batch is at most this and one task's more.
    std::size_t events, bytes;
  };

  GroupCommit(journal::Journal& journal, Limits limits) : journal_(journal), limits_(limits) {}
  ~GroupCommit() { stop(); }

  // Sees committed batches in order, before what waited for them runs. Before start().
  void observe(Observer observer) { observer_ = std::move(observer); }
  void start(std::uint64_t first);  // The number of the next event.
  void stop();                      // Commits what has gathered, and joins the thread.

  // `ends` are the ends of tasks in `events`: what one task did is committed together. The afters
  // run here and now when everything they could have seen is durable already.
  void add(std::vector<Committed>& events, std::span<const std::size_t> ends,
           std::vector<After>& afters);

  // Calls `piece` on the commit thread until it has nothing more to do, and waits for that. Between
  // two calls what has gathered is committed, so nobody waits for more than a piece. Its error is
  // returned if it is `invalid`, and else ends the process like that of an append. One caller at a
  // time, between start() and stop().
  [[nodiscard]] base::Result<> upkeep(const Upkeep& piece);

  [[nodiscard]] std::uint64_t commits() const { return commits_; }
  [[nodiscard]] std::uint64_t committed() const { return committed_; }  // Events, since start().
  [[nodiscard]] std::uint64_t spent_us() const { return spent_us_; }    // In the journal.

 private:
  struct Group {
    codec::EventWriter writer;
    std::uint64_t first = 0;
    std::vector<Committed> events;
    std::vector<After> afters;
  };
  void run();
  void commit(Group& group);
  void run_upkeep(const Upkeep& piece);

  journal::Journal& journal_;
  const Limits limits_;
  Observer observer_;
  std::mutex mutex_;
  std::condition_variable ready_, taken_, kept_;
  Group pending_;
  const Upkeep* upkeep_ = nullptr;  // Somebody waits for its end,
  base::Result<> upkept_;           // which was this.
  bool committing_ = false;         // A group is out of `pending_` and not yet done.
  bool stopping_ = false;
  std::atomic<std::uint64_t> commits_ = 0, committed_ = 0, spent_us_ = 0;
  std::thread thread_;
};

}  // namespace souk::server
