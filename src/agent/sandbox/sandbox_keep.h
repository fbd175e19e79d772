#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/sandbox/network_device.h"
#include "base/fields.h"

// What the keeper does after the fork. The agent has threads, so between fork and exec only system
// calls are safe: everything here was prepared before, nothing allocates or takes a lock.

namespace souk::agent {

// Where the keeper mounts scratch in its own view of the file system. It exists on every Linux, no
// input lies under it, and nothing has to be created on (or cleaned from) the owner's disk.
inline constexpr const char* kScratchPoint = "/dev/shm";
inline constexpr const char* kWork = "/dev/shm/work";
inline constexpr const char* kTmp = "/dev/shm/tmp";
inline constexpr const char* kShm = "/dev/shm/shm";
inline constexpr const char* kInputs = "/dev/shm/in";

SOUK_ENUM(Place, folder, mounts, user)

struct StagedInput {
  std::string from;
  std::string to;  // Under kInputs.
  bool folder = false;
};

// All that a keeper needs to know. Descriptors are 10 or more (Keeper moves them).
struct KeepPlan {
  std::vector<std::string> argv;
  std::vector<std::string> env;
  Place place = Place::folder;  // Nothing mounted; own mounts; own users and mounts.
  uid_t become = 0;             // When root: owns the scratch; with Place::user the keeper, too.
  std::string tmpfs_options;
  std::string disk_device;  // A /work on a disk: a device with a file system,
  std::string disk_folder;  // or a folder. At most one.
  std::vector<StagedInput> inputs;
  std::vector<int> entrances;  // Of control groups, entered by the program.
  std::vector<std::pair<int, rlim_t>> rlimits;
  std::optional<cpu_set_t> cpus;
  int output_fd = -1;
  int talk_fd = -1;                  // Or none.
  std::vector<int> passed;           // The program's descriptors 3, 4, ...
  std::string folder = "/";          // Working directory of argv[0].
  std::vector<std::string> cleanup;  // Run before everything is killed, and when it ended.
  std::vector<std::string> network;  // slirp4netns; the pid and the interface are appended.
  // The porter's end of its socket: the program gets a network namespace of its own, and begins
  // when the agent says so. -1: it has none but for slirp4netns.
  int porter_fd = -1;
  std::optional<NetworkDevice> device;  // There, with a porter.
};

SOUK_ENUM(Step, none, own_mounts, scratch_mount, scratch_folders, input_mount, disk_mount,
          change_user, own_users, user_map, enter_group, limits, own_network, network_program,
          network_routes, exec, fork, network_device)

SOUK_ENUM(Word, ready, failed, ended)

// Keeper to agent, over one socket that also tells each that the other is gone.
struct KeepReport {
  Word word = Word::ready;  // After the start, `failed` is followed by `ended`.
  Step step = Step::none;   // Of a failure.
  int error = 0;            // Its errno.
  int status = 0;           // Of the end, as from waitpid.
};

inline constexpr char kStart = 's';
inline constexpr char kKill = 'k';

// The plan with every pointer that execve wants.
struct KeepArguments {
  KeepArguments(KeepPlan p, int control);
  KeepArguments(const KeepArguments&) = delete;
  KeepArguments& operator=(const KeepArguments&) = delete;

  KeepPlan plan;
  std::vector<char*> argv, env, cleanup, network;
  std::string uid_map, gid_map;
  std::vector<int> kept;      // Descriptors, sorted.
  char network_pid[16] = {};  // Filled in after the fork.
};

// The keeper's whole life, in the forked child. `control` is its end of the socket.
[[noreturn]] void keep(KeepArguments& arguments, int control);

}  // namespace souk::agent
