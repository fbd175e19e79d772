#include "agent/probe/probe.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "agent/probe/probe_limits.h"
#include "agent/probe/probe_programs.h"
#include "base/text.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMib = 1 << 20;

// The value of the first line "key<separator>value" of `text`.
std::string_view value_of(std::string_view text, std::string_view key, char separator) {
  for (const auto line : base::split(text, '\n')) {
    const auto at = line.find(separator);
    if (at != std::string_view::npos && base::trim(line.substr(0, at)) == key)
      return base::trim(line.substr(at + 1));
  }
  return {};
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

std::vector<std::string> folder_entries(const std::string& path) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    out.push_back(it->path().filename().string());
  std::ranges::sort(out);
  return out;
}

void read_system(const ProbeOptions& o, Machine& m) {
  auto release = file_text(o.root + "/etc/os-release");
  if (release.empty()) release = file_text(o.root + "/usr/lib/os-release");
  m.os = unquoted(value_of(release, "PRETTY_NAME", '='));
  if (m.os.empty()) m.os = "Linux";
  utsname name{};
  uname(&name);
  const auto kernel = file_text(o.root + "/proc/sys/kernel/osrelease");
  m.kernel = kernel.empty() ? name.release : base::trim(kernel);
  m.arch = name.machine;
}

std::vector<std::string> features_of(std::string_view cpuinfo) {
  struct Feature {
    std::string_view flag, name;
  };
  constexpr Feature kX86[] = {
      {"avx2", "avx2"}, {"fma", "fma"}, {"avx512f", "avx512f"}, {"amx_tile", "amx"}};
  constexpr Feature kArm[] = {{"asimd", "neon"}, {"neon", "neon"}, {"sve", "sve"}};
  std::vector<std::string> out;
  const auto take = [&](std::string_view line, const auto& wanted) {
    const auto flags = base::split(line, ' ');
    for (const auto& [flag, feature] : wanted)
      if (std::ranges::find(flags, flag) != flags.end()) out.emplace_back(feature);
  };
  take(value_of(cpuinfo, "flags", ':'), kX86);
  take(value_of(cpuinfo, "Features", ':'), kArm);
  return out;
}

std::string model_of(const ProbeOptions& o, std::string_view cpuinfo, const std::string& arch) {
  for (const auto* key : {"model name", "Model", "Hardware", "cpu model"})
    if (const auto found = value_of(cpuinfo, key, ':'); !found.empty()) return std::string(found);
  auto board = file_text(o.root + "/proc/device-tree/model");
  std::erase(board, '\0');
  return board.empty() ? "unknown " + arch : board;
}

std::int32_t count_processors(std::string_view cpuinfo) {
  std::int32_t out = 0;
  for (const auto line : base::split(cpuinfo, '\n'))
    if (const auto at = line.find(':');
        at != std::string_view::npos && base::trim(line.substr(0, at)) == "processor")
      ++out;
  return out;
}

void read_cpu(const ProbeOptions& o, const GroupLimits& limits, Machine& m) {
  const auto cpuinfo = file_text(o.root + "/proc/cpuinfo");
  m.cpu.model = model_of(o, cpuinfo, m.arch);
  m.cpu.features = features_of(cpuinfo);
  // A big machine's cpuinfo is longer than we read, so the list of the online ones comes first.
  m.cpu.cores = count_cpu_list(file_text(o.root + "/sys/devices/system/cpu/online"));
  if (m.cpu.cores == 0) m.cpu.cores = count_processors(cpuinfo);
  if (m.cpu.cores == 0) {
    m.cpu.cores = std::max(1, static_cast<std::int32_t>(std::thread::hardware_concurrency()));
    m.remarks.push_back({"cpu", "neither /proc/cpuinfo nor /sys says how many cores there are"});
  }
  m.cpu.usable = m.cpu.cores;
  const auto allowed =
      count_cpu_list(value_of(file_text(o.root + "/proc/self/status"), "Cpus_allowed_list", ':'));
  if (allowed > 0) m.cpu.usable = std::min(m.cpu.usable, allowed);
  if (limits.cores && *limits.cores < m.cpu.usable) {
    m.cpu.usable = std::max(1, static_cast<std::int32_t>(std::floor(*limits.cores)));
    m.remarks.push_back(
        {"cpu", fmt::format("a control group limits this process to the time of {:g} of {} cores",
                            *limits.cores, m.cpu.cores)});
  }
}

