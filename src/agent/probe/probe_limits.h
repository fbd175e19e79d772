#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace souk::agent {

// What the control groups around this process let it use: the tightest limit on the way from its
// group to the top, of version 2 and version 1 alike (some systems have both).
struct GroupLimits {
  std::optional<double> cores;               // Time of so many cores per second.
  std::optional<std::int64_t> memory_bytes;  // Of everything in the group.
  std::optional<std::int64_t> memory_left;   // Of the tightest one; page cache counts as free.
};

// `root` stands in front of /proc and /sys.
GroupLimits read_group_limits(const std::string& root);

// At most a megabyte of a file; empty when it cannot be read. Files of /proc have no size to ask.
std::string file_text(const std::string& path);

// A number that is all of the text, without the space around it.
std::optional<std::int64_t> whole_number(std::string_view text);

// "0-3,8" names five.
std::int32_t count_cpu_list(std::string_view list);

}  // namespace souk::agent
