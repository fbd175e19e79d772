#include "base/disk.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace souk::base {

Result<DiskSpace> disk_space(const std::string& path) {
  struct statvfs status{};
  if (::statvfs(path.c_str(), &status) != 0)
    return fail(Code::unavailable, fmt::format("cannot see how full the disk of {} is: {}", path,
                                               std::strerror(errno)));
  return DiskSpace{.total_bytes = std::uint64_t{status.f_blocks} * status.f_frsize,
                   .free_bytes = std::uint64_t{status.f_bavail} * status.f_frsize};
}

std::uint64_t usual_reserve(const DiskSpace& disk) {
  return std::min<std::uint64_t>(1ull << 30, disk.total_bytes / 20);
}

Result<> check_reserve(const std::string& path, std::uint64_t amount, std::uint64_t reserve,
                       std::string_view what) {
  const auto disk = disk_space(path);
  if (!disk || reserve == 0) return {};
  if (disk->free_bytes >= reserve && disk->free_bytes - reserve >= amount) return {};
  return fail(Code::unavailable,
              fmt::format("the disk is full for {}: it has {} left, and {} are kept free", what,
                          bytes_text(disk->free_bytes), bytes_text(reserve)),
              "the operator can make room: souk blobs clean, or a larger disk");
}

}  // namespace souk::base