void read_memory(const ProbeOptions& o, const GroupLimits& limits, Machine& m) {
  const auto meminfo = file_text(o.root + "/proc/meminfo");
  const auto bytes = [&](std::string_view key) {
    auto value = value_of(meminfo, key, ':');
    if (value.ends_with(" kB")) value.remove_suffix(3);
    return whole_number(value).value_or(0) * 1024;
  };
  auto total = bytes("MemTotal");
  auto available = bytes("MemAvailable");
  if (total == 0)
    m.remarks.push_back({"memory", "/proc/meminfo does not say how much memory there is"});
  if (limits.memory_bytes && (total == 0 || *limits.memory_bytes < total)) {
    total = *limits.memory_bytes;
    m.memory.limited = true;
    m.remarks.push_back(
        {"memory", fmt::format("a control group limits this process to {} MiB", total / kMib)});
  }
  if (limits.memory_left)
    available = available == 0 ? *limits.memory_left : std::min(available, *limits.memory_left);
  m.memory.total_mib = total / kMib;
  m.memory.available_mib = std::min(available, total) / kMib;
}

void read_disk(const ProbeOptions& o, Machine& m) {
  std::error_code error;
  const auto path = fs::absolute(o.disk_path, error).lexically_normal();
  m.disk.path = error ? o.disk_path : path.string();
  if (m.disk.path.size() > 1 && m.disk.path.ends_with('/')) m.disk.path.pop_back();
  struct statvfs info{};
  if (statvfs(o.disk_path.c_str(), &info) != 0) {
    m.remarks.push_back({"disk", fmt::format("cannot ask for the space at {}: {}", m.disk.path,
                                             std::strerror(errno))});
    return;
  }
  const auto mib = [&](auto blocks) {
    return static_cast<std::int64_t>(static_cast<unsigned __int128>(blocks) * info.f_frsize / kMib);
  };
  m.disk.total_mib = mib(info.f_blocks);
  m.disk.free_mib = mib(info.f_bavail);
}

// A laptop runs on its battery when no charger is connected and some battery is being emptied.
// Batteries of mice and headsets (scope "Device") do not count.
Power read_power(const ProbeOptions& o) {
  Power out;
  bool charger = false, emptying = false;
  const auto folder = o.root + "/sys/class/power_supply";
  for (const auto& name : folder_entries(folder)) {
    const auto read = [&](const char* what) {
      return std::string(base::trim(file_text(fmt::format("{}/{}/{}", folder, name, what))));
    };
    if (read("scope") == "Device") continue;
    const auto type = read("type");
    if (type == "Battery") {
      const auto percent = whole_number(read("capacity"));
      if (percent)
        out.battery_percent =
            std::max(out.battery_percent.value_or(0), static_cast<std::int32_t>(*percent));
      else if (!out.battery_percent)
        out.battery_percent = 0;
      emptying = emptying || read("status") == "Discharging";
    } else if (type == "Mains" || type == "USB") {
      charger = charger || read("online") == "1";
    }
  }
  if (emptying && !charger) out.source = PowerSource::battery;
  return out;
}

bool has_desktop(const ProbeOptions& o) {
  if (o.display_set || !folder_entries(o.root + "/tmp/.X11-unix").empty()) return true;
  for (const auto& user : folder_entries(o.root + "/run/user"))
    for (const auto& name : folder_entries(o.root + "/run/user/" + user))
      if (name.starts_with("wayland-")) return true;
  return false;
}

}  // namespace

ProbeOptions probe_options() {
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody sets them.
  const char* path = std::getenv("PATH");
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  ProbeOptions out;
  out.search_path = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  out.display_set = set("DISPLAY") || set("WAYLAND_DISPLAY");
  // NOLINTEND(concurrency-mt-unsafe)
  return out;
}

Machine probe(const ProbeOptions& options) {
  Machine out;
  const auto limits = read_group_limits(options.root);
  read_system(options, out);
  read_cpu(options, limits, out);
  read_memory(options, limits, out);
  read_disk(options, out);
  out.gpus = probe_gpus(options, out.remarks);
  out.pythons = probe_pythons(options, out.remarks);
  out.power = read_power(options);
  out.desktop = has_desktop(options);
  return out;
}

}  // namespace souk::agent
