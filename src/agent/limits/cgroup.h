#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/sandbox/sandbox.h"
#include "base/result.h"

namespace souk::agent {

// Where in the control group tree one kind of limit is set for this process's children.
struct CgroupPlace {
  std::string controller;  // memory, pids, cpu, cpuacct (version 1 only), io (version 2 only).
  std::string folder;
};

// The control groups of one lease, in one or several trees. Destroying it kills what is inside and
// removes them.
class Cgroup {
 public:
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // A process that writes "0" to each of these enters, with all its later children.
  const std::vector<int>& entrances() const { return entrances_; }
  // Whether it knows processor time, memory and processes.
  bool measures_all() const;
  // Fills in what the groups know; leaves the rest.
  void measure(Usage& usage) const;
  // How many processes the kernel killed here because memory ran out.
  std::int64_t out_of_memory_kills() const;
  void kill() const;

 private:
  friend class Cgroups;
  Cgroup() = default;
  std::string file(std::string_view controller, std::string_view name) const;

  bool version2_ = false;
  std::vector<CgroupPlace> groups_;
  std::vector<int> entrances_;
};

// What this process may do with control groups: nothing, or version 1, or version 2. Limits that
// are not in `places` must be set another way.
class Cgroups {
 public:
  // Tries it out, because permissions and mounts only tell half. Under version 2 a group with
  // processes cannot have limited subgroups, so this process may move to a subgroup of its own.
  static Cgroups find(const std::string& root = default_root(),
                      const std::string& self = "/proc/self/cgroup");
  // /sys/fs/cgroup, or what SOUK_CGROUPS names: a folder that does not exist makes an agent do
  // without, as on machines that have none.
  static std::string default_root();

  bool has(std::string_view controller) const;
  bool version2() const { return version2_; }
  const std::vector<CgroupPlace>& places() const { return places_; }

  // A new group with these limits. Memory never swaps where the kernel can tell.
  base::Result<std::unique_ptr<Cgroup>> create(const Limits& limits) const;
  // Kills and removes the groups of agents that no longer exist.
  void sweep() const;

 private:
  bool version2_ = false;
  std::vector<CgroupPlace> places_;
};

// "<pid>-<start time>-<PID namespace>": names this process among all that ever ran since boot.
std::string owner_mark();
// Does the process that `mark` begins with still exist? One of another PID namespace cannot be
// seen from here, and so it does.
bool owner_exists(std::string_view mark);

}  // namespace souk::agent
