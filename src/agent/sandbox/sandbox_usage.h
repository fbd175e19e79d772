#pragma once

#include <sys/types.h>

#include <vector>

#include "agent/sandbox/sandbox.h"

namespace souk::agent {

struct HostProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  double cpu_seconds = 0;  // With that of the children it has waited for.
  double own_cpu_seconds = 0;
  std::int64_t memory_bytes = 0;
};

// All that `root` started, directly or not, as of one walk through /proc; `root` comes first.
// Empty if it is gone.
std::vector<HostProcess> tree_of(pid_t root);

// Usage from the tree under `keeper`, where no control group counts it. Pages that processes share
// count for each of them.
void measure_tree(pid_t keeper, Usage& usage);

// The same where the lease's processes are known already: nobody else's are read. Memory is left.
void measure_processes(pid_t keeper, const std::vector<pid_t>& processes, Usage& usage);

// Bytes used of the file system that `path` lies on.
std::int64_t used_bytes(const std::string& path);

// What passed through the network interfaces that `pid` sees, but for loopback. For a program with
// a network namespace of its own.
void measure_network(pid_t pid, Usage& usage);

// The program that bwrap runs under `keeper`: the second process of its PID namespace, or 0.
pid_t program_in_namespace(pid_t keeper);
// The keeper's own child, or 0.
pid_t program_of(pid_t keeper);

}  // namespace souk::agent
