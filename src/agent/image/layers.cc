#include "agent/image/layers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <unordered_set>
#include <vector>

#include "agent/image/inflate.h"
#include "agent/image/tar.h"
#include "blob/files.h"

namespace souk::agent {
namespace {

using base::Code;
using base::fail;
using base::Fd;
using base::Result;
using blob::system_failure;

constexpr std::size_t kDeepest = 256;
constexpr std::size_t kLongestPath = 4'000;
constexpr std::size_t kMostNames = 1'000'000;  // In one folder.
constexpr std::size_t kRead = 1 << 20;
constexpr int kWaitMs = 500;
constexpr std::int64_t kReserveStep = 16 << 20;
constexpr std::string_view kWhiteout = ".wh.", kOpaque = ".wh..wh..opq";

constexpr const char* kMountFolders[] = {"proc", "dev", "tmp", "work", "etc"};
constexpr const char* kMountFiles[] = {"passwd", "group", "hosts", "resolv.conf"};

using Parts = std::vector<std::string>;

// The names in a path, from the root of the image. A path with ".." is no honest image's.
Result<Parts> parts_of(std::string_view path) {
  const auto bad = [&] {
    return fail(Code::invalid, fmt::format("the image has a file '{}', which leads out of it",
                                           path.substr(0, 200)));
  };
  if (path.size() > kLongestPath || path.contains('\0')) return bad();
  Parts out;
  while (!path.empty()) {
    const auto end = std::min(path.find('/'), path.size());
    const auto name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name == ".." || name.size() > 255) return bad();
    out.emplace_back(name);
  }
  if (out.size() > kDeepest) return bad();
  return out;
}

std::string joined_path(const Parts& parts) {
  std::string out;
  for (const auto& part : parts) out += "/" + part;
  return out.empty() ? "/" : out;
}

int open_in_root(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  // "/" would be refused as an absolute path of nothing; it is the root itself.
  const auto name = path == "/" ? std::string(".") : path;
  return static_cast<int>(::syscall(SYS_openat2, root, name.c_str(), &how, sizeof how));
}

bool is_folder(int parent, const std::string& name) {
  struct stat found{};
  return ::fstatat(parent, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(found.st_mode);
}

// Whatever the umask, as another user runs programs in it.
bool make_folder(int parent, const std::string& name) {
  return ::mkdirat(parent, name.c_str(), 0755) == 0 &&
         ::fchmodat(parent, name.c_str(), 0755, 0) == 0;
}

// Links could lead to ever deeper folders, which nobody could remove any more.
Result<> check_depth(int folder) {
  std::array<char, PATH_MAX> path{};
  const auto link = fmt::format("/proc/self/fd/{}", folder);
  const auto length = ::readlink(link.c_str(), path.data(), path.size());
  if (length >= 0 && static_cast<std::size_t>(length) + 256 < path.size() &&
      std::count(path.data(), path.data() + length, '/') < 2 * static_cast<int>(kDeepest))
    return {};
  return fail(Code::invalid, "the image has folders that are nested too deeply");
}

// Removes what is called so, with all below it; nothing is followed.
Result<> remove_all(int parent, const std::string& name) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (!is_folder(parent, name)) return system_failure("remove", name);
  SOUK_ASSIGN(const auto folder, blob::open_folder(parent, name, name));
  SOUK_ASSIGN(const auto names, blob::list_folder(folder.get(), kMostNames, name));
  for (const auto& child : names) SOUK_TRY(remove_all(folder.get(), child));
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0) return system_failure("remove", name);
  return {};
}

// One layer on its way into the tree.
class Applying {
 public:
  Applying(int root, const Reserve& reserve) : root_(root), reserve_(reserve) {}

  Result<> entry(const TarEntry& entry) {
    file_.reset();
    // Of every entry, also of those that become no file: a layer has no end else.
    SOUK_TRY(reserve_bytes(entry.size + entry.notes));
    SOUK_TRY(reserve_(0, 1));
    SOUK_ASSIGN(auto parts, parts_of(entry.path));
    if (parts.empty()) return {};  // The root itself.
    const auto name = parts.back();
    parts.pop_back();
    if (name == kOpaque) return opaque(parts);
    if (name.starts_with(kWhiteout)) return whiteout(parts, name.substr(kWhiteout.size()));
    if (entry.kind == TarKind::special) return {};
    SOUK_ASSIGN(const auto parent, folder_at(parts));
    note(parts, name);
    return make(entry, parent.get(), name);
  }

