#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/id.h"
#include "hub/folding/folding.h"
#include "hub/remote.h"
#include "hub/run/turns.h"
#include "hub/run/unit_book.h"
#include "hub/stores/store.h"
#include "wire/api/training.h"

namespace souk::hub {

// Folding at hubs: workers send their updates there. What is believed, and in which order updates
// are folded, is still decided by the market: a hub measures an update, and folds it when it is
// told to. An update is folded before it is accepted, because a hub may be gone at any time: what
// is not in the parameters does not count as done. One whose hub is lost before that is nobody's
// fault: its unit is done again. One whose hub gave no answer counts if it was folded, and else
// never is.
//
// Thread-safe; its lock is not held while a hub or the store is talked to.
class HubFolding {
 public:
  // How the hubs know this training.
  struct Names {
    std::string job;
    std::string generation;
    train::AggregatorSpec aggregator;
  };
  HubFolding(Remote& hubs, Names names, UnitBook& book, ParameterStore& store, Folding& folding,
             Turns& turns, const base::Clock& clock);

  // Nothing: no hub is to be used for this unit.
  [[nodiscard]] std::optional<std::size_t> choose(base::LeaseId worker, const train::Unit& unit);
  // What the worker needs to use it.
  [[nodiscard]] wire::UnitHub pass(const train::Unit& unit, std::size_t hub) const;

  // The verdict about an update that lies at the report's hub, in this codec. An error: neither the
  // hub nor the store could say whether it was folded; the worker asks again.
  base::Result<wire::UnitVerdict> judge(OpenReport& report, const wire::UnitDone& done,
                                        const std::string& codec);
  // The worker sent to the market what was meant for a hub.
  void bypassed(const OpenReport& report);
  // What came too late is not kept there.
  void drop(std::int64_t unit, std::size_t hub);
  void forget(base::LeaseId worker);

 private:
  using Claim = train::Session::Claim;
  // Of a worker whose updates did not reach the hubs they were to use.
  struct HubFailures {
    int times = 0;
    base::Time until;  // Until then it uses none.
  };

  [[nodiscard]] Remote::Name name_of(std::int64_t unit, std::size_t hub) const;
  base::Result<std::optional<std::int64_t>> fold(const Remote::Name& name, const Claim& claim,
                                                 const std::string& codec);
  [[nodiscard]] std::optional<Claim> unsettled(const OpenReport& report) const;
  void unsettle(base::LeaseId worker, Claim claim);
  void settle(base::LeaseId worker, bool reached);
  void failed(base::LeaseId worker);

  Remote& hubs_;
  const Names names_;
  UnitBook& book_;
  ParameterStore& store_;
  Folding& folding_;
  Turns& turns_;
  const base::Clock& clock_;

  mutable std::mutex mutex_;  // Guards what follows.
  std::map<base::LeaseId, HubFailures> failures_;
  // Believed, but it is not known whether they were folded. Of each worker its latest.
  std::map<base::LeaseId, Claim> unsettled_;
};

}  // namespace souk::hub
