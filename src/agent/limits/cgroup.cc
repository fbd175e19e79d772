#include "agent/limits/cgroup.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include "agent/sandbox/sandbox_text.h"
#include "base/text.h"

namespace souk::agent {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::string_view kGroupPrefix = "souk-lease-";
constexpr std::string_view kLeaf = "souk-agent";
constexpr std::int64_t kPeriodUs = 100'000;
constexpr int kRemovalTries = 1000;  // With the pauses below: five seconds.

std::string start_time(std::string_view pid) {
  const auto stat = read_text(fmt::format("/proc/{}/stat", pid));
  const auto end = stat.rfind(')');  // The name before it may contain anything.
  if (end == std::string::npos) return "";
  const auto fields = base::split(std::string_view(stat).substr(end + 1), ' ');
  return fields.size() > 20 ? std::string(fields[20]) : "";
}

// The namespace that counts this process, by its inode; several may share one tree of groups.
std::string pid_namespace() {
  struct stat info;
  return stat("/proc/self/ns/pid", &info) == 0 ? std::to_string(info.st_ino) : "0";
}

void kill_members(const std::string& folder, bool version2) {
  if (version2 && write_text(folder + "/cgroup.kill", "1")) return;
  for (const auto& pid : lines_of(folder + "/cgroup.procs"))
    if (const auto value = number(pid); value > 1) ::kill(static_cast<pid_t>(value), SIGKILL);
}

void remove_group(const std::string& folder, bool version2) {
  for (int i = 0; i < kRemovalTries; ++i) {
    if (rmdir(folder.c_str()) == 0 || errno != EBUSY) return;
    kill_members(folder, version2);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool usable(const std::string& folder) {
  static std::atomic<int> count = 0;
  const auto probe = fmt::format("{}/{}{}-probe{}", folder, kGroupPrefix, owner_mark(), ++count);
  return mkdir(probe.c_str(), 0755) == 0 && rmdir(probe.c_str()) == 0;
}

// This process's group in one tree, or the tree's top where the path is from another namespace.
std::string own_folder(const std::string& tree, const std::string& path) {
  std::error_code ignored;
  const auto folder = path == "/" ? tree : tree + path;
  return std::filesystem::is_directory(folder, ignored) ? folder : tree;
}

std::vector<CgroupPlace> find_version1(const std::string& root, const std::string& self) {
  std::vector<CgroupPlace> places;
  for (const auto& line : lines_of(self)) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto names = line.substr(first + 1, second - first - 1);
    for (const auto name : base::split(names, ',')) {
      if (name != "memory" && name != "pids" && name != "cpu" && name != "cpuacct") continue;
      const auto folder = own_folder(root + "/" + names, line.substr(second + 1));
      if (usable(folder)) places.push_back({std::string(name), folder});
    }
  }
  return places;
}

// Moves this process to a leaf so that its own group may have limited subgroups.
bool step_aside(const std::string& folder) {
  const auto members = lines_of(folder + "/cgroup.procs");
  const auto me = std::to_string(getpid());
  if (members.empty()) return true;
  if (members.size() != 1 || members[0] != me) return false;
  const auto leaf = fmt::format("{}/{}", folder, kLeaf);
  if (mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) return false;
  return write_text(leaf + "/cgroup.procs", me);
}

std::vector<CgroupPlace> find_version2(const std::string& root, const std::string& self) {
  std::string folder;
  for (const auto& line : lines_of(self))
    if (line.starts_with("0::")) folder = own_folder(root, line.substr(3));
  if (folder.ends_with(fmt::format("/{}", kLeaf))) folder.resize(folder.size() - kLeaf.size() - 1);
  if (folder.empty() || !usable(folder)) return {};
  const auto missing = [&](std::string_view name) {
    const auto text = read_text(folder + "/cgroup.subtree_control");
    const auto have = base::split(base::trim(text), ' ');
    return std::ranges::find(have, name) == have.end();
  };
  std::vector<CgroupPlace> places;
  for (const std::string name : {"memory", "pids", "cpu", "io"}) {
    const auto enable = [&] { write_text(folder + "/cgroup.subtree_control", "+" + name); };
    if (missing(name)) enable();
    if (missing(name) && step_aside(folder)) enable();
    if (!missing(name)) places.push_back({name, folder});
  }
  return places;
}

struct Setting {
  std::string_view controller;
  std::string file;
  std::string value;
  bool required;
};

std::vector<Setting> settings(const Limits& limits, bool version2) {
  // Files in scratch are memory to the kernel, so they are added to what the program may hold.
  const auto memory = std::to_string(limits.memory_bytes + limits.scratch_bytes);
  const auto pids = std::to_string(limits.pids + 2);  // bwrap itself is two.
  const auto quota = std::max<std::int64_t>(1000, std::llround(limits.cores * kPeriodUs));
  if (version2)
    return {{"memory", "memory.max", memory, true},
            {"memory", "memory.swap.max", "0", false},
            {"memory", "memory.oom.group", "1", false},
            {"pids", "pids.max", pids, true},
            {"cpu", "cpu.max", fmt::format("{} {}", quota, kPeriodUs), true}};
  return {{"memory", "memory.limit_in_bytes", memory, true},
          {"memory", "memory.memsw.limit_in_bytes", memory, false},  // Missing without swap.
          {"memory", "memory.swappiness", "0", false},
          {"pids", "pids.max", pids, true},
          {"cpu", "cpu.cfs_period_us", std::to_string(kPeriodUs), true},
          {"cpu", "cpu.cfs_quota_us", std::to_string(quota), true}};
}

}  // namespace

std::string owner_mark() {
  const auto pid = std::to_string(getpid());
  return fmt::format("{}-{}-{}", pid, start_time(pid), pid_namespace());
}

bool owner_exists(std::string_view mark) {
  const auto parts = base::split(mark, '-');
  if (parts.size() > 3 && parts[2] != pid_namespace()) return true;
  return parts.size() > 1 && !parts[1].empty() && start_time(parts[0]) == parts[1];
}

std::string Cgroups::default_root() {
  const char* named =
      std::getenv("SOUK_CGROUPS");  // NOLINT(concurrency-mt-unsafe): nobody sets it.
  return named != nullptr ? named : "/sys/fs/cgroup";
}

Cgroups Cgroups::find(const std::string& root, const std::string& self) {
  Cgroups found;
  found.version2_ = access((root + "/cgroup.controllers").c_str(), F_OK) == 0;
  found.places_ = found.version2_ ? find_version2(root, self) : find_version1(root, self);
  return found;
}

bool Cgroups::has(std::string_view controller) const {
  return std::ranges::find(places_, controller, &CgroupPlace::controller) != places_.end();
}

Result<std::unique_ptr<Cgroup>> Cgroups::create(const Limits& limits) const {
  static std::atomic<int> count = 0;
  const auto name = fmt::format("{}{}-{}", kGroupPrefix, owner_mark(), ++count);
  std::unique_ptr<Cgroup> group(new Cgroup);
  group->version2_ = version2_;
  std::set<std::string> made;
  for (const auto& place : places_) {
    const auto folder = place.folder + "/" + name;
    group->groups_.push_back({place.controller, folder});
    if (!made.insert(folder).second) continue;
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
      return fail(Code::unavailable, fmt::format("cannot create the control group {}: {}", folder,
                                                 std::strerror(errno)));
    const int fd = open_to_write(folder + "/cgroup.procs");
    if (fd < 0) return fail(Code::unavailable, "cannot open " + folder + "/cgroup.procs");
    group->entrances_.push_back(fd);
  }
  for (const auto& setting : settings(limits, version2_)) {
    if (!has(setting.controller)) continue;
    if (write_text(group->file(setting.controller, setting.file), setting.value)) continue;
    if (setting.required)
      return fail(Code::unavailable, fmt::format("cannot set {} to {} in the control group {}",
                                                 setting.file, setting.value, name));
  }
  return group;
}

void Cgroups::sweep() const {
  std::set<std::string> folders;
  for (const auto& place : places_) folders.insert(place.folder);
  for (const auto& folder : folders) {
    std::vector<std::string> stale;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const auto name = entry.path().filename().string();
      if (!name.starts_with(kGroupPrefix)) continue;
      if (!owner_exists(std::string_view(name).substr(kGroupPrefix.size())))
        stale.push_back(entry.path().string());
    }
    for (const auto& path : stale) remove_group(path, version2_);
  }
}

