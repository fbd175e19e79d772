#pragma once

#include <optional>
#include <string>

#include "base/fd.h"

// Names that one process of the machine has for itself, such as "core/3" or "gpu/GPU-5c89", until
// it lets them go or ends, however it ends.
//
// A claim is the name of a socket that no file system holds ("@souk/host/core/3"): one process has
// it, the kernel gives it back, nobody can plant a link or leave a file, and a program in a
// sandbox, which has a network of its own, cannot take it. Whoever logs in to the machine can; the
// refusal says which process it is.

namespace souk::agent {

// The names' second part: agents with another one do not see each other. For tests, it comes from
// SOUK_CORE_SCOPE. Its last 48 characters count.
std::string claim_scope();

// An open socket that keeps the name, or none when another process has it.
base::Fd claim(const std::string& name, const std::string& scope);

// Who has it: "process 4711 of user 1000". Nothing when nobody has.
std::optional<std::string> claimed_by(const std::string& name, const std::string& scope);

}  // namespace souk::agent
