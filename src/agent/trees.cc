#include "agent/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "blob/folder.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;

std::int64_t bytes_in(const fs::path& folder) {
  std::int64_t out = 0;
  std::error_code ignored;  // A file that vanishes has no size.
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) out += static_cast<std::int64_t>(entry.file_size(ignored));
  return out;
}

}  // namespace

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
    if (blob::parse_digest(name))
      found.emplace_back(entry.last_write_time(error), Tree{name, bytes_in(entry.path())});
    else
      fs::remove_all(entry.path(),
                     error);  // Half unpacked, or half removed, by an agent that was killed.
  }
  std::ranges::sort(found, {}, [](const auto& f) { return f.first; });
  for (auto& [when, tree] : found) out->trees_.push_back(std::move(tree));
  out->make_room(0);
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
  const auto bytes = static_cast<std::int64_t>(manifest.total_bytes());
  make_room(bytes);
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
  trees_.push_back({name, bytes, 1});
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
  make_room(0);
}

// What is in use stays, even over the limit: the lease needs it.
void Trees::make_room(std::int64_t bytes) {
  for (const auto& tree : trees_) bytes += tree.bytes;
  for (auto it = trees_.begin(); it != trees_.end() && bytes > max_bytes_;) {
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
    it = trees_.erase(it);
  }
}

}  // namespace souk::agent
