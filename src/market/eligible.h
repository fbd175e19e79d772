#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/vocabulary.h"
#include "market/state.h"

namespace souk::market {

using base::Obstacle;

// Does a machine that lists `installed` have `wanted`? "numpy" is met by "numpy==1.24.2";
// "numpy==1.24.2" only by itself.
[[nodiscard]] bool has_package(const std::vector<std::string>& installed, std::string_view wanted);

// What a job demands of the machines it runs on: jobs with equal demands see the same supply.
struct Demands {
  Constraints constraints;
  std::vector<MachineId> avoided;  // For now, sorted.
  MachineId only = {};             // This machine and no other: where a probe is aimed.

  auto operator<=>(const Demands&) const = default;
  [[nodiscard]] bool none() const { return *this == Demands{}; }
};

[[nodiscard]] Demands demands_of(const Job& job, Time now);

// Every demand that this machine does not meet.
[[nodiscard]] std::vector<Obstacle> unmet(const Demands& d, const Machine& m);
// Whether there is none; stops at the first.
[[nodiscard]] bool meets(const Demands& d, const Machine& m);

}  // namespace souk::market
