#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "wire/api/answer.h"
#include "wire/schema.h"

// Machines, as their agents measured them.

namespace souk::wire {

using base::Time;

// Packages in a place of their own (souk lend --env): a job gets all of them or none.
struct MachineEnvironment {
  std::string name;
  std::vector<std::string> packages;
  SOUK_FIELDS(MachineEnvironment, name, packages)
};

struct MachineSpec {
  std::int32_t cores = 1;
  std::int64_t memory_mib = 1024;
  std::int64_t disk_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;
  std::string gpu;
  std::string cpu;
  std::string os;
  std::string region;
  std::string provider = "community";
  std::vector<std::string> packages;
  std::int32_t rtt_ms = 0;
  std::vector<MachineEnvironment> environments;  // Beside `packages`, the system's own.
  static constexpr auto optional_fields = std::array<std::string_view, 9>{
      "disk_mib", "gpus", "gpu_memory_mib", "gpu", "cpu", "os", "region", "provider", "rtt_ms"};
  SOUK_FIELDS(MachineSpec, cores, memory_mib, disk_mib, gpus, gpu_memory_mib, gpu, cpu, os, region,
              provider, packages, rtt_ms, environments)
};

// Why a machine is not proved yet: other programs use its cores.
struct BusyCores {
  double cores = 0;     // What they use,
  std::int32_t of = 1;  // of so many.
  Time since;
  std::optional<Time> again;  // When it is tried again, if they do not stop before.
  SOUK_FIELDS(BusyCores, cores, of, since, again)
};

// "other programs use 1.9 of 2 cores since 14:02; tried again by 14:07, or when they stop"
std::string busy_text(const BusyCores& busy, Time now);

struct Machine {
  base::MachineId id;
  std::string name;
  std::string owner;
  MachineSpec spec;
  double reliability = 0;  // Share of leases kept, recent ones weigh most.
  bool online = true;
  std::vector<base::OfferId> offers;
  Time created;
  std::optional<std::string> doubted;  // Why: it failed a challenge, and lends nothing meanwhile.
  std::int64_t leases = 0;             // Behind the reliability; 0: it is new, and nobody knows.
  // Of one core, as its last challenge measured it; a core of ten years ago has 1.
  std::optional<double> core_speed;
  std::optional<BusyCores> busy;  // Of one that is doubted.
  SOUK_FIELDS(Machine, id, name, owner, spec, reliability, online, offers, created, doubted, leases,
              core_speed, busy)
};

struct NewMachine {
  std::string name;
  MachineSpec spec;
  SOUK_FIELDS(NewMachine, name, spec)
};

struct MachineEdit {
  std::optional<std::string> name;
  std::optional<MachineSpec> spec;
  SOUK_FIELDS(MachineEdit, name, spec)
};

SOUK_JSON_ELSEWHERE(MachineSpec);
SOUK_JSON_ELSEWHERE(BusyCores);
SOUK_JSON_ELSEWHERE(Machine);
SOUK_JSON_ELSEWHERE(NewMachine);
SOUK_JSON_ELSEWHERE(MachineEdit);
SOUK_JSON_ELSEWHERE(Page<Machine>);

}  // namespace souk::wire