  Result<> data(std::string_view bytes) {
    if (!file_) return {};
    return blob::write_all(file_.get(), bytes, "a file of the image");
  }

 private:
  // Asks for room in steps, as layers have many small files.
  Result<> reserve_bytes(std::int64_t bytes) {
    if (bytes > room_) {
      const auto more = std::max(bytes - room_, kReserveStep);
      // Perhaps there is not so much, but enough.
      if (const auto got = reserve_(more, 0); got) {
        room_ += more;
      } else {
        SOUK_TRY(reserve_(bytes - room_, 0));
        room_ = bytes;
      }
    }
    room_ -= bytes;
    return {};
  }

  void note(const Parts& parts, const std::string& name) {
    std::string path;
    for (const auto& part : parts) ours_.insert(path += "/" + part);
    ours_.insert(path + "/" + name);
  }

  // Opens the folder, and makes those on the way that are absent: tars need not have them.
  Result<Fd> folder_at(const Parts& parts) {
    if (Fd there(open_in_root(root_, joined_path(parts), O_PATH | O_DIRECTORY)); there) {
      SOUK_TRY(check_depth(there.get()));
      return there;
    }
    Parts above;
    Fd folder(open_in_root(root_, "/", O_PATH | O_DIRECTORY));
    if (!folder) return system_failure("open", "the image");
    for (const auto& part : parts) {
      above.push_back(part);
      Fd next(open_in_root(root_, joined_path(above), O_PATH | O_DIRECTORY));
      if (!next && errno == ENOENT) {
        SOUK_TRY(reserve_(0, 1));
        SOUK_TRY(check_depth(folder.get()));
        if (make_folder(folder.get(), part))
          next = Fd(open_in_root(root_, joined_path(above), O_PATH | O_DIRECTORY));
      }
      if (!next)
        return fail(Code::invalid, fmt::format("the image has files below {}, which is no folder",
                                               joined_path(above).substr(0, 200)));
      folder = std::move(next);
    }
    return folder;
  }

  Result<> make(const TarEntry& entry, int parent, const std::string& name) {
    if (entry.kind == TarKind::folder) {
      if (is_folder(parent, name)) return {};
      SOUK_TRY(remove_all(parent, name));
      return make_folder(parent, name) ? Result<>() : system_failure("make", entry.path);
    }
    if (entry.kind == TarKind::hard_link) return link(entry, parent, name);
    SOUK_TRY(remove_all(parent, name));
    if (entry.kind == TarKind::link) {
      if (::symlinkat(entry.target.c_str(), parent, name.c_str()) != 0)
        return system_failure("link", entry.path);
      return {};
    }
    file_ = Fd(
        ::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file_) return system_failure("create", entry.path);
    if (::fchmod(file_.get(), entry.executable ? 0755 : 0644) != 0)
      return system_failure("create", entry.path);
    return {};
  }

