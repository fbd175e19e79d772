#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/probe/probe.h"

// The parts of probe() that ask other programs.

namespace souk::agent {

// The file that `name` starts, looked for like a shell does; empty when there is none. A name with
// a slash is the file itself.
std::string find_program(std::string_view name, std::string_view search_path);

// nvidia-smi, or nothing.
std::string find_nvidia_smi(const ProbeOptions& options);

std::vector<Gpu> probe_gpus(const ProbeOptions& options, std::vector<Remark>& remarks);

// The system's Python and, when it is another installation, the first one on the search path: that
// is the one whose packages a job would get.
std::vector<Python> probe_pythons(const ProbeOptions& options, std::vector<Remark>& remarks);

}  // namespace souk::agent
