#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hub/hub.h"
#include "server/core/core.h"

namespace souk::server {

// Pays what hubs owe for accepted work, each wage once, and before anything closes its lease
// (docs/decisions/0024-wages.md). Core thread only, but for recall().
class Payroll {
 public:
  explicit Payroll(hub::Hub& hub) : hub_(hub) {}

  // Notes what the snapshots of live trainings say is owed: their hubs may stay closed for long.
  // Reads the disk. Before the core starts.
  void recall(const market::State& s);

  // A decision has been made and not applied. If it closes leases that are paid by work, their hubs
  // accept nothing more of them, and what is owed is paid. True: something was paid, so the
  // decision must be made again.
  bool before_apply(Core::Turn& turn, const market::Events& events);

  // Pays what the run owes. It is told so once that is durable.
  bool pay(Core::Turn& turn, const std::shared_ptr<hub::Run>& run);
  // The same, and then ends the job with this result.
  void pay_and_end(Core::Turn& turn, base::JobId job, const std::shared_ptr<hub::Run>& run,
                   const hub::TrainingResult& result);
  // Pays what is still owed because a task was dropped.
  void on_tick(Core::Turn& turn);

 private:
  static void pay(Core::Turn& turn, const hub::Wage& wage);
  bool pay_recalled(Core::Turn& turn, base::JobId job);

  hub::Hub& hub_;
  std::map<base::JobId, std::vector<hub::Wage>> recalled_;  // Of hubs that are closed.
};

}  // namespace souk::server
