#include "journal/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace souk::journal {
namespace {

constexpr int kOwnerWrites = 0600;

struct ::flock whole_file(short type) {
  struct ::flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Who wrote itself into the lock file; empty if nobody did.
std::string holder(int fd) {
  std::array<char, 32> text{};
  const auto size = ::pread(fd, text.data(), text.size(), 0);
  if (size <= 0) return {};
  return std::string(base::trim({text.data(), static_cast<std::size_t>(size)}));
}

base::Result<> write_all(int fd, const std::filesystem::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

base::Result<> sync(const std::filesystem::path& path, int flags) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (fd < 0) return system_failure("open", path);
  base::Result<> result;
  if (::fsync(fd) != 0) result = system_failure("sync", path);
  ::close(fd);
  return result;
}

}  // namespace

base::Failure system_failure(std::string_view verb, const std::filesystem::path& path) {
  const auto code =
      errno == ENOSPC || errno == EDQUOT ? base::Code::exhausted : base::Code::unavailable;
  return base::fail(code,
                    fmt::format("cannot {} {}: {}", verb, path.string(), std::strerror(errno)));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  auto folder = path.parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

base::Result<> sync_folder(const std::filesystem::path& folder) {
  return sync(folder, O_DIRECTORY);
}

base::Result<> sync_file(const std::filesystem::path& path) { return sync(path, 0); }

base::Result<> write_synced(const std::filesystem::path& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerWrites);
  if (fd < 0) return system_failure("create", path);
  auto result = write_all(fd, path, bytes);
  if (result && ::fsync(fd) != 0) result = system_failure("sync", path);
  ::close(fd);
  return result;
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);  // The lock belongs to the open file and goes with it.
}

base::Result<FileLock> FileLock::take(const std::filesystem::path& path) {
  FileLock lock;
  lock.fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerWrites);
  if (lock.fd_ < 0) return system_failure("open", path);
  auto wanted = whole_file(F_WRLCK);
  if (::fcntl(lock.fd_, F_OFD_SETLK, &wanted) != 0) {
    if (errno != EAGAIN && errno != EACCES) return system_failure("lock", path);
    const auto who = holder(lock.fd_);
    return base::fail(base::Code::conflict,
                      fmt::format("the folder {} is in use by another process{}",
                                  folder_of(path).string(), who.empty() ? "" : " (" + who + ")"),
                      "stop that process, or use another folder");
  }
  // For people only: the lock is what counts, so a failure to write the number changes nothing.
  const auto self = fmt::format("process {}\n", ::getpid());
  if (::ftruncate(lock.fd_, 0) == 0) std::ignore = ::pwrite(lock.fd_, self.data(), self.size(), 0);
  return lock;
}

bool FileLock::held(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  auto wanted = whole_file(F_WRLCK);
  const bool known = ::fcntl(fd, F_OFD_GETLK, &wanted) == 0;
  ::close(fd);
  return known && wanted.l_type != F_UNLCK;
}

}  // namespace souk::journal
