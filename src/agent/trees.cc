#include "agent/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/containment.h"
#include "base/text.h"
#include "blob/folder.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;

constexpr std::int64_t kFileBytes = 4'096;  // What a file takes on most disks, at least.
constexpr std::int64_t kFilesAlways = 10'000;

struct TreeSize {
  std::int64_t bytes = 0, files = 0;
};

TreeSize size_of(const fs::path& folder) {
  TreeSize out;
  std::error_code ignored;  // A file that vanishes has no size.
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    ++out.files;
    if (entry.is_regular_file(ignored) && !entry.is_symlink(ignored))
      out.bytes += static_cast<std::int64_t>(entry.file_size(ignored));
  }
  return out;
}

// Not half unpacked, or half removed.
bool is_tree(std::string_view name) {
  return std::ranges::all_of(name,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

base::Failure too_much(Code code, const TreeSize& size, std::int64_t max_bytes, std::string why) {
  return fail(
      code,
      fmt::format("what takes {} in {} files does not fit into this machine's cache: {}",
                  base::bytes_text(static_cast<std::uint64_t>(size.bytes)), size.files, why),
      fmt::format("half of --cache is for what is unpacked: {} here",
                  base::bytes_text(static_cast<std::uint64_t>(max_bytes))));
}

}  // namespace

Trees::Trees(std::string folder, std::int64_t max_bytes)
    : folder_(std::move(folder)),
      max_bytes_(max_bytes),
      max_files_(std::max(kFilesAlways, max_bytes / kFileBytes)) {}

base::Result<std::unique_ptr<Trees>> Trees::open(std::string folder, std::int64_t max_bytes) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail(Code::unavailable, fmt::format("cannot use {}: {}", folder, error.message()),
                "choose another folder with --folder");
  auto out = std::unique_ptr<Trees>(new Trees(folder, max_bytes));
  std::vector<std::pair<fs::file_time_type, Tree>> found;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto name = entry.path().filename().string();
    if (is_tree(name)) {
      const auto size = size_of(entry.path());
      found.emplace_back(entry.last_write_time(error), Tree{name, size.bytes, size.files});
    } else {
      fs::remove_all(entry.path(),
                     error);  // Half unpacked, or half removed, by an agent that was killed.
    }
  }
  std::ranges::sort(found, {}, [](const auto& f) { return f.first; });
  for (auto& [when, tree] : found) out->trees_.push_back(std::move(tree));
  out->make_room(0, 0);
  return out;
}

bool Trees::has(const blob::Digest& root) {
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find(trees_, to_string(root), &Tree::name);
  return it != trees_.end() && it->whole;
}

std::vector<std::string> Trees::names() {
  constexpr std::size_t most = 256;
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (auto it = trees_.rbegin(); it != trees_.rend() && out.size() < most; ++it)
    if (it->whole && blob::parse_digest(it->name)) out.push_back(it->name);
  return out;
}

base::Result<Trees::Use> Trees::use(const blob::Digest& root, const blob::Store& store) {
  return use(
      to_string(root), [&](const std::string& folder, const Reserve& more) -> base::Result<> {
        SOUK_ASSIGN(const auto manifest, blob::read_manifest(root, store));
        SOUK_TRY(
            more(static_cast<std::int64_t>(manifest.total_bytes()), std::ssize(manifest.entries)));
        return blob::unpack(manifest, store, folder);
      });
}

base::Result<Trees::Use> Trees::use(const std::string& name, const Make& make) {
  const auto path = folder_ + "/" + name;
  std::unique_lock lock(mutex_);
  const auto find = [&] { return std::ranges::find(trees_, name, &Tree::name); };
  made_.wait(lock, [&] { return find() == trees_.end() || find()->whole; });
  if (const auto it = find(); it != trees_.end()) {
    ++it->users;
    touch(it);
    return Use(*this, path, name);
  }
  // It may be moved in the list, so an iterator lasts while the tree does; in use, it stays.
  const auto tree = trees_.insert(trees_.end(), {.name = name, .users = 1, .whole = false});
  lock.unlock();
  const Reserve more = [&](std::int64_t bytes, std::int64_t files) {
    const std::lock_guard again(mutex_);
    return reserve(tree, bytes, files);
  };
  const auto partial = path + ".part";
  std::error_code error;
  fs::remove_all(partial, error);
  fs::create_directory(partial, error);
  auto done =
      error ? fail(Code::unavailable, fmt::format("cannot make {}: {}", partial, error.message()))
            : base::contained([&] { return make(partial, more); });
  if (done) {
    fs::permissions(partial, fs::perms(0755), error);
    fs::rename(partial, path, error);
    if (error)
      done = fail(Code::unavailable, fmt::format("cannot make {}: {}", path, error.message()));
  }
  if (!done) fs::remove_all(partial, error);
  lock.lock();
  if (done)
    tree->whole = true;
  else
    trees_.erase(tree);
  made_.notify_all();
  if (!done) return std::unexpected(done.error());
  return Use(*this, path, name);
}

base::Result<> Trees::reserve(std::list<Tree>::iterator tree, std::int64_t bytes,
                              std::int64_t files) {
  const TreeSize size{tree->bytes + bytes, tree->files + files};
  if (size.bytes > max_bytes_ || size.files > max_files_)
    return too_much(Code::too_large, size, max_bytes_, "it is larger than that");
  if (!make_room(bytes, files))
    return too_much(Code::unavailable, size, max_bytes_, "other leases use the rest");
  tree->bytes = size.bytes;
  tree->files = size.files;
  return {};
}

// The order survives a restart as the folders' times.
void Trees::touch(std::list<Tree>::iterator tree) {
  std::error_code ignored;  // Then it goes earlier than need be.
  fs::last_write_time(folder_ + "/" + tree->name, fs::file_time_type::clock::now(), ignored);
  trees_.splice(trees_.end(), trees_, tree);
}

void Trees::release(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find(trees_, name, &Tree::name);
  if (it != trees_.end()) {
    --it->users;
    touch(it);
  }
  make_room(0, 0);
}

bool Trees::make_room(std::int64_t bytes, std::int64_t files) {
  for (const auto& tree : trees_) {
    bytes += tree.bytes;
    files += tree.files;
  }
  const auto over = [&] { return bytes > max_bytes_ || files > max_files_; };
  for (auto it = trees_.begin(); it != trees_.end() && over();) {
    if (it->users > 0) {
      ++it;
      continue;
    }
    // Under another name first: a tree of which a part is gone must not pass for a whole one. What
    // cannot be removed now is tried again when the agent starts.
    std::error_code ignored;
    const auto path = folder_ + "/" + it->name, gone = path + ".gone";
    fs::rename(path, gone, ignored);
    fs::remove_all(gone, ignored);
    bytes -= it->bytes;
    files -= it->files;
    it = trees_.erase(it);
  }
  return !over();
}

}  // namespace souk::agent
