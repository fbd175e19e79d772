#pragma once

#include <memory>

#include "agent/sandbox/sandbox.h"

namespace souk::agent {

// Namespaces without root, through the bwrap program: the sandbox for jobs that bring no image.
// The program sees the machine's /usr read-only, its /work, and nothing else of the owner's.
std::unique_ptr<Sandbox> make_bubblewrap();

}  // namespace souk::agent
