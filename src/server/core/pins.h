#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/id.h"
#include "blob/store.h"
#include "wire/api.h"

namespace souk::server {

// Keeps the files of live jobs in the store while it makes room for others: what they begin with,
// and their latest checkpoints. Any thread; must not outlive the store.
class Pins {
 public:
  explicit Pins(blob::Store& store) : store_(store) {}

  // The files that a job's work names. Reads their manifests from the disk, as do the others.
  void hold(base::JobId job, const std::vector<std::string>& blobs);
  // The latest checkpoint of a part: the one before may go.
  void hold(base::JobId job, std::int32_t part, const std::string& checkpoint);
  void release(base::JobId job);
  [[nodiscard]] std::size_t size() const;

 private:
  blob::Store& store_;
  mutable std::mutex mutex_;
  struct PinnedBlobs {
    std::vector<blob::Store::Pin> files;
    std::map<std::int32_t, blob::Store::Pin> checkpoints;
  };
  [[nodiscard]] blob::Store::Pin pin(const std::string& name) const;
  std::map<base::JobId, PinnedBlobs> pinned_;
};

// The files that a job's work names.
[[nodiscard]] std::vector<std::string> blobs_of(const wire::Batch& batch);

}  // namespace souk::server
