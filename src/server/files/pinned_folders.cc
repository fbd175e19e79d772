#include "server/files/pinned_folders.h"

#include <algorithm>

namespace souk::server {

bool PinnedFolders::add(const blob::Digest& root, const blob::Manifest& manifest, base::Time now) {
  auto names = manifest.chunks();
  names.push_back(root);
  // Pinned before it is looked for: in between it could be evicted.
  auto pin = store_.pin(names);
  if (!std::ranges::all_of(names, [&](const auto& name) { return store_.has(name); })) return false;

  const std::lock_guard lock(mutex_);
  if (const auto old = by_root_.find(root); old != by_root_.end()) drop(old->second);
  items_.push_back({root, manifest.total_bytes(), names.size(), now + kFor, std::move(pin)});
  by_root_[root] = std::prev(items_.end());
  bytes_ += items_.back().bytes;
  names_ += names.size();
  while (!items_.empty() && (items_.front().until <= now || bytes_ > most_bytes_ ||
                             names_ > kMostNames || items_.size() > kMostFolders))
    drop(items_.begin());
  return true;
}

std::uint64_t PinnedFolders::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void PinnedFolders::drop(std::list<Item>::iterator item) {
  bytes_ -= item->bytes;
  names_ -= item->names;
  by_root_.erase(item->root);
  items_.erase(item);
}

}  // namespace souk::server
