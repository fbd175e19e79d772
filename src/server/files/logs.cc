#include "server/files/logs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/fd.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;

base::Failure cannot(std::string_view what, const std::string& path) {
  return fail(Code::unavailable, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)),
              "look at the server's disk");
}

}  // namespace

std::string Logs::path(base::JobId job, base::LeaseId lease) const {
  return fmt::format("{}/{}/{}", folder_, to_string(job), to_string(lease));
}

base::Result<std::int64_t> Logs::append(base::JobId job, base::LeaseId lease, std::int64_t offset,
                                        std::string_view text) const {
  const auto name = path(job, lease);
  std::error_code ignored;  // Opening says it better.
  std::filesystem::create_directories(std::filesystem::path(name).parent_path(), ignored);
  const base::Fd file(::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return cannot("open the log", name);
  if (offset < 0 || offset > status.st_size)
    return fail(Code::conflict, fmt::format("the log has {} bytes, not {}", status.st_size, offset),
                "go on from there", "offset");
  text = text.substr(0, static_cast<std::size_t>(std::max<std::int64_t>(0, kMost - offset)));
  for (std::size_t done = 0; done < text.size();) {
    const auto n = ::pwrite(file.get(), text.data() + done, text.size() - done,
                            offset + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot("write the log", name);
    done += static_cast<std::size_t>(n);
  }
  return std::max<std::int64_t>(status.st_size, offset + std::ssize(text));
}

base::Result<std::string> Logs::read(base::JobId job, base::LeaseId lease,
                                     std::int64_t from) const {
  const auto name = path(job, lease);
  const base::Fd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::string();
  if (!file) return cannot("open the log", name);
  std::string out(kMostRead, '\0');
  const auto n = ::pread(file.get(), out.data(), out.size(), std::max<std::int64_t>(0, from));
  if (n < 0) return cannot("read the log", name);
  out.resize(static_cast<std::size_t>(n));
  return out;
}

void Logs::forget(base::JobId job) const {
  std::error_code ignored;  // What stays is bounded by the disk's owner, and harmless.
  std::filesystem::remove_all(fmt::format("{}/{}", folder_, to_string(job)), ignored);
}

}  // namespace souk::server
