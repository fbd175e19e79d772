#include "agent/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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

base::Failure too_much(Code code, const TreeSize& size, std::int64_t max_bytes, std::string why) {
  return fail(
      code,
      fmt::format("an input of {} in {} files does not fit into this machine's cache: {}",
                  base::bytes_text(static_cast<std::uint64_t>(size.bytes)), size.files, why),
      fmt::format("half of --cache is for unpacked inputs: {} here",
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
    if (blob::parse_digest(name)) {
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
  return std::ranges::find(trees_, to_string(root), &Tree::name) != trees_.end();
}

std::vector<std::string> Trees::names() {
  constexpr std::size_t most = 256;
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (auto it = trees_.rbegin(); it != trees_.rend() && out.size() < most; ++it)
    out.push_back(it->name);
  return out;
}

base::Result<Trees::Use> Trees::use(const blob::Digest& root, const blob::Store& store) {
  const std::lock_guard lock(mutex_);
  const auto name = to_string(root);
  const auto path = folder_ + "/" + name;
  const auto it = std::ranges::find(trees_, name, &Tree::name);
  if (it != trees_.end()) {
    ++it->users;
    touch(it);
    return Use(*this, path, name);
  }
  SOUK_ASSIGN(const auto manifest, blob::read_manifest(root, store));
  const TreeSize size{static_cast<std::int64_t>(manifest.total_bytes()),
                      std::ssize(manifest.entries)};
  if (size.bytes > max_bytes_ || size.files > max_files_)
    return too_much(Code::too_large, size, max_bytes_, "it is larger than that");
  if (!make_room(size.bytes, size.files))
    return too_much(Code::unavailable, size, max_bytes_, "other leases use the rest");
  const auto partial = path + ".part";
  std::error_code error;
  fs::remove_all(partial, error);
  if (auto done = blob::unpack(manifest, store, partial); !done) {
    fs::remove_all(partial, error);
    return std::unexpected(done.error());
  }
  fs::rename(partial, path, error);
  if (error) {
    const auto why = error.message();
    fs::remove_all(partial, error);
    return fail(Code::unavailable, fmt::format("cannot make {}: {}", path, why));
  }
  trees_.push_back({name, size.bytes, size.files, 1});
  return Use(*this, path, name);
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
