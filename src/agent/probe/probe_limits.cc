#include "agent/probe/probe_limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/text.h"

namespace souk::agent {
namespace {

constexpr std::size_t kMostText = 1 << 20;
// Version 1 spells "no limit" as the largest number of whole pages.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;

template <class T>
void tighten(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

// "inactive_file 4096" -> 4096.
std::int64_t stat_of(std::string_view text, std::string_view key) {
  for (const auto line : base::split(text, '\n'))
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' '))
      return whole_number(line.substr(key.size())).value_or(0);
  return 0;
}

void tighten_memory(GroupLimits& limits, std::int64_t most, std::int64_t used,
                    std::int64_t reclaimable) {
  tighten(limits.memory_bytes, most);
  const auto busy = std::max<std::int64_t>(used - reclaimable, 0);
  tighten(limits.memory_left, std::max<std::int64_t>(most - busy, 0));
}

void read_v2(const std::string& group, GroupLimits& limits) {
  const auto cpu = file_text(group + "/cpu.max");  // "150000 100000" or "max 100000".
  const auto words = base::split(base::trim(cpu), ' ');
  if (words.size() == 2) {
    const auto quota = whole_number(words[0]), period = whole_number(words[1]);
    if (quota && period && *period > 0)
      tighten(limits.cores, static_cast<double>(*quota) / static_cast<double>(*period));
  }
  // Above memory.high a group is slowed down until it is of no use: a limit for our purposes.
  for (const auto* name : {"/memory.max", "/memory.high"})
    if (const auto most = whole_number(file_text(group + name)))
      tighten_memory(limits, *most, whole_number(file_text(group + "/memory.current")).value_or(0),
                     stat_of(file_text(group + "/memory.stat"), "inactive_file"));
}

void read_v1_cpu(const std::string& group, GroupLimits& limits) {
  const auto quota = whole_number(file_text(group + "/cpu.cfs_quota_us"));
  const auto period = whole_number(file_text(group + "/cpu.cfs_period_us"));
  if (quota && period && *quota > 0 && *period > 0)
    tighten(limits.cores, static_cast<double>(*quota) / static_cast<double>(*period));
}

void read_v1_memory(const std::string& group, GroupLimits& limits) {
  const auto most = whole_number(file_text(group + "/memory.limit_in_bytes"));
  if (!most || *most >= kNoLimit) return;
  tighten_memory(limits, *most,
                 whole_number(file_text(group + "/memory.usage_in_bytes")).value_or(0),
                 stat_of(file_text(group + "/memory.stat"), "total_inactive_file"));
}

// Calls `read` for the group and all above it. In a container the path may be that of the host,
// of which only the top is to be seen: what is not there reads as nothing.
template <class Read>
void upwards(const std::string& mount, std::string_view path, Read&& read) {
  std::string group(path);
  if (group.find("..") != std::string::npos) group.clear();  // Outside our namespace.
  while (group.ends_with('/')) group.pop_back();
  while (true) {
    read(mount + group);
    if (group.empty()) return;
    group.resize(std::min(group.rfind('/'), group.size() - 1));
  }
}

bool has_controller(std::string_view list, std::string_view name) {
  const auto names = base::split(list, ',');
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::string file_text(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string out;
  std::array<char, 16384> buffer;
  ssize_t n = 0;
  while (out.size() < kMostText && (n = ::read(fd, buffer.data(), buffer.size())) > 0)
    out.append(buffer.data(), static_cast<std::size_t>(n));
  close(fd);
  return out;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  text = base::trim(text);
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::int32_t count_cpu_list(std::string_view list) {
  std::int32_t out = 0;
  for (const auto piece : base::split(base::trim(list), ',')) {
    const auto dash = piece.find('-');
    const auto first = whole_number(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(piece.substr(dash + 1));
    if (first && last && *last >= *first && *last - *first < 100'000)
      out += static_cast<std::int32_t>(*last - *first + 1);
  }
  return out;
}

GroupLimits read_group_limits(const std::string& root) {
  GroupLimits limits;
  const auto top = root + "/sys/fs/cgroup";
  const auto groups = file_text(root + "/proc/self/cgroup");
  for (const auto line : base::split(groups, '\n')) {  // "4:cpu,cpuacct:/user" or "0::/user".
    const auto first = line.find(':');
    const auto second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const auto path = line.substr(second + 1);
    if (controllers.empty()) {
      for (const auto& mount : {top, top + "/unified"})
        upwards(mount, path, [&](const std::string& group) { read_v2(group, limits); });
    }
    if (has_controller(controllers, "cpu")) {
      for (const auto& mount : {top + "/cpu", top + "/cpu,cpuacct"})
        upwards(mount, path, [&](const std::string& group) { read_v1_cpu(group, limits); });
    }
    if (has_controller(controllers, "memory"))
      upwards(top + "/memory", path,
              [&](const std::string& group) { read_v1_memory(group, limits); });
  }
  return limits;
}

}  // namespace souk::agent
