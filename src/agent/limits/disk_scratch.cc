#include "agent/limits/disk_scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <utility>

#include "agent/limits/cgroup.h"
#include "agent/probe/command_output.h"
#include "agent/sandbox/sandbox_process.h"

namespace souk::agent {

using base::Code;
using base::fail;
using base::Fd;
using base::Result;

namespace {

constexpr std::string_view kImagePrefix = "souk-scratch-";
constexpr int kMountTries = 20;  // Others may take the device that we were told is free.
constexpr std::int64_t kMostInodes = 1'000'000;
constexpr int kMostOpen = 100'000;
constexpr auto kFormatWithin = base::minutes(2);

std::string mkfs() { return find_tool({"/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4"}); }

base::Failure trouble(std::string_view what, const std::string& path) {
  return fail(Code::unavailable, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)),
              "`souk lend --folder` names another place");
}

// A new name in `place` that says whose it is.
std::string new_name(const std::string& place) {
  return fmt::format("{}/{}{}-XXXXXX", place, kImagePrefix, owner_mark());
}

// Without a journal: nothing in it outlives the lease.
Result<> format(const std::string& file) {
  const auto done = run_command({mkfs(), "-q", "-F", "-m", "0", "-O", "^has_journal", "-E",
                                 "lazy_itable_init=1,nodiscard,root_owner=0:0", file},
                                kFormatWithin, 64 << 10);
  if (done && done->good()) return {};
  return fail(Code::unavailable, fmt::format("mkfs.ext4 failed: {}", done ? done->err.substr(0, 200)
                                                                          : done.error().message));
}

Result<DiskScratch> attach(const Fd& file) {
  const Fd control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (control.get() < 0) return trouble("open", "/dev/loop-control");
  for (int i = 0; i < kMountTries; ++i) {
    const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) return trouble("find", "a free loop device");
    DiskScratch out;
    out.device = fmt::format("/dev/loop{}", number);
    out.loop = Fd(open(out.device.c_str(), O_RDWR | O_CLOEXEC));
    if (out.loop.get() < 0) return trouble("open", out.device);
    // Goes by itself with its last user, however that ends.
    loop_config config{};
    config.fd = static_cast<__u32>(file.get());
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (ioctl(out.loop.get(), LOOP_CONFIGURE, &config) == 0) return out;
    if (errno != EBUSY) return trouble("use", out.device);
  }
  return fail(Code::exhausted, "no loop device was free");
}

Result<DiskScratch> file_system(const std::string& place, std::int64_t bytes) {
  auto name = new_name(place);
  const Fd file(mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) return trouble("create", name);
  auto out = [&]() -> Result<DiskScratch> {
    if (ftruncate(file.get(), bytes) != 0) return trouble("size", name);
    SOUK_TRY(format(name));
    return attach(file);
  }();
  unlink(name.c_str());
  return out;
}

Result<DiskScratch> plain_folder(const std::string& place) {
  DiskScratch out;
  out.folder = new_name(place);
  if (mkdtemp(out.folder.data()) == nullptr) return trouble("create", out.folder);
  return out;
}

bool can_mount() {
  return geteuid() == 0 && !mkfs().empty() && access("/dev/loop-control", R_OK | W_OK) == 0;
}

}  // namespace

DiskScratch::~DiskScratch() {
  if (!folder.empty()) remove_tree(folder);
}

Result<DiskScratch> make_disk_scratch(const std::string& place, std::int64_t bytes,
                                      bool mountable) {
  std::error_code error;
  std::filesystem::create_directories(place, error);
  const auto space = std::filesystem::space(place, error);
  if (!error && static_cast<std::int64_t>(space.available) < bytes)
    return fail(Code::exhausted, fmt::format("{} MiB are free at {}, not {}", space.available >> 20,
                                             place, bytes >> 20));
  if (!mountable || !can_mount()) return plain_folder(place);
  return file_system(place, bytes);
}

std::string disk_scratch_text() {
  if (can_mount())
    return "Scratch on disk (--scratch) has a fixed size: each lease has a file system in a file.";
  return "Scratch on disk (--scratch) is watched: a program whose files take more than it asked "
         "for "
         "is ended, a moment late. An agent that runs as root, with mkfs.ext4 and loop devices, "
         "has a fixed size instead.";
}

void sweep_disk_scratch(const std::string& place) {
  std::vector<std::filesystem::path> stale;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(place, none)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(kImagePrefix) &&
        !owner_exists(std::string_view(name).substr(kImagePrefix.size())))
      stale.push_back(entry.path());
  }
  for (const auto& path : stale) remove_tree(path);
}

std::int64_t folder_bytes(const std::string& folder) {
  std::int64_t bytes = 0, files = 0;
  std::set<std::pair<dev_t, ino_t>> linked;  // A file with two names takes its room once.
  std::error_code error;
  namespace fs = std::filesystem;
  for (auto it = fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (++files > kMostInodes) return std::numeric_limits<std::int64_t>::max() / 2;
    struct stat status{};
    if (lstat(it->path().c_str(), &status) != 0) continue;
    if (status.st_nlink > 1 && !S_ISDIR(status.st_mode) &&
        !linked.emplace(status.st_dev, status.st_ino).second)
      continue;
    bytes += status.st_blocks * 512;
  }
  return bytes;
}

std::int64_t unlinked_bytes(const std::string& folder, const std::vector<pid_t>& processes) {
  struct stat place{};
  if (stat(folder.c_str(), &place) != 0) return 0;
  std::int64_t bytes = 0;
  int budget = kMostOpen;
  std::set<ino_t> seen;
  for (const auto pid : processes) {
    DIR* files = opendir(fmt::format("/proc/{}/fd", pid).c_str());
    if (files == nullptr) continue;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own.
    while (const auto* entry = readdir(files)) {
      struct stat file{};
      if (entry->d_name[0] == '.' || --budget < 0) continue;
      if (fstatat(dirfd(files), entry->d_name, &file, 0) != 0) continue;
      if (S_ISREG(file.st_mode) && file.st_nlink == 0 && file.st_dev == place.st_dev &&
          seen.insert(file.st_ino).second)
        bytes += file.st_blocks * 512;
    }
    closedir(files);
  }
  return bytes;
}

}  // namespace souk::agent
