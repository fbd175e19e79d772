#pragma once

#include <string>
#include <vector>

#include "agent/probe/environments.h"
#include "agent/probe/probe.h"
#include "base/result.h"
#include "wire/api/machine.h"

// `souk lend --env`: what of a machine's packages the market hears of.

namespace souk::cli {

// What the flags name. No two have one name.
[[nodiscard]] base::Result<std::vector<agent::LentEnvironment>> lent_environments(
    const std::vector<std::string>& given);

// Adds the packages of the system and of the environments to `spec`, as many as a market takes:
// first those of the environments, in their order. Returns what the owner should know.
[[nodiscard]] std::vector<std::string> list_packages(
    const agent::Machine& machine, const std::vector<agent::LentEnvironment>& environments,
    wire::MachineSpec& spec);

// "venv, Python 3.12.3, 213 packages, torch 2.4.0, CUDA 12.4".
[[nodiscard]] std::string describe(const agent::LentEnvironment& environment);

}  // namespace souk::cli
