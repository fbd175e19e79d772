#include "blob/walk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "blob/files.h"

namespace souk::blob {
namespace {

constexpr std::size_t kMostWarnings = 100;

std::string_view kind_name(mode_t mode) {
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISFIFO(mode)) return "pipe";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "device";
  return "special file";
}

class Walker {
 public:
  Walker(std::string_view shown, const Ignore& ignore, BadLinks bad_links)
      : shown_(shown), ignore_(ignore), bad_links_(bad_links) {}

  // `prefix` is the folder's path with a '/' at its end, or nothing for the top.
  Result<> folder(int fd, const std::string& prefix) {
    const auto before = out_.entries.size();
    SOUK_ASSIGN(const auto names, list_folder(fd, kMostEntries, full(prefix)));
    for (const auto& name : names) SOUK_TRY(item(fd, prefix + name, name));
    if (out_.entries.size() == before && !prefix.empty())
      SOUK_TRY(keep({.path = prefix.substr(0, prefix.size() - 1), .kind = Kind::empty_folder}));
    return {};
  }

  Walked take() {
    std::ranges::sort(out_.entries, path_before, &Entry::path);
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string full(const std::string& path) const {
    return fmt::format("{}/{}", shown_, path);
  }

  Result<> keep(Entry entry) {
    SOUK_TRY(check_path(entry.path));
    if (out_.entries.size() == kMostEntries)
      return base::fail(base::Code::too_large,
                        fmt::format("{} has more than {} files", shown_, kMostEntries),
                        "pack them into an archive (tar), or leave some out with .soukignore");
    out_.entries.push_back(std::move(entry));
    return {};
  }

  Result<> item(int parent, const std::string& path, const std::string& name) {
    struct stat status{};
    if (::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return system_failure("look at", full(path));
    const bool is_folder = S_ISDIR(status.st_mode);
    if (ignore_.matches(path, is_folder)) return {};
    if (is_folder) {
      SOUK_TRY(check_path(path));  // Bounds the depth of this recursion.
      SOUK_ASSIGN(const auto fd, open_folder(parent, name, full(path)));
      return folder(fd.get(), path + "/");
    }
    if (S_ISLNK(status.st_mode)) return link(parent, path, name);
    if (S_ISREG(status.st_mode))
      return keep({.path = path,
                   .kind = status.st_mode & S_IXUSR ? Kind::executable : Kind::file,
                   .size = static_cast<std::uint64_t>(status.st_size)});
    skip(path, fmt::format("it is a {}, not a file", kind_name(status.st_mode)));
    return {};
  }

  void skip(const std::string& path, std::string_view why) {
    if (out_.warnings.size() < kMostWarnings)
      out_.warnings.push_back(fmt::format("skipped {}: {}", full(path), why));
  }

  Result<> link(int parent, const std::string& path, const std::string& name) {
    std::string target(kMostPathBytes + 1, '\0');
    const auto size = ::readlinkat(parent, name.c_str(), target.data(), target.size());
    if (size < 0) return system_failure("read the link", full(path));
    target.resize(static_cast<std::size_t>(size));
    SOUK_TRY(check_path(path));
    const auto good = check_target(path, target);
    if (!good && bad_links_ == BadLinks::skip) {
      skip(path, good.error().message);
      return {};
    }
    SOUK_TRY(good);
    return keep({.path = path, .kind = Kind::link, .target = std::move(target)});
  }

  std::string_view shown_;
  const Ignore& ignore_;
  const BadLinks bad_links_;
  Walked out_;
};

}  // namespace

Result<Walked> walk(int root, std::string_view shown, const Ignore& ignore, BadLinks bad_links) {
  Walker walker(shown, ignore, bad_links);
  SOUK_TRY(walker.folder(root, ""));
  return walker.take();
}

}  // namespace souk::blob