  Result<> link(const TarEntry& entry, int parent, const std::string& name) {
    SOUK_ASSIGN(auto to, parts_of(entry.target));
    const auto absent = [&] {
      return fail(Code::invalid,
                  fmt::format("the image links {} to {}, which it has not",
                              entry.path.substr(0, 200), entry.target.substr(0, 200)));
    };
    if (to.empty()) return absent();
    const auto last = to.back();
    to.pop_back();
    const Fd from(open_in_root(root_, joined_path(to), O_PATH | O_DIRECTORY));
    struct stat a{}, b{};
    if (!from || ::fstatat(from.get(), last.c_str(), &a, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISDIR(a.st_mode))
      return absent();
    // To itself: as it is.
    if (::fstatat(parent, name.c_str(), &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_ino == b.st_ino)
      return {};
    SOUK_TRY(remove_all(parent, name));
    if (::linkat(from.get(), last.c_str(), parent, name.c_str(), 0) == 0) return {};
    return system_failure("link", entry.path);
  }

  Result<> whiteout(const Parts& parts, const std::string& name) {
    if (name.empty() || name == "." || name == ".." || name.starts_with(kWhiteout)) return {};
    const Fd parent(open_in_root(root_, joined_path(parts), O_PATH | O_DIRECTORY));
    if (!parent) return {};  // There is nothing to hide.
    auto path = joined_path(parts);
    if (path == "/") path.clear();
    return remove_lower(parent.get(), path, name);
  }

  Result<> opaque(const Parts& parts) {
    const Fd folder(open_in_root(root_, joined_path(parts), O_RDONLY | O_DIRECTORY));
    if (!folder) return {};
    auto path = joined_path(parts);
    if (path == "/") path.clear();
    SOUK_ASSIGN(const auto names, blob::list_folder(folder.get(), kMostNames, path));
    for (const auto& name : names) SOUK_TRY(remove_lower(folder.get(), path, name));
    return {};
  }

  // Removes what other layers have there; what this one brought stays.
  Result<> remove_lower(int parent, const std::string& above, const std::string& name) {
    const auto path = above + "/" + name;
    if (!ours_.contains(path)) return remove_all(parent, name);
    if (!is_folder(parent, name)) return {};
    SOUK_ASSIGN(const auto folder, blob::open_folder(parent, name, path));
    SOUK_ASSIGN(const auto names, blob::list_folder(folder.get(), kMostNames, path));
    for (const auto& child : names) SOUK_TRY(remove_lower(folder.get(), path, child));
    return {};
  }

  const int root_;
  const Reserve& reserve_;
  std::int64_t room_ = 0;
  Fd file_;                               // Of the entry whose content comes.
  std::unordered_set<std::string> ours_;  // What this layer brought, and the folders above it.
};

}  // namespace

Result<LayerTree> LayerTree::open(const std::string& folder, Reserve reserve) {
  Fd root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root) return system_failure("open", folder);
  if (const Fd probe(open_in_root(root.get(), "/", O_PATH | O_DIRECTORY)); !probe) {
    if (errno != ENOSYS && errno != EPERM) return system_failure("open", folder);
    return fail(Code::unavailable, "images need Linux 5.6 or later (openat2)");
  }
  return LayerTree(std::move(root), std::move(reserve));
}

Result<> LayerTree::apply(const std::string& layer, const std::function<bool()>& give_up) {
  const Fd file(::open(layer.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return system_failure("open", layer);
  return apply(file.get(), give_up);
}

Result<> LayerTree::apply(int layer, const std::function<bool()>& give_up) {
  Applying applying(root_.get(), reserve_);
  TarReader tar([&](const TarEntry& entry) { return applying.entry(entry); },
                [&](std::string_view bytes) { return applying.data(bytes); });
  Inflater inflater([&](std::string_view piece) -> Result<> {
    SOUK_TRY(tar.add(piece));
    if (tar.ended()) return fail(Code::conflict, "the tar has ended");  // Ends the inflating.
    return {};
  });
  const auto buffer = std::make_unique<char[]>(kRead);
  for (;;) {
    if (give_up()) return fail(Code::conflict, "stopped");
    pollfd ready{layer, POLLIN, 0};
    if (::poll(&ready, 1, kWaitMs) == 0) continue;
    const auto got = ::read(layer, buffer.get(), kRead);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return system_failure("read", "a layer");
    if (got == 0) break;
    if (tar.ended()) continue;  // Whoever writes it may write to its end.
    const auto added = inflater.add({buffer.get(), static_cast<std::size_t>(got)});
    if (!tar.ended()) SOUK_TRY(added);
  }
  if (tar.ended()) return {};
  SOUK_TRY(inflater.end());
  return tar.end();
}

Result<> LayerTree::make_mount_points() {
  for (const auto* name : kMountFolders) {
    if (is_folder(root_.get(), name)) continue;
    SOUK_TRY(remove_all(root_.get(), name));
    if (!make_folder(root_.get(), name)) return system_failure("make", name);
  }
  SOUK_ASSIGN(const auto etc, blob::open_folder(root_.get(), "etc", "etc"));
  for (const auto* name : kMountFiles) {
    SOUK_TRY(remove_all(etc.get(), name));
    const Fd made(::openat(etc.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!made || ::fchmod(made.get(), 0644) != 0) return system_failure("create", name);
  }
  return {};
}

}  // namespace souk::agent
