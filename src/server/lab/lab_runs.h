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
#include "server/lab/lab_run.h"
#include "server/lab/lab_store.h"
#include "server/lab/lab_task.h"
#include "wire/api/lab.h"

namespace souk::server {

struct LabOptions {
  base::Duration limit = base::minutes(2);  // Of one run, by the clock on the wall; 0: no lab.
  std::string journal = {};                 // The market's own; empty: it is kept in memory.
  std::string folder = {};  // Where an earlier version kept runs: they are taken over.
};

// The experiments of a server's people: those that wait, the one that computes, and what came of
// the others. What there is, is in the records too: after a restart the finished ones are there
// with what came of them, and those that waited or computed are interrupted, with the scenario that
// starts them again.
//
// One computes at a time, on a thread of the lowest priority, which gives way to all others on this
// computer. A second thread, of ordinary priority, starts it, watches its time and puts its result
// away: so whoever asks here never waits for a thread that is not let run.
//
// Thread-safe. Nobody sees the runs of another account: to them there is no such run.
class LabRuns {
 public:
  static constexpr std::size_t kWaiting = 3;        // Of an account, the one that computes too,
  static constexpr std::size_t kWaitingInAll = 20;  // and of all.
  static constexpr std::size_t kKept = 20;          // Finished ones of an account, the newest.
  // Of one account, its newest run in any case; and of all accounts. The oldest go first.
  static constexpr std::size_t kKeptBytesEach = 64 << 20;
  static constexpr std::size_t kKeptBytes = 256 << 20;

  // `records`: where runs are kept; null: nowhere. Outlives it.
  LabRuns(const base::Clock& clock, LabOptions options, journal::Records* records = nullptr);
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

  void recall();
  void run();
  Result<LabResult> compute(Entry& entry) const;
  // The others need the mutex.
  void settle(Entry& entry, Result<LabResult> result);
  void finish(Entry& entry, wire::LabState state);
  // The process ended, or ends, before it did.
  void interrupt(Entry& entry);
  void keep(const Entry& entry) const;
  void forget_oldest();
  [[nodiscard]] Result<EntryPtr> entry_of(base::AccountId who, wire::LabRunId id) const;

  const base::Clock& clock_;
  const LabOptions options_;
  const LabStore store_;  // Used with the mutex.
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
