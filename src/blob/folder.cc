#include "blob/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>

#include "base/text.h"
#include "blob/cutter.h"
#include "blob/files.h"
#include "blob/folder_writer.h"
#include "blob/ignore.h"
#include "blob/walk.h"

namespace souk::blob {
namespace {

constexpr auto kIgnoreFile = ".soukignore";
constexpr std::size_t kMostIgnoreBytes = 1 << 20;

// Where packing begins: an open folder, or an open folder with the one file wanted of it.
struct Start {
  Fd folder;
  std::string file;   // Empty: all of the folder.
  std::string shown;  // The folder's path, for messages.
};

Result<Start> start_at(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return system_failure("pack", path);
  Start start{.shown = path};
  while (start.shown.size() > 1 && start.shown.ends_with('/')) start.shown.pop_back();
  if (S_ISREG(status.st_mode)) {
    // Resolved here, so that a link given by the user is the file it points to.
    std::error_code error;
    const auto real = std::filesystem::canonical(path, error);
    if (error) return base::fail(base::Code::not_found, fmt::format("cannot find {}", path));
    start.file = real.filename();
    start.shown = real.parent_path();
  } else if (!S_ISDIR(status.st_mode)) {
    return base::fail(base::Code::invalid, fmt::format("cannot pack {}", path),
                      "a folder or a plain file");
  }
  start.folder = Fd(::open(start.shown.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!start.folder) return system_failure("open the folder", start.shown);
  return start;
}

// Patterns that leave out all but these paths. Level by level, because the last line that matches
// decides: first everything is left out, then the wanted names are taken back.
std::string all_but(std::vector<std::string> only) {
  const auto all = only;
  std::erase_if(only, [&](const std::string& path) {  // It is part of another.
    return std::ranges::any_of(all,
                               [&](const auto& other) { return path.starts_with(other + "/"); });
  });
  std::string out = "/*\n";
  bool deeper = true;
  for (std::size_t level = 1; deeper; ++level) {
    deeper = false;
    std::string taken_back, left_out;
    for (const auto& path : only) {
      std::size_t end = 0;
      for (std::size_t i = 0; i < level && end != std::string::npos; ++i)
        end = path.find('/', end + (i > 0));
      const auto depth = static_cast<std::size_t>(std::ranges::count(path, '/')) + 1;
      if (depth < level) continue;
      const auto part = path.substr(0, end);
      taken_back += "!/" + part + (depth == level ? "\n" : "/\n");
      if (depth == level) continue;
      left_out += "/" + part + "/*\n";
      deeper = true;
    }
    out += taken_back + left_out;
  }
  return out;
}

Result<Ignore> ignore_of(const Start& start, const PackOptions& options) {
  if (!options.only.empty()) return Ignore::parse(all_but(options.only));
  SOUK_ASSIGN(auto ignore, Ignore::parse(options.ignore));
  const auto path = fmt::format("{}/{}", start.shown, kIgnoreFile);
  const Fd file(
      ::openat(start.folder.get(), kIgnoreFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return ignore;
  if (!file) return system_failure("read", path);
  SOUK_ASSIGN(const auto text, read_up_to(file.get(), kMostIgnoreBytes + 1, path));
  if (text.size() > kMostIgnoreBytes)
    return base::fail(base::Code::too_large,
                      fmt::format("{} is larger than {} bytes", path, kMostIgnoreBytes));
  SOUK_TRY(ignore.add(text));
  return ignore;
}

base::Failure too_large(const std::string& path, std::uint64_t bytes, std::uint64_t most) {
  return base::fail(base::Code::too_large,
                    fmt::format("{} has {} bytes; at most {} are accepted", path, bytes, most),
                    "leave out what the job does not need with .soukignore");
}

Result<PackPreview> plan_from(const Start& start, const PackOptions& options) {
  PackPreview plan;
  if (start.file.empty()) {
    SOUK_ASSIGN(const auto ignore, ignore_of(start, options));
    SOUK_ASSIGN(auto walked, walk(start.folder.get(), start.shown, ignore,
                                  options.only.empty() ? BadLinks::refuse : BadLinks::skip));
    plan.entries = std::move(walked.entries);
    plan.warnings = std::move(walked.warnings);
  } else {
    struct stat status{};
    if (::fstatat(start.folder.get(), start.file.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return system_failure("look at", start.file);
    plan.entries.push_back({.path = start.file,
                            .kind = status.st_mode & S_IXUSR ? Kind::executable : Kind::file,
                            .size = static_cast<std::uint64_t>(status.st_size)});
  }
  for (const auto& entry : plan.entries) plan.total_bytes += entry.size;
  if (plan.total_bytes > options.most_bytes)
    return too_large(start.shown, plan.total_bytes, options.most_bytes);
  SOUK_TRY(check_fits(plan.entries));
  return plan;
}

// What is left of a file, at least kChunkBytes at a time, read into a buffer that stays.
class Window {
 public:
  void begin(int fd, std::uint64_t bytes) {
    fd_ = fd;
    unread_ = bytes;
    at_ = size_ = 0;
  }
  // The next bytes: all that is left, or at least kChunkBytes of it. Fewer: the file was cut short.
  Result<std::string_view> rest(std::string_view shown) {
    constexpr std::size_t room = 4 * kChunkBytes;
    if (buffer_.empty()) buffer_.resize_and_overwrite(room, [](char*, std::size_t n) { return n; });
    if (size_ - at_ < kChunkBytes && unread_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + at_, size_ - at_);
      size_ -= std::exchange(at_, 0);
      const auto wanted = std::min<std::uint64_t>(room - size_, unread_);
      SOUK_ASSIGN(const auto got, read_into(fd_, std::span(buffer_).subspan(size_, wanted), shown));
      size_ += got;
      unread_ = got == wanted ? unread_ - got : 0;
    }
    return std::string_view(buffer_).substr(at_, size_ - at_);
  }
  void take(std::size_t bytes) { at_ += bytes; }

 private:
  Bytes buffer_;
  int fd_ = -1;
  std::uint64_t unread_ = 0;
  std::size_t at_ = 0, size_ = 0;  // Of what is in the buffer.
};

// Reads files of one folder into a store.
class Packer {
 public:
  Packer(const Start& start, Store& store, const PackOptions& options, const PackPreview& plan)
      : start_(start),
        store_(store),
        options_(options),
        cutting_(check_fits(plan.entries, Cutting::by_content) ? Cutting::by_content
                                                               : Cutting::fixed),
        pin_(store.pin({})) {
    progress_.bytes_total = plan.total_bytes;
  }

  Result<> read(Entry& entry) {
    const auto shown = fmt::format("{}/{}", start_.shown, entry.path);
    SOUK_ASSIGN(const auto file, open(entry.path, shown));
    struct stat before{}, after{};
    if (::fstat(file.get(), &before) != 0) return system_failure("look at", shown);
    if (!S_ISREG(before.st_mode)) return changed(shown);
    entry.size = static_cast<std::uint64_t>(before.st_size);
    entry.kind = before.st_mode & S_IXUSR ? Kind::executable : Kind::file;
    packed_bytes_ += entry.size;  // It may have grown since it was listed.
    if (packed_bytes_ > options_.most_bytes)
      return too_large(start_.shown, packed_bytes_, options_.most_bytes);
    window_.begin(file.get(), entry.size);
    const bool by_content = cutting_ == Cutting::by_content && entry.size > kChunkBytes;
    for (auto left = entry.size; left > 0;) {
      SOUK_ASSIGN(const auto rest, window_.rest(shown));
      const auto bytes = by_content ? cut(rest) : std::min(rest.size(), kChunkBytes);
      if (bytes == 0) return changed(shown);
      SOUK_ASSIGN(const auto added, store_.add(rest.substr(0, bytes), &pin_));
      entry.chunks.push_back(added.name);
      if (by_content) entry.lengths.push_back(static_cast<std::uint32_t>(bytes));
      report(bytes, added.was_there);
      window_.take(bytes);
      left -= bytes;
    }
    if (::fstat(file.get(), &after) != 0) return system_failure("look at", shown);
    if (!same(before, after)) return changed(shown);
    return {};
  }

  Store::Pin& pin() { return pin_; }

 private:
  // Files come in order, so the folder of one is mostly that of the next.
  Result<Fd> open(const std::string& path, const std::string& shown) {
    const auto slash = path.rfind('/');
    const auto folder = slash == std::string::npos ? std::string() : path.substr(0, slash);
    if (folder != folder_path_ || !folder_) {
      SOUK_ASSIGN(folder_, open_folder(start_.folder.get(), ".", shown));
      for (std::size_t at = 0; at < folder.size();) {
        const auto end = std::min(folder.find('/', at), folder.size());
        SOUK_ASSIGN(folder_, open_folder(folder_.get(), folder.substr(at, end - at), shown));
        at = end + 1;
      }
      folder_path_ = folder;
    }
    const auto name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    // Non-blocking: what is a pipe by now must not hold us up.
    Fd file(::openat(folder_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) return system_failure("read", shown);
    return file;
  }

  static bool same(const struct stat& a, const struct stat& b) {
    const auto equal = [](const timespec& x, const timespec& y) {
      return x.tv_sec == y.tv_sec && x.tv_nsec == y.tv_nsec;
    };
    return a.st_size == b.st_size && equal(a.st_mtim, b.st_mtim) && equal(a.st_ctim, b.st_ctim);
  }

  static base::Failure changed(const std::string& shown) {
    return base::fail(base::Code::conflict, fmt::format("{} changed while it was read", shown),
                      "pack again when nothing writes to it, or leave it out with .soukignore");
  }

  void report(std::uint64_t bytes, bool skipped) {
    progress_.bytes_done += bytes;
    progress_.bytes_total = std::max(progress_.bytes_total, progress_.bytes_done);
    progress_.chunks_skipped += skipped;
    if (options_.on_progress) options_.on_progress(progress_);
  }

  const Start& start_;
  Store& store_;
  const PackOptions& options_;
  const Cutting cutting_;  // What is too large for a list of small chunks is cut into large ones.
  Store::Pin pin_;
  Window window_;
  Fd folder_;
  std::string folder_path_;
  Progress progress_;
  std::uint64_t packed_bytes_ = 0;
};

}  // namespace

Result<PackPreview> plan(const std::string& path, const PackOptions& options) {
  SOUK_ASSIGN(const auto start, start_at(path));
  return plan_from(start, options);
}

Result<Packed> pack(const std::string& path, Store& store, const PackOptions& options) {
  SOUK_ASSIGN(const auto start, start_at(path));
  SOUK_ASSIGN(auto plan, plan_from(start, options));
  Packer packer(start, store, options, plan);
  Packed out;
  for (auto& entry : plan.entries) {
    if (entry.kind == Kind::file || entry.kind == Kind::executable) SOUK_TRY(packer.read(entry));
    out.manifest.entries.push_back(std::move(entry));
  }
  SOUK_TRY(check(out.manifest));
  SOUK_ASSIGN(const auto bytes, to_bytes(out.manifest));
  SOUK_ASSIGN(const auto added, store.add(bytes, &packer.pin()));
  out.root = added.name;
  out.warnings = std::move(plan.warnings);
  out.pin = std::move(packer.pin());
  return out;
}

Result<Packed> pack_files(const std::map<std::string, std::string>& files, Store& store) {
  FolderWriter out(store);
  for (const auto& [path, content] : files) SOUK_TRY(out.add(path, content));
  return out.finish();
}

Result<> read_chunks(const Manifest& manifest, std::string_view path, const Store& store,
                     const std::function<Result<>(std::string_view)>& each) {
  const auto it = std::ranges::find(manifest.entries, path, &Entry::path);
  if (it == manifest.entries.end())
    return base::fail(base::Code::not_found, "there is no file '" + std::string(path) + "'");
  for (const auto& name : it->chunks) {
    SOUK_ASSIGN(const auto piece, store.content(name));
    SOUK_TRY(each(piece));
  }
  return {};
}

Result<Bytes> read_file(const Manifest& manifest, std::string_view path, const Store& store,
                        std::uint64_t most_bytes) {
  const auto it = std::ranges::find(manifest.entries, path, &Entry::path);
  if (it == manifest.entries.end())
    return base::fail(base::Code::not_found, "there is no file '" + std::string(path) + "'");
  if (it->size > most_bytes)
    return base::fail(base::Code::too_large,
                      fmt::format("'{}' has {}; at most {} are read at once", path,
                                  base::bytes_text(it->size), base::bytes_text(most_bytes)));
  Bytes out;
  for (const auto& name : it->chunks) {
    SOUK_ASSIGN(const auto piece, store.content(name));
    if (out.empty()) out.reserve(it->size);  // Not before something of it is there.
    if (out.size() + piece.size() > it->size) break;
    out += piece;
  }
  if (out.size() != it->size)
    return base::fail(
        base::Code::damaged,
        fmt::format("'{}' does not hold the {} bytes that its folder says", path, it->size),
        "pack the folder again");
  return out;
}

Result<Manifest> read_manifest(const Digest& root, const Store& store) {
  SOUK_ASSIGN(const auto bytes, store.content(root));
  return parse_manifest(bytes);
}

}  // namespace souk::blob
