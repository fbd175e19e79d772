#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/vocabulary.h"
#include "market/state.h"

namespace souk::market {

using base::Obstacle;

// Does the machine have all that is demanded of it? Features ("@internet") are listed among its
// packages; the rest must be there together, among its packages or in one of its environments.
[[nodiscard]] bool has_all(const MachineSpec& spec, const std::vector<std::string>& demands);

// What a job demands of the machines it runs on: jobs with equal demands see the same supply.
struct Demands {
  Constraints constraints;
  std::vector<MachineId> avoided;  // For now, sorted.
  MachineId only = {};             // This machine and no other: where a probe is aimed.
  bool guest = false;              // Of its class: it gets what those who need the class leave.

  auto operator<=>(const Demands&) const = default;
  [[nodiscard]] bool none() const { return *this == Demands{}; }
};

[[nodiscard]] Demands demands_of(const Job& job, Time now);

// Every demand that this machine does not meet.
[[nodiscard]] std::vector<Obstacle> unmet(const Demands& d, const Machine& m);
// Whether there is none; stops at the first.
[[nodiscard]] bool meets(const Demands& d, const Machine& m);

// How fast one core of it is, as its last challenge measured; a core of ten years ago has 1.
[[nodiscard]] std::optional<double> core_speed(const Machine& m);

}  // namespace souk::market