Cgroup::~Cgroup() {
  for (const int fd : entrances_) close(fd);
  for (const auto& group : groups_) remove_group(group.folder, version2_);
}

std::string Cgroup::file(std::string_view controller, std::string_view name) const {
  for (const auto& group : groups_)
    if (group.controller == controller) return fmt::format("{}/{}", group.folder, name);
  return "";
}

bool Cgroup::measures_all() const {
  const auto has = [&](std::string_view name) { return !file(name, "").empty(); };
  return has("memory") && has("pids") && has(version2_ ? "cpu" : "cpuacct");
}

void Cgroup::measure(Usage& usage) const {
  const auto text = [&](std::string_view controller, std::string_view v1, std::string_view v2) {
    return read_text(file(controller, version2_ ? v2 : v1));
  };
  if (const auto now = text("memory", "memory.usage_in_bytes", "memory.current"); !now.empty()) {
    usage.memory_bytes = number(now);
    usage.memory_peak_bytes = number(text("memory", "memory.max_usage_in_bytes", "memory.peak"));
  }
  if (version2_) {
    if (const auto cpu = read_text(file("cpu", "cpu.stat")); !cpu.empty())
      usage.cpu_seconds = static_cast<double>(field(cpu, "usage_usec")) / 1e6;
    const auto io = read_text(file("io", "io.stat"));
    usage.read_bytes = sum_of(io, "rbytes=");
    usage.write_bytes = sum_of(io, "wbytes=");
  } else if (const auto cpu = read_text(file("cpuacct", "cpuacct.usage")); !cpu.empty()) {
    usage.cpu_seconds = static_cast<double>(number(cpu)) / 1e9;
  }
  if (const auto pids = read_text(file("pids", "pids.current")); !pids.empty())
    usage.processes = static_cast<int>(number(pids));
}

std::int64_t Cgroup::out_of_memory_kills() const {
  const auto name = version2_ ? "memory.events" : "memory.oom_control";
  return field(read_text(file("memory", name)), "oom_kill");
}

void Cgroup::kill() const {
  for (const auto& group : groups_) kill_members(group.folder, version2_);
}

}  // namespace souk::agent
