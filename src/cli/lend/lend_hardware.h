#pragma once

#include "agent/probe/probe.h"
#include "cli/lend/lend.h"

// What of the processors, GPUs and disks `souk lend` lends.

namespace souk::cli {

// Cores that no other agent of this machine lends, and none that this process may not use. Where no
// control group divides their time, the process stays on them from here on.
Result<> claim_cores(Context& c, const Lend& o, const agent::Machine& machine,
                     agent::Workshop& shop, wire::MachineSpec& spec);

// GPUs with a device node that no other agent of this machine lends, and the words by which jobs
// ask for their memory and model. Those of others are left out with a note, unless --gpus asks for
// more than the rest.
Result<> open_gpus(Context& c, const Lend& o, const agent::Machine& machine, agent::Workshop& shop,
                   wire::MachineSpec& spec);

// Of one lease, in memory: half of what is lent, shared by all, beside what the slots guarantee.
std::int64_t memory_scratch_mib(const wire::MachineSpec& spec, std::int32_t slots);

// Scratch on disk, each slot an equal share, and the words by which jobs ask for it. `folder` is
// where the agent keeps its files.
Result<> open_scratch(const Lend& o, const agent::Machine& machine, std::int32_t slots,
                      const std::string& folder, agent::Workshop& shop, wire::MachineSpec& spec);

}  // namespace souk::cli
