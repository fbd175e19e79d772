#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "blob/files.h"
#include "blob/folder.h"

namespace souk::blob {
namespace {

constexpr mode_t kFolderMode = 0755;
constexpr mode_t kExecutableMode = 0755;
constexpr mode_t kFileMode = 0644;

// Opens `target` itself without following it, made if need be, and sees that it is empty.
Result<Fd> open_target(std::string target) {
  // "link/" would be followed where "link" is not.
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  const bool made = ::mkdir(target.c_str(), kFolderMode) == 0;
  if (!made && errno != EEXIST) return system_failure("create the folder", target);
  SOUK_ASSIGN(auto folder, open_folder(AT_FDCWD, target, target));
  if (made && ::fchmod(folder.get(), kFolderMode) != 0) return system_failure("make", target);
  constexpr std::size_t kFew = 1'000;
  const auto names = list_folder(folder.get(), kFew, target);
  if (!names && names.error().code != base::Code::too_large) return std::unexpected(names.error());
  if (!names || !names->empty())
    return base::fail(base::Code::conflict, fmt::format("the folder {} is not empty", target),
                      "an empty folder, or one that does not exist yet");
  return folder;
}

// The open folders from the target down to the one being written. Entries come in an order in
// which each folder is entered once, so a folder to be made must be new: if it is there, somebody
// else made it.
class Folders {
 public:
  enum class Mode { make, exists };
  Folders(int root, std::string_view target, Mode mode)
      : root_(root), target_(target), mode_(mode) {}

  // The folder at `path` below the target; good until the next call.
  Result<int> enter(std::string_view path) {
    std::size_t depth = 0;
    auto rest = path;
    while (depth < open_.size() && !rest.empty() && open_[depth].first == first(rest)) {
      rest = after_first(rest);
      ++depth;
    }
    open_.resize(depth);
    for (; !rest.empty(); rest = after_first(rest)) SOUK_TRY(descend(std::string(first(rest))));
    return here();
  }

 private:
  static std::string_view first(std::string_view path) { return path.substr(0, path.find('/')); }
  static std::string_view after_first(std::string_view path) {
    const auto slash = path.find('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  [[nodiscard]] int here() const { return open_.empty() ? root_ : open_.back().second.get(); }

  Result<> descend(const std::string& name) {
    auto shown = std::string(target_);
    for (const auto& [folder, fd] : open_) shown += "/" + folder;
    shown += "/" + name;
    if (mode_ == Mode::make && ::mkdirat(here(), name.c_str(), kFolderMode) != 0)
      return system_failure("create the folder", shown);
    SOUK_ASSIGN(auto fd, open_folder(here(), name, shown));
    if (mode_ == Mode::make && ::fchmod(fd.get(), kFolderMode) != 0)
      return system_failure("set the mode of", shown);
    open_.emplace_back(name, std::move(fd));
    return {};
  }

  int root_;
  std::string_view target_;
  Mode mode_;
  std::vector<std::pair<std::string, Fd>> open_;
};

std::pair<std::string_view, std::string> split_last(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {path.substr(0, slash), std::string(path.substr(slash + 1))};
}

class Unpacker {
 public:
  Unpacker(const Manifest& manifest, const Store& store, const OnProgress& on_progress)
      : store_(store), on_progress_(on_progress) {
    progress_.bytes_total = manifest.total_bytes();
  }

  Result<> file(int folder, const std::string& name, const Entry& entry, std::string_view shown) {
    const Fd file(::openat(folder, name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
    if (!file) return system_failure("create", shown);
    for (std::size_t i = 0; i < entry.chunks.size(); ++i) {
      const auto& chunk = entry.chunks[i];
      SOUK_ASSIGN(const auto content, store_.content(chunk));
      const auto wanted = entry.chunk_bytes(i);
      if (content.size() != wanted)
        return base::fail(base::Code::damaged,
                          fmt::format("chunk {} of {} has {} bytes where its folder says {}",
                                      to_string(chunk), shown, content.size(), wanted),
                          "pack the folder again");
      SOUK_TRY(write_all(file.get(), content, shown));
      progress_.bytes_done += wanted;
      if (on_progress_) on_progress_(progress_);
    }
    if (::fchmod(file.get(), entry.kind == Kind::executable ? kExecutableMode : kFileMode) != 0)
      return system_failure("set the mode of", shown);
    return {};
  }

 private:
  const Store& store_;
  const OnProgress& on_progress_;
  Progress progress_;
};

}  // namespace

Result<> unpack(const Manifest& manifest, const Store& store, const std::string& target,
                const OnProgress& on_progress) {
  SOUK_TRY(check(manifest));
  SOUK_ASSIGN(const auto root, open_target(target));
  const auto pin = store.pin(manifest.chunks());
  Unpacker unpacker(manifest, store, on_progress);
  Folders making(root.get(), target, Folders::Mode::make);
  for (const auto& entry : manifest.entries) {
    if (entry.kind == Kind::empty_folder) {
      SOUK_TRY(making.enter(entry.path));
      continue;
    }
    const auto [path, name] = split_last(entry.path);
    SOUK_ASSIGN(const int folder, making.enter(path));
    if (entry.kind == Kind::link) continue;
    SOUK_TRY(unpacker.file(folder, name, entry, target + "/" + entry.path));
  }
  Folders made(root.get(), target, Folders::Mode::exists);
  for (const auto& entry : manifest.entries) {
    if (entry.kind != Kind::link) continue;
    const auto [path, name] = split_last(entry.path);
    SOUK_ASSIGN(const int folder, made.enter(path));
    if (::symlinkat(entry.target.c_str(), folder, name.c_str()) != 0)
      return system_failure("link", target + "/" + entry.path);
  }
  return {};
}

}  // namespace souk::blob
