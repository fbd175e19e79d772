#include "server/core/pins.h"

#include "blob/folder.h"
#include "job/work.h"
#include "wire/api_json.h"

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
    auto held = pin(name);
    const std::lock_guard lock(mutex_);
    held_[job].files.push_back(std::move(held));
  }
}

void Pins::hold(base::JobId job, std::int32_t part, const std::string& checkpoint) {
  auto held = pin(checkpoint);
  const std::lock_guard lock(mutex_);
  held_[job].checkpoints[part] = std::move(held);
}

void Pins::release(base::JobId job) {
  const std::lock_guard lock(mutex_);
  held_.erase(job);
}

std::size_t Pins::size() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

std::vector<std::string> blobs_of(const market::Job& job) {
  if (job.work.empty()) return {};
  const auto work = wire::from_json<wire::Batch>(job.work);
  return work ? job::blobs_of(job.kind, *work) : std::vector<std::string>{};
}

}  // namespace souk::server
