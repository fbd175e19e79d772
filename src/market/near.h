#pragma once

#include <string>
#include <utility>
#include <vector>

#include "market/types.h"

// Machines that lack packages: what they have instead, and whether a job could bring its own. Pure.

namespace souk::market {

// What keeps an offer from a job that demands packages.
struct NearMachine {
  OfferId offer;
  std::string machine;             // Its name.
  std::string environment;         // Of the machine; empty: the packages of its system.
  std::vector<std::string> lacks;  // "torch>=2.4 (it has 1.13.1)"

  // How far it is from having it all: a package in another version is nearer than none.
  [[nodiscard]] std::pair<std::size_t, std::size_t> distance() const;
};

// What is missing in that place of the machine where least is missing.
[[nodiscard]] NearMachine nearest(const MachineSpec& spec, const std::vector<std::string>& demands);

// Would the job run there if it brought the packages along (docs/borrowing.md, environment)? The
// machine has a Python, and the features that are demanded.
[[nodiscard]] bool takes_environments(const MachineSpec& spec,
                                      const std::vector<std::string>& demands);

}  // namespace souk::market
