#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "agent/log_spool.h"
#include "agent/network/gang_link.h"
#include "agent/network/line_pool.h"
#include "agent/network/porter_link.h"
#include "agent/network/terminal.h"
#include "agent/runner.h"
#include "job/kinds.h"

namespace souk::agent {

struct Runner::Place {
  const job::Kind* kind = nullptr;  // Of the job, once it is prepared.
  std::vector<Trees::Use> inputs;
  blob::Manifest files;  // What /work begins with.
  std::vector<blob::Store::Pin> pins;
  std::unique_ptr<LogSpool> log;
  std::unique_ptr<Process> process;
  base::Fd talk[2];                    // Of a trainer: our end and its.
  std::unique_ptr<Coach> coach;        // Of a trainer, while it runs. Goes before the process.
  std::unique_ptr<PorterLink> porter;  // Of a program with a network of its own.
  std::unique_ptr<GangLink> gang;      // Of a gang, from its start to its end.
  std::unique_ptr<Terminal> terminal;  // Of a session with one.
  std::unique_ptr<LinePool> lines;  // For those who talk to the program. Goes before those above.
  std::uint64_t talked = 0;         // Bytes of a session so far, and since when no more.
  base::Time quiet_since;
  Program program;
  Gpus::Grant gpus;
  std::unique_ptr<GpuMeter::Lease> gpu_use;
  base::Time began;
  std::optional<Exit> exit;
  bool leaves = false;                       // The lender wants it back before it has begun.
  wire::Fault fault = wire::Fault::machine;  // Of what could not be prepared.
  base::Time next_usage, next_checkpoint = base::kNever, next_volumes = base::kNever;
  bool idle = false;  // Nobody used the session for so long that it ends.
};

}  // namespace souk::agent
