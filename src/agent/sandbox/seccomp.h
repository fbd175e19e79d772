#pragma once

#include <string>

#include "base/result.h"

namespace souk::agent {

// The system call filter as the kernel's BPF program, for `bwrap --seccomp`. It denies what no
// training program needs and what kernels were broken through; the lists are in seccomp.cc.
base::Result<std::string> seccomp_filter();

}  // namespace souk::agent
