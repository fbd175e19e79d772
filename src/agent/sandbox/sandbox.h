#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/sandbox/network_device.h"
#include "base/result.h"
#include "base/time.h"

// Where a stranger's program runs on a lender's machine. One sandbox is one file (bubblewrap,
// podman, bare), registered in the table at the end of sandbox.cc.

namespace souk::agent {

// What one program may use. Scratch lies in memory where it has a fixed size, so a lease holds at
// most memory_bytes + scratch_bytes of the machine's memory: set both aside.
struct Limits {
  double cores = 1;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  std::int64_t scratch_bytes = std::int64_t{1} << 30;  // /work, /tmp and /dev/shm together.
  int pids = 256;                                      // Processes and threads.
  // 0, or the size of a /work that lies on a disk. /tmp and /dev/shm then have scratch_bytes.
  std::int64_t disk_bytes = 0;
};

// A host file or folder that the program sees read-only at `to`. An agent that runs as root runs
// programs as a user without rights: what lies under `from` must then be readable by anybody.
struct Mount {
  std::string from;
  std::string to;
};

// A network namespace of the program's own, beside what internet it may have. The program begins
// when whoever holds the other end of `porter_fd` says so (porter.h).
struct OwnNetwork {
  int porter_fd = -1;  // Duplicated by prepare().
  std::optional<NetworkDevice> device;
  std::string host = "souk";                               // What it calls itself.
  std::vector<std::pair<std::string, std::string>> hosts;  // Addresses and names.
};

struct Program {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // All it gets, besides PATH, HOME and the like.
  std::vector<Mount> inputs;
  std::string image = {};  // Of podman's own; only for podman.
  bool internet = false;
  std::vector<std::string> devices = {};  // Device nodes of the host that it may use: GPUs.
  Limits limits;
  std::string disk_place = {};  // A folder of the owner's for a /work on a disk.
  // Gets stdout and stderr. Duplicated by prepare(), as is the next: the caller may close its own.
  int output_fd = -1;
  // A socket to talk to the program: its stdin and stdout. -1: it reads nothing.
  int talk_fd = -1;
  // Folders of the host that it sees read-only, where they are: what a lender's environment needs.
  std::vector<std::string> shown = {};
  // The folder of an unpacked image (agent/image/), which is then all that it sees of this machine;
  // only for bubblewrap. Empty: the machine's own programs.
  std::string root = {};
  std::string workdir = "/work";           // Where it starts, as it sees it; only for bubblewrap.
  std::optional<OwnNetwork> network = {};  // Only for bubblewrap.
};

// What the program used so far. Where the machine does not tell, a number stays 0.
struct Usage {
  double cpu_seconds = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_peak_bytes = 0;
  std::int64_t scratch_bytes = 0;
  std::int64_t read_bytes = 0;      // From disks.
  std::int64_t write_bytes = 0;     // To disks.
  std::int64_t received_bytes = 0;  // From the internet, where it has any.
  std::int64_t sent_bytes = 0;
  int processes = 0;
};

// How it ended: with a code, or (signal != 0) by a signal. As in a shell, a program that itself
// exits with 128 + n looks like one that signal n ended. `text` is for people.
struct Exit {
  int code = 0;
  int signal = 0;
  bool started = true;  // False: the sandbox could not start the program; `text` says why.
  bool out_of_memory = false;
  std::string text;
};

// One program in its sandbox. Destroying it ends everything in it and leaves nothing behind: no
// process, mount, control group or file. The same holds when the agent is killed. Not thread-safe;
// may move between threads.
class Process {
 public:
  virtual ~Process() = default;

  // The program's /work as the agent sees it: before the start, while it runs and after it ended,
  // until destruction. The program may plant symlinks and change files under a reader: open with
  // O_NOFOLLOW at every step, as src/blob's pack does. What lies here at start() becomes the
  // program's own; what the agent adds later stays the agent's.
  virtual std::string scratch() const = 0;
  virtual base::Result<> start() = 0;
  virtual Usage usage() = 0;
  // SIGTERM to the program and what it started in its session. Nothing happens if it does not run.
  virtual void terminate() = 0;
  // Ends everything in it. poll() or wait() then tell the exit.
  virtual void kill() = 0;
  // The exit, once nothing of the program is left running.
  virtual std::optional<Exit> poll() = 0;
  virtual std::optional<Exit> wait(base::Duration timeout) = 0;
};

// One sentence for `souk doctor` and the offer: is `subject` limited here, and how. Of "gangs": can
// there be any?
struct Finding {
  std::string subject;
  bool limited = false;
  std::string text;
};

// A way to run programs. Thread-safe, holds nothing.
class Sandbox {
 public:
  virtual ~Sandbox() = default;
  virtual std::string_view name() const = 0;
  // Makes the place, with an empty scratch, and starts nothing yet.
  virtual base::Result<std::unique_ptr<Process>> prepare(const Program& program) const = 0;
  // What is and what is not limited here. A subject "runs" that is not limited means that no
  // program can run, and says why.
  virtual std::vector<Finding> findings() const = 0;
};

// Best first: bubblewrap, podman, none.
std::vector<std::string_view> sandbox_names();
base::Result<std::unique_ptr<Sandbox>> make_sandbox(std::string_view name);

// Removes what a killed agent may have left: control groups and folders of processes that no
// longer exist. Call once at start.
void sweep();

}  // namespace souk::agent
