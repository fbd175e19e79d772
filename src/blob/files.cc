#include "blob/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace souk::blob {
namespace {

struct CloseFolder {
  void operator()(DIR* d) const { ::closedir(d); }
};

}  // namespace

base::Failure system_failure(std::string_view verb, std::string_view path) {
  const int why = errno;
  auto code = base::Code::internal;
  if (why == ENOSPC || why == EDQUOT || why == EMFILE || why == ENFILE)
    code = base::Code::exhausted;
  else if (why == ENOENT)
    code = base::Code::not_found;
  else if (why == EACCES || why == EPERM || why == EROFS)
    code = base::Code::forbidden;
  else if (why == EEXIST || why == ELOOP || why == ENOTDIR || why == ENOTEMPTY)
    code = base::Code::conflict;
  return base::fail(code, fmt::format("cannot {} {}: {}", verb, path, std::strerror(why)));
}

base::Result<> replace_file(const std::string& path, std::string_view bytes) {
  const auto aside = path + ".new";
  const Fd file(::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.get() < 0) return system_failure("create", aside);
  SOUK_TRY(write_all(file.get(), bytes, aside));
  if (::fsync(file.get()) != 0) return system_failure("sync", aside);
  if (::rename(aside.c_str(), path.c_str()) != 0) return system_failure("rename", aside);
  const auto folder = path.substr(0, path.find_last_of('/') + 1);
  const Fd parent(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0 || ::fsync(parent.get()) != 0) return system_failure("sync", folder);
  return {};
}

base::Result<> write_all(int fd, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_failure("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

base::Result<> write_all(int fd, std::string_view first, std::string_view rest,
                         std::string_view path) {
  std::array<iovec, 2> parts = {iovec{const_cast<char*>(first.data()), first.size()},
                                iovec{const_cast<char*>(rest.data()), rest.size()}};
  const auto written = ::writev(fd, parts.data(), parts.size());
  if (written < 0 && errno != EINTR) return system_failure("write", path);
  const auto done = static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  if (done < first.size()) SOUK_TRY(write_all(fd, first.substr(done), path));
  return write_all(fd, rest.substr(done > first.size() ? done - first.size() : 0), path);
}

base::Result<std::size_t> read_into(int fd, std::span<char> out, std::string_view path) {
  std::size_t size = 0;
  while (size < out.size()) {
    const auto got = ::read(fd, out.data() + size, out.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read", path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return size;
}

base::Result<base::Bytes> read_up_to(int fd, std::size_t most, std::string_view path) {
  base::Bytes out;
  out.resize_and_overwrite(most, [=](char*, std::size_t) { return most; });  // Not cleared first.
  SOUK_ASSIGN(const auto size, read_into(fd, out, path));
  out.resize(size);
  return out;
}

base::Result<Fd> open_folder(int parent, const std::string& name, std::string_view path) {
  Fd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return system_failure("open the folder", path);
  return fd;
}

base::Result<std::vector<std::string>> list_folder(int folder, std::size_t most,
                                                   std::string_view path) {
  // Opened anew, because a copy of the descriptor would share its position.
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return system_failure("open the folder", path);
  const std::unique_ptr<DIR, CloseFolder> dir(::fdopendir(fd));
  if (!dir) {
    auto failure = system_failure("list", path);
    ::close(fd);
    return failure;
  }
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const auto* item = ::readdir(dir.get());
    if (item == nullptr && errno != 0) return system_failure("list", path);
    if (item == nullptr) break;
    std::string name = item->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == most)
      return base::fail(base::Code::too_large,
                        fmt::format("the folder {} has more than {} names in it", path, most),
                        "pack them into an archive");
    names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace souk::blob
