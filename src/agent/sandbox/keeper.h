#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "agent/sandbox/sandbox_keep.h"
#include "base/result.h"
#include "base/time.h"

namespace souk::agent {

// The agent's hold on a keeper: one small process per lease that owns the program's place (user
// and mount namespaces, a scratch of fixed size), starts the program in it, reaps whatever the
// program leaves, and keeps the place until the agent has read the results. The place vanishes
// with the keeper.
//
// Keeper and agent watch each other through one socket. The usual PR_SET_PDEATHSIG would not do:
// it fires when the *thread* that forked ends, and leases outlive the agent's worker threads.
//
// Not thread-safe; may move between threads. Nothing else in the agent may wait for any child.
class Keeper {
 public:
  // Forks it and waits until the place is there. Duplicates the plan's descriptors; the caller's
  // stay the caller's.
  static base::Result<std::unique_ptr<Keeper>> launch(KeepPlan plan);
  // Ends the program and everything it started, then the keeper.
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  pid_t pid() const { return pid_; }
  void start() { order(kStart); }
  void kill() { order(kKill); }
  // The next report, or nothing within `timeout`. A keeper that somebody killed reports an end by
  // SIGKILL.
  std::optional<KeepReport> next(base::Duration timeout);

 private:
  Keeper(pid_t pid, int control) : pid_(pid), control_(control) {}
  void order(char what);

  pid_t pid_;
  int control_;
};

// "cannot mount the scratch: Operation not permitted", with a hint where one is known.
base::Error explain(const KeepReport& failure);

}  // namespace souk::agent
