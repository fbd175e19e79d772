#include "agent/sandbox/sandbox_usage.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <array>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"

namespace souk::agent {

namespace {

template <class T>
T number(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Fields of /proc/<pid>/stat after the name, counted from 3 as in proc(5).
std::optional<HostProcess> read_host_process(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string stat;
  std::getline(in, stat, '\0');
  const auto end = stat.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  const auto fields = base::split(std::string_view(stat).substr(end + 1), ' ');
  if (fields.size() < 23) return std::nullopt;
  // split() gives an empty piece before the first space, so field n is at n - 2.
  const auto at = [&](int n) { return fields[static_cast<std::size_t>(n - 2)]; };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const double own = number<double>(at(14)) + number<double>(at(15));
  const double waited = number<double>(at(16)) + number<double>(at(17));
  return HostProcess{pid, number<pid_t>(at(4)), (own + waited) / ticks, own / ticks,
                     number<std::int64_t>(at(24)) * sysconf(_SC_PAGESIZE)};
}

std::string last_namespace_pid(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("NSpid:")) return line.substr(line.find_last_of(" \t") + 1);
  return "";
}

}  // namespace

std::vector<HostProcess> tree_of(pid_t root) {
  std::vector<HostProcess> all;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = number<pid_t>(entry.path().filename().string());
    if (pid <= 0) continue;
    if (const auto task = read_host_process(pid)) all.push_back(*task);
  }
  std::vector<HostProcess> tree;
  if (const auto top = std::ranges::find(all, root, &HostProcess::pid); top != all.end())
    tree.push_back(*top);
  std::set<pid_t> in_tree{root};
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (const auto& task : all)
      if (task.parent == tree[i].pid && in_tree.insert(task.pid).second) tree.push_back(task);
  return tree;
}

void measure_tree(pid_t keeper, Usage& usage) {
  const auto tree = tree_of(keeper);
  if (tree.empty()) return;
  usage.cpu_seconds = tree[0].cpu_seconds - tree[0].own_cpu_seconds;
  usage.memory_bytes = 0;
  for (std::size_t i = 1; i < tree.size(); ++i) {
    usage.cpu_seconds += tree[i].cpu_seconds;
    usage.memory_bytes += tree[i].memory_bytes;
  }
  usage.memory_peak_bytes = std::max(usage.memory_peak_bytes, usage.memory_bytes);
  usage.processes = static_cast<int>(tree.size()) - 1;
}

void measure_processes(pid_t keeper, const std::vector<pid_t>& processes, Usage& usage) {
  const auto top = read_host_process(keeper);
  if (!top) return;
  auto seconds = top->cpu_seconds - top->own_cpu_seconds;
  usage.processes = 0;
  for (const auto pid : processes) {
    const auto task = read_host_process(pid);
    if (!task) continue;
    seconds += task->cpu_seconds;
    ++usage.processes;
  }
  // Who ended since the list was made has not been waited for yet, and comes back.
  usage.cpu_seconds = std::max(usage.cpu_seconds, seconds);
}

std::int64_t used_bytes(const std::string& path) {
  struct statvfs status{};
  if (statvfs(path.c_str(), &status) != 0) return 0;
  return static_cast<std::int64_t>((status.f_blocks - status.f_bfree) * status.f_frsize);
}

void measure_network(pid_t pid, Usage& usage) {
  std::ifstream in(fmt::format("/proc/{}/net/dev", pid));
  Usage sum;
  bool any = false;
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.substr(0, colon).ends_with("lo")) continue;
    // Received: bytes, packets and six more; then sent: bytes...
    std::istringstream columns(line.substr(colon + 1));
    std::array<std::int64_t, 9> values{};
    for (auto& value : values) columns >> value;
    sum.received_bytes += values[0];
    sum.sent_bytes += values[8];
    any = true;
  }
  if (!any) return;  // It is gone, with what it knew: the last figures stand.
  usage.received_bytes = sum.received_bytes;
  usage.sent_bytes = sum.sent_bytes;
}

pid_t program_in_namespace(pid_t keeper) {
  for (const auto& task : tree_of(keeper))
    if (task.pid != keeper && last_namespace_pid(task.pid) == "2") return task.pid;
  return 0;
}

pid_t program_of(pid_t keeper) {
  for (const auto& task : tree_of(keeper))
    if (task.parent == keeper) return task.pid;
  return 0;
}

}  // namespace souk::agent
