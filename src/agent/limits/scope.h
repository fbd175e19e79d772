#pragma once

#include <string>
#include <vector>

namespace souk::agent {

// A shell that somebody logged in with may not make control groups. systemd makes them for whoever
// asks: a process can be started in a scope, a group that is its own.
//
// The command that starts this very program again in a scope, with its arguments; empty where there
// is no systemd-run, none that answers, or this process was started so.
std::vector<std::string> scope_command();

// Becomes that command, with the same process number, where memory cannot be limited otherwise.
// Returns where nothing is to be gained. Call before there are threads.
void enter_scope();

}  // namespace souk::agent
