#include "agent/limits/process_census.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "agent/sandbox/sandbox_text.h"
#include "base/text.h"

namespace souk::agent {
namespace {

constexpr std::size_t kMostStatus = 8192;  // Of a status file; the lines that count come early.

std::int64_t kib(std::string_view value) { return number(value) * 1024; }

}  // namespace

ProcessMemory parse_status(std::string_view text) {
  ProcessMemory out;
  for (const auto line : base::split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = line.substr(0, colon);
    const auto value = line.substr(colon + 1);
    if (key == "Pid") out.pid = static_cast<pid_t>(number(value));
    if (key == "PPid") out.parent = static_cast<pid_t>(number(value));
    if (key == "RssAnon" || key == "VmSwap") out.anonymous_bytes += kib(value);
    if (key == "RssShmem") out.shared_bytes = kib(value);
    if (key == "Threads") break;
  }
  return out;
}

ProcessMemory ProcessCensus::read(pid_t pid) {
  ++files_read_;
  const auto path = fmt::format("{}/{}/status", proc_, pid);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::array<char, kMostStatus> text;
  const auto got = ::read(fd, text.data(), text.size());
  close(fd);
  return parse_status({text.data(), got > 0 ? static_cast<std::size_t>(got) : 0});
}

std::vector<pid_t> ProcessCensus::all_processes() const {
  std::vector<pid_t> out;
  DIR* folder = opendir(proc_.c_str());
  if (folder == nullptr) return out;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own.
  while (const auto* entry = readdir(folder)) {
    const std::string_view name(entry->d_name);
    pid_t pid = 0;
    const auto end = name.data() + name.size();
    if (const auto parsed = std::from_chars(name.data(), end, pid); parsed.ptr == end && pid > 0)
      out.push_back(pid);
  }
  closedir(folder);
  std::ranges::sort(out);
  return out;
}

std::map<pid_t, std::vector<ProcessMemory>> ProcessCensus::look(const std::vector<pid_t>& keepers) {
  if (++looks_ % kForget == 0) outside_.clear();
  const auto present = all_processes();
  const auto gone = [&](pid_t pid) { return !std::ranges::binary_search(present, pid); };
  std::erase_if(outside_, gone);
  std::erase_if(keeper_of_, [&](const auto& known) { return gone(known.first); });
  for (const auto keeper : keepers) outside_.erase(keeper);

  std::map<pid_t, ProcessMemory> read_now;  // Members, and those that were not known.
  for (const auto pid : present)
    if (!outside_.contains(pid) && std::ranges::find(keepers, pid) == keepers.end())
      if (auto process = read(pid); process.pid != 0) read_now.emplace(pid, process);

  // Up to a keeper, to the top, or to somebody who is in no lease. A member's parent is a member.
  enum : pid_t { kNobody = 0, kUnknown = -1 };
  const auto owner = [&](pid_t pid) -> pid_t {
    for (std::size_t steps = 0; steps <= read_now.size(); ++steps) {
      if (std::ranges::find(keepers, pid) != keepers.end()) return pid;
      if (pid <= 1 || outside_.contains(pid)) return kNobody;
      const auto at = read_now.find(pid);
      if (at == read_now.end()) break;
      pid = at->second.parent;
    }
    return kUnknown;  // The chain changed under us.
  };
  std::map<pid_t, std::vector<ProcessMemory>> out;
  for (const auto keeper : keepers) out[keeper];
  std::map<pid_t, pid_t> members;
  for (const auto& [pid, process] : read_now) {
    auto keeper = owner(pid);
    if (keeper == kNobody) outside_.insert(pid);
    if (keeper == kUnknown && keeper_of_.contains(pid)) keeper = keeper_of_[pid];
    if (!out.contains(keeper)) continue;
    out[keeper].push_back(process);
    members[pid] = keeper;
  }
  keeper_of_ = std::move(members);
  return out;
}

}  // namespace souk::agent
