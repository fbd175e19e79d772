#include "agent/limits/memory_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "agent/sandbox/sandbox_text.h"
#include "agent/sandbox/sandbox_usage.h"
#include "base/text.h"

namespace souk::agent {
namespace {

// Open files that are looked at for one lease. Each beyond that counts as kUnseenFile, or a program
// could hide memory files behind others.
constexpr int kMostCounted = 100'000;
constexpr std::int64_t kUnseenFile = 1 << 20;

// "7f.. rw-s 00000000 00:01 1030 /memfd:x (deleted)".
struct Mapping {
  std::uint64_t device = 0, inode = 0;
  std::string_view name;
};

template <class T>
T parsed(std::string_view text, int base = 10) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

std::string_view next_word(std::string_view& line) {
  line = base::trim(line);
  const auto end = std::min(line.find(' '), line.size());
  const auto word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

// Nothing where the line is one of the figures below a mapping.
std::optional<Mapping> parse_mapping(std::string_view line) {
  const auto range = next_word(line);
  if (range.ends_with(':') || !range.contains('-')) return std::nullopt;
  next_word(line);  // Rights.
  next_word(line);  // Offset.
  const auto device = next_word(line);
  const auto colon = device.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Mapping out;
  out.device = makedev(parsed<unsigned>(device.substr(0, colon), 16),
                       parsed<unsigned>(device.substr(colon + 1), 16));
  out.inode = parsed<std::uint64_t>(next_word(line));
  out.name = base::trim(line);
  return out;
}

bool is_shared_memory(std::string_view name) {
  return name.starts_with("/memfd:") || name.starts_with("/dev/zero") || name.starts_with("/SYSV");
}

// Memory files hold memory whether anybody maps them or not.
std::int64_t memory_files(pid_t pid, std::set<FileName>& counted, int& budget) {
  const auto folder = fmt::format("/proc/{}/fd", pid);
  DIR* files = opendir(folder.c_str());
  if (files == nullptr) return 0;
  std::int64_t bytes = 0;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own.
  while (const auto* entry = readdir(files)) {
    if (entry->d_name[0] == '.') continue;
    if (--budget < 0) {
      bytes += kUnseenFile;
      continue;
    }
    std::array<char, 16> target;
    const auto got = readlinkat(dirfd(files), entry->d_name, target.data(), target.size());
    const std::string_view name(target.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    struct stat file{};
    if (!is_shared_memory(name) || fstatat(dirfd(files), entry->d_name, &file, 0) != 0) continue;
    if (counted.emplace(file.st_dev, file.st_ino).second) bytes += file.st_blocks * 512;
  }
  closedir(files);
  return bytes;
}

std::int64_t exact_bytes(pid_t pid, const std::set<FileName>& counted, std::int64_t otherwise) {
  const auto text = read_text(fmt::format("/proc/{}/smaps", pid));
  // A process that ended holds nothing; one that may not be read holds what it may hold.
  if (text.empty() && ::access(fmt::format("/proc/{}", pid).c_str(), F_OK) == 0) return otherwise;
  return parse_smaps(text, counted);
}

}  // namespace

std::int64_t parse_smaps(std::string_view text, const std::set<FileName>& counted) {
  std::int64_t total = 0, share = 0, anonymous = 0;
  std::optional<Mapping> mapping;
  const auto close_mapping = [&] {
    if (!mapping) return;
    const bool known = counted.contains({mapping->device, mapping->inode}) ||
                       counted.contains({mapping->device, 0});
    const bool memory = mapping->inode == 0 || (!known && is_shared_memory(mapping->name));
    total += memory ? share : std::min(share, anonymous);
  };
  for (const auto line : base::split(text, '\n')) {
    if (const auto begun = parse_mapping(line)) {
      close_mapping();
      mapping = begun;
      share = anonymous = 0;
      continue;
    }
    const auto value = [&](std::string_view key) {
      return line.starts_with(key) ? number(line.substr(key.size())) * 1024 : 0;
    };
    share += value("Pss:");
    anonymous += value("Anonymous:");
    total += value("SwapPss:");
  }
  close_mapping();
  return total;
}

std::int64_t measure_memory(const std::vector<ProcessMemory>& members, const std::string& scratch,
                            std::int64_t limit) {
  std::set<FileName> counted;
  std::int64_t files = 0;
  struct stat status{};
  if (!scratch.empty() && stat(scratch.c_str(), &status) == 0) {
    files = used_bytes(scratch);
    counted.emplace(status.st_dev, 0);
  }
  int budget = kMostCounted;
  for (const auto& member : members) files += memory_files(member.pid, counted, budget);
  const auto at_most = [](const ProcessMemory& m) { return m.anonymous_bytes + m.shared_bytes; };
  auto bytes = files;
  for (const auto& member : members) bytes += at_most(member);
  if (bytes <= limit) return bytes;
  bytes = files;
  for (const auto& member : members) bytes += exact_bytes(member.pid, counted, at_most(member));
  return bytes;
}

}  // namespace souk::agent
