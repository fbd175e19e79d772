#include "server/core/pins.h"

#include "blob/folder.h"

namespace souk::server {

// The folder `name`, whole. Of a blob that is no folder, or gone, there is nothing more to keep.
blob::Store::Pin Pins::pin(const std::string& name) const {
  const auto root = blob::parse_digest(name);
  if (!root) return {};
  std::vector<blob::Digest> names{*root};
  if (const auto manifest = blob::read_manifest(*root, store_)) {
    const auto chunks = manifest->chunks();
    names.insert(names.end(), chunks.begin(), chunks.end());
  }
  return store_.pin(std::move(names));
}

void Pins::hold(base::JobId job, const std::vector<std::string>& blobs) {
  for (const auto& name : blobs) {
    auto pinned = pin(name);
    const std::lock_guard lock(mutex_);
    pinned_[job].files.push_back(std::move(pinned));
  }
}

void Pins::hold(base::JobId job, std::int32_t part, const std::string& checkpoint) {
  auto pinned = pin(checkpoint);
  const std::lock_guard lock(mutex_);
  pinned_[job].checkpoints[part] = std::move(pinned);
}

void Pins::release(base::JobId job) {
  const std::lock_guard lock(mutex_);
  pinned_.erase(job);
}

std::size_t Pins::size() const {
  const std::lock_guard lock(mutex_);
  return pinned_.size();
}

std::vector<std::string> blobs_of(const wire::Batch& batch) {
  std::vector<std::string> out;
  if (batch.workdir) out.push_back(*batch.workdir);
  for (const auto& input : batch.inputs) out.push_back(input.blob);
  if (batch.train) {
    for (const auto& shard : batch.train->shards) out.push_back(shard.blob);
    for (const auto& shard : batch.train->validation) out.push_back(shard.blob);
  }
  return out;
}

}  // namespace souk::server
