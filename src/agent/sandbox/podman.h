#pragma once

#include <memory>

#include "agent/sandbox/sandbox.h"

namespace souk::agent {

// Containers, for jobs that bring an image. Images are never pulled here: the agent loads them.
std::unique_ptr<Sandbox> make_podman();

}  // namespace souk::agent
