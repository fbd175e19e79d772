#pragma once

#include <memory>

#include "agent/sandbox/sandbox.h"

namespace souk::agent {

// No isolation at all: the program runs as the agent's own user and can do what the owner can. For
// owners who run only their own jobs. Everything it starts is still ended with it.
std::unique_ptr<Sandbox> make_bare();

// Removes scratch folders whose agent no longer exists.
void sweep_bare_folders();

}  // namespace souk::agent
