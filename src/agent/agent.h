#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/probe/busy.h"
#include "agent/runner.h"
#include "base/id.h"
#include "base/time.h"

namespace souk::agent {

struct AgentOptions {
  base::MachineId machine;
  BusyOptions busy = {};                     // Which cores others may use, too.
  bool once = false;                         // Return after the first lease has ended.
  base::Duration drain = base::seconds(90);  // How long run() takes at most once told to end.
  // Called when the owner is back (true) and gone again (false): no new leases, please.
  std::function<void(bool)> on_owner = [](bool) {};
  // Is the owner using the machine? Asked every `owner_every`, with the processor time that the
  // borrowed programs have used in all. Empty: never.
  std::function<bool(double programs_cpu_seconds)> owner_is_here = {};
  base::Duration notice = base::seconds(30);        // To the programs, when the owner is back.
  base::Duration owner_every = base::seconds(1);    // How often to look for the owner.
  base::Duration after_trouble = base::seconds(1);  // Until a market that failed is asked again.
  // For machines that somebody pays for: end after so long without a lease, or without an answer
  // of the market, whatever runs. Zero: never.
  base::Duration exit_idle = {};
  base::Duration exit_alone = {};
  // Before it ends for want of leases (true), so that none is granted meanwhile; and when one came
  // all the same (false).
  std::function<void(bool)> on_idle = [](bool) {};
};

// One machine's agent: learns of leases by long poll, has a Runner for each, sends heartbeats and
// follows orders. Connects outward, and opens a port only while a gang forms (network/gang_link.h)
// or to share chunks (peers/chunk_server.h). A server that is away delays reports and nothing else.
class Agent {
 public:
  Agent(AgentOptions options, Workshop& workshop);
  ~Agent();

  // Until stop(), or with `once` until the first lease has ended. Drains what runs, then returns.
  // True: with `once`, the lease succeeded. Fails when the market refuses this machine.
  base::Result<bool> run();
  // From any thread.
  void stop();

 private:
  base::Result<> poll(Link& link);
  base::Result<> take_up(Link& link, const wire::OpenLeases& work);
  void beat_loop(Link& link);
  base::Result<> beat(Link& link);
  void obey(const wire::Order& order);
  base::Result<> meet(Link& link, const wire::Challenge& first);
  void drain_all(base::Time until, const std::string& reason);
  void reap();
  void watch_owner();
  bool has_no_use(Link& link);
  [[nodiscard]] std::size_t running() const;
  [[nodiscard]] double programs_cpu_seconds() const;
  [[nodiscard]] base::Time now() const { return shop_.clock->now(); }

  const AgentOptions options_;
  Workshop& shop_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> tell_holdings_ = true;
  bool owner_here_ = false;
  std::atomic<double> ended_cpu_seconds_ = 0;  // Of programs that have ended.
  BusyWatch busy_;                             // Of the thread that sends heartbeats.

  mutable std::mutex mutex_;  // Guards what follows.
  std::map<base::LeaseId, std::unique_ptr<Runner>> runners_;
  base::Duration beat_every_ = base::seconds(5);
  bool beat_now_ = false, beats_end_ = false;
  std::size_t ended_ = 0, succeeded_ = 0;
  Link* polling_ = nullptr;  // What stop() interrupts.
  std::condition_variable wake_;

  std::chrono::steady_clock::time_point heard_, used_;  // The market; a lease. Last.
  std::uint64_t seen_ = 0;
  bool asked_ = false;
  std::vector<std::string> told_holdings_;  // Of the thread that sends heartbeats.
};

}  // namespace souk::agent
