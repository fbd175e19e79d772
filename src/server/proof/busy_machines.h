#pragma once

#include <map>
#include <optional>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "wire/api/heartbeat.h"
#include "wire/api/machine.h"

namespace souk::server {

// Which unproved machines say that other programs use their cores, so that their lenders and
// borrowers learn why they are not proved. A machine gains nothing by saying so, as it gets no
// lease. Beside the journal: a restart hears it again with the next heartbeats. Core thread only.
class BusyMachines {
 public:
  static constexpr auto kLongestPutOff = base::minutes(10);
  static constexpr std::int32_t kMostCores = 65'536;

  // Are its numbers possible? An error names the field and what would be accepted.
  static base::Result<> check(const wire::BusyReport& report);
  // With each heartbeat. `report` has passed check().
  void set(base::MachineId machine, const std::optional<wire::BusyReport>& report, base::Time now);
  // What it said last; nothing if it said nothing since `silence` ago.
  [[nodiscard]] std::optional<wire::BusyCores> find(base::MachineId machine, base::Time now,
                                                    base::Duration silence) const;
  // Has it been busy since it was last proved? Then it spaces its challenges itself.
  [[nodiscard]] bool was_busy(base::MachineId machine) const { return known_.contains(machine); }
  void forget(base::MachineId machine) { known_.erase(machine); }

 private:
  struct Known {
    base::Time at;  // Of the last report.
    std::optional<wire::BusyCores> busy;
  };
  std::map<base::MachineId, Known> known_;
};

}  // namespace souk::server
