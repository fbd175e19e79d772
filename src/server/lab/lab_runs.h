#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "server/lab/lab_task.h"
#include "wire/api/lab.h"

namespace souk::server {

// An experiment as the API shows it. Lists leave out what came of it.
struct LabRun {
  wire::LabRunId id;
  wire::LabKind kind = wire::LabKind::scenario;
  wire::LabState state = wire::LabState::queued;
  double progress = 0;  // From 0 to 1.
  std::string title;
  std::vector<std::string> mechanisms;
  std::int64_t seeds = 0;
  base::Time created;
  std::optional<base::Time> finished = {};
  std::optional<std::string> error = {};  // Of one that failed.
  std::optional<lab::Summary> summary = {};
  std::vector<lab::Comparison> comparisons = {};
  std::optional<lab::Replayed> replay = {};
  std::optional<std::string> scenario = {};  // Its text, as it was sent; a replay has none.

  SOUK_FIELDS(LabRun, id, kind, state, progress, title, mechanisms, seeds, created, finished, error,
              summary, comparisons, replay, scenario)
};

[[nodiscard]] inline bool is_over(wire::LabState state) {
  return state != wire::LabState::queued && state != wire::LabState::running;
}

struct LabOptions {
  base::Duration limit = base::minutes(2);  // Of one run, by the clock on the wall; 0: no lab.
  std::string journal = {};                 // The market's own; empty: it is kept in memory.
};

// The experiments of a server's people: those that wait, the one that computes, and what came of
// the others. All of it in memory, gone with the process.
//
// One computes at a time, on a thread of the lowest priority, which gives way to all others on this
// computer. A second thread, of ordinary priority, starts it, watches its time and puts its result
// away: so whoever asks here never waits for a thread that is not let run.
//
// Thread-safe. Nobody sees the runs of another account: to them there is no such run.
class LabRuns {
 public:
  static constexpr std::size_t kWaiting = 3;            // Of an account, the one that computes too,
  static constexpr std::size_t kWaitingInAll = 20;      // and of all.
  static constexpr std::size_t kKept = 20;              // Finished ones of an account, the newest.
  static constexpr std::size_t kKeptBytes = 256 << 20;  // Of all accounts; the oldest go first.

  LabRuns(const base::Clock& clock, LabOptions options);
  ~LabRuns();  // stop()

  // What a request to change something was sent with (its Idempotency-Key, and what it said).
  struct Ticket {
    std::string key;
    std::uint64_t fingerprint = 0;
  };

  // Queues it. A repeat of the same ticket gives the run that the first one made.
  Result<LabRun> add(base::AccountId who, LabTask task, const Ticket& ticket);
  // The newest first.
  [[nodiscard]] std::vector<LabRun> list(base::AccountId who) const;

  struct RunAndResult {
    LabRun run;                               // With its scenario.
    std::shared_ptr<const LabResult> result;  // Of one that is done.
  };
  [[nodiscard]] Result<RunAndResult> find(base::AccountId who, wire::LabRunId id) const;
  // Cancels a run that is not finished, forgets one that is; returns it as it is then. A repeat of
  // the ticket that cancelled it does not make it forgotten.
  Result<LabRun> remove(base::AccountId who, wire::LabRunId id, const Ticket& ticket);

  // Ends what computes, soon, and takes no more.
  void stop();

  [[nodiscard]] wire::LabLimits limits() const;
  [[nodiscard]] const std::string& journal() const { return options_.journal; }

 private:
  struct Entry;
  using EntryPtr = std::shared_ptr<Entry>;

  void run();
  Result<LabResult> compute(Entry& entry) const;
  // The others need the mutex.
  void settle(Entry& entry, Result<LabResult> result);
  void finish(Entry& entry, wire::LabState state);
  void forget_oldest();
  [[nodiscard]] Result<EntryPtr> entry_of(base::AccountId who, wire::LabRunId id) const;

  const base::Clock& clock_;
  const LabOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<wire::LabRunId, EntryPtr> runs_;
  std::deque<EntryPtr> queue_;
  EntryPtr computing_;
  std::uint64_t last_id_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace souk::server
