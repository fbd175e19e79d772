#pragma once

#include "agent/sandbox/sandbox_keep.h"

// The keeper's system calls: namespaces, mounts, network, stray children. As in sandbox_keep.h,
// nothing here allocates.

namespace souk::agent {

// Makes the plan's place around the calling process. Returns the step that failed, with errno.
Step make_place(const KeepArguments& arguments);

// In the program, before it is bwrap: takes an empty network, says so on `announce`, and waits: on
// `ready` until slirp4netns connected it to the internet, and closes the ways to the owner's own
// network; on `go` until the agent lets it begin (porter.h). Either may be -1. The program itself
// never gets the capability to reopen anything.
Step join_own_network(int announce, int ready, int go);

// In the calling process's network.
void turn_off_ipv6();

// SIGKILL to every child of `parent`.
void kill_children_of(pid_t parent);

void write_number(char (&out)[16], long value);

}  // namespace souk::agent
