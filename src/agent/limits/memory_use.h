#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/limits/process_census.h"

// How much memory a lease holds, where no control group counts it.
//
// Never what is mapped, as RLIMIT_AS counts: CUDA maps hundreds of times what it uses.
// docs/decisions/0042 says what this sees and what it does not.

namespace souk::agent {

// A file by device and inode.
using FileName = std::pair<std::uint64_t, std::uint64_t>;

// The memory in the text of /proc/PID/smaps, in which pages that several processes share are
// divided among them. Files on disks do not count, nor those that `counted` names: their memory was
// counted by the file. An inode of 0 there means a whole device.
std::int64_t parse_smaps(std::string_view text, const std::set<FileName>& counted);

// What the lease with these `members` and this `scratch` (empty: none that lies in memory) holds.
// A cheap sum that may count pages twice suffices while it is below `limit`; only above that every
// mapping is looked at. The answer is never less than what is held in pages that processes map.
std::int64_t measure_memory(const std::vector<ProcessMemory>& members, const std::string& scratch,
                            std::int64_t limit);

}  // namespace souk::agent
