#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/time.h"

// What this machine is and has, as far as it can be read without measuring (score.h measures).
//
// The files under /proc and /sys are read, two kinds of programs asked: nvidia-smi and Pythons.
// Nothing is written and nothing is sent. What cannot be found out is a remark, never an error: a
// machine whose nvidia-smi hangs can still lend its cores.

namespace souk::agent {

struct Cpu {
  std::string model;
  std::int32_t cores = 0;   // Hardware threads that are there.
  std::int32_t usable = 0;  // Of those, what affinity and control groups let us use; at least 1.
  std::vector<std::string> features;  // Of: avx2, fma, avx512f, amx, neon, sve.
  SOUK_FIELDS(Cpu, model, cores, usable, features)
};

struct MemorySize {
  std::int64_t total_mib = 0;      // Never more than the control group's limit.
  std::int64_t available_mib = 0;  // Could be used now without swapping.
  bool limited = false;            // By a control group.
  SOUK_FIELDS(MemorySize, total_mib, available_mib, limited)
};

struct DiskSpace {
  std::string path;
  std::int64_t total_mib = 0;
  std::int64_t free_mib = 0;  // For us, who are not root.
  SOUK_FIELDS(DiskSpace, path, total_mib, free_mib)
};

struct Gpu {
  std::string name;
  std::int64_t memory_mib = 0;  // 0: the driver does not say (GPUs that share the main memory).
  std::string driver;
  std::string uuid;                // "GPU-..." or, of a slice, "MIG-...".
  std::string bus;                 // "00000000:17:00.0".
  std::int32_t number = 0;         // Of its device node.
  bool slice = false;              // A part of a GPU that was cut up (MIG).
  std::vector<std::string> nodes;  // What only its user needs: /dev/nvidia0.
  SOUK_FIELDS(Gpu, name, memory_mib, driver, uuid, bus, number, slice, nodes)
};

struct Package {
  std::string name;
  std::string version;
  SOUK_FIELDS(Package, name, version)
};

struct Python {
  std::string path;
  std::string version;
  std::string prefix;             // Where it is installed: a venv has its own.
  std::vector<Package> packages;  // By name; case does not matter.
  SOUK_FIELDS(Python, path, version, prefix, packages)
};

SOUK_ENUM(PowerSource, mains, battery)

struct Power {
  PowerSource source = PowerSource::mains;
  std::optional<std::int32_t> battery_percent;  // Empty: there is no battery.
  SOUK_FIELDS(Power, source, battery_percent)
};

// Something that could not be found out, or that an owner should know.
struct Remark {
  std::string about;  // "gpu", "python", "cpu", "memory", "disk".
  std::string text;
  SOUK_FIELDS(Remark, about, text)
};

struct Machine {
  std::string os;      // "Debian GNU/Linux 12 (bookworm)".
  std::string kernel;  // "6.1.0-18-amd64".
  std::string arch;    // "x86_64".
  Cpu cpu;
  MemorySize memory;
  DiskSpace disk;
  std::vector<Gpu> gpus;
  std::vector<Python> pythons;
  Power power;
  bool desktop = false;  // Somebody may be sitting in front of it.
  std::vector<Remark> remarks;
  SOUK_FIELDS(Machine, os, kernel, arch, cpu, memory, disk, gpus, pythons, power, desktop, remarks)
};

struct ProbeOptions {
  std::string root = {};         // In front of /proc, /sys, /etc, /run and /tmp. For tests.
  std::string disk_path = ".";   // As it is: not below `root`.
  std::string search_path = {};  // Like PATH, where programs are looked for.
  std::string system_python = "/usr/bin/python3";  // Empty: only the one on the search path.
  // Tried in order; a name without a slash is looked for on the search path. WSL has its own place.
  std::vector<std::string> nvidia_smi = {"nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"};
  base::Duration program_timeout = base::seconds(5);  // Of each program.
  std::size_t program_output = 1 << 20;
  bool display_set = false;  // Does the environment name a display (DISPLAY, WAYLAND_DISPLAY)?
};

// The options for this process: PATH and the display come from its environment.
ProbeOptions probe_options();

// Takes a tenth of a second as a rule, and three times program_timeout at most. Any thread.
Machine probe(const ProbeOptions& options);

}  // namespace souk::agent
