#pragma once

#include <memory>
#include <string>

#include "agent/limits/cgroup.h"
#include "agent/limits/cores.h"
#include "agent/limits/disk_scratch.h"
#include "agent/sandbox/keeper.h"
#include "agent/sandbox/sandbox.h"
#include "base/fd.h"
#include "base/result.h"

// What the three sandboxes share: a process under a keeper, with or without a control group.

namespace souk::agent {

using base::Fd;

// A sealed file in memory that holds `content`, read from its beginning.
base::Result<Fd> memory_file(const char* name, std::string_view content);

struct ProcessParts {
  std::unique_ptr<Cgroup> cgroup;  // May be none. Removed after the keeper ended.
  std::unique_ptr<Keeper> keeper;
  CoreDesk::Grant cores;  // Where no control group divides their time.
  Limits limits;
  std::string scratch;
  bool own_network = false;             // It has a network namespace with a way out.
  std::string remove_at_end;            // A folder, or empty.
  bool watch_memory = false;            // Nothing else limits it: lease_watch.h.
  std::string memory_scratch;           // What lies in memory, where something does.
  DiskScratch disk;                     // What lies on a disk, where something does.
  uid_t scratch_owner = 0;              // Who gets what lies in scratch at the start; 0: unchanged.
  int first_failure_code = 256;         // From here to 127: the program was not started.
  Fd status;                            // bwrap's --json-status-fd, where there is one.
  pid_t (*find_program)(pid_t keeper);  // Whom terminate() signals.
};

std::unique_ptr<Process> make_process(ProcessParts parts);

// Refuses what no sandbox can run.
base::Result<> check_program(const Program& program);

// Of sandboxes that give none.
base::Result<> check_no_network(const Program& program, std::string_view sandbox);

// A user that exists nowhere else, for one program of a root agent. As root without capabilities
// it could still write what root owns, such as /proc/sys/kernel/core_pattern, through which the
// kernel starts a program outside every sandbox.
uid_t unused_user();

// Fills in the scratch of fixed size, the inputs under it, and where the output goes.
void plan_scratch(const Program& program, KeepPlan& plan);

// Makes the scratch on disk that a program asks for, if it does. Keep it while the program runs.
[[nodiscard]] base::Result<DiskScratch> plan_disk(const Program& program, KeepPlan& plan);

// Where the agent sees the scratch that lies in memory, of a keeper with mounts of its own.
std::string memory_scratch_of(pid_t keeper);

// PATH, HOME and the like, then the program's own: "NAME=value" each.
std::map<std::string, std::string> environment(const Program& program, const std::string& home);
std::vector<std::string> environment_block(const std::map<std::string, std::string>& env);

// Limits that do not need control groups, for those controllers that are missing: but for memory,
// which is then watched. Keep the cores while the program runs.
[[nodiscard]] CoreDesk::Grant limit_without_groups(const Cgroups& cgroups, const Limits& limits,
                                                   KeepPlan& plan);

// The sentences about memory, processes and cores that follow from what control groups allow.
std::vector<Finding> group_findings(const Cgroups& cgroups);

// Removes a folder whose programs are gone, also where they took away the right to look inside.
void remove_tree(const std::string& folder);

// The first of `paths` that can be executed, or "".
std::string find_tool(std::initializer_list<const char*> paths);

}  // namespace souk::agent
