#pragma once

#include <span>
#include <string>

#include "agent/probe/environments.h"
#include "agent/sandbox/sandbox.h"

// The packages that a lease's program sees: one of the lender's environments, then the job's own on
// top of it. Pure but for what the environments are.

namespace souk::agent {

// Where a program finds the packages that its job brought along, in a sandbox.
inline constexpr const char* kJobEnvironment = "/env";

// The first that has all that is demanded; null: none, and the system's packages are used. A job
// that demands nothing gets the first.
[[nodiscard]] const LentEnvironment* choose_environment(std::span<const LentEnvironment> lent,
                                                        std::span<const std::string> demands);

// Its programs come before all others, where they are on this machine, read-only.
void enter_lent(const LentEnvironment& environment, Program& program);

// `folder`, as the program sees it, holds packages; they come before those of any Python.
void enter_own(const std::string& folder, Program& program);

}  // namespace souk::agent
