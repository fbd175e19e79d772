#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/id.h"
#include "blob/store.h"
#include "market/state.h"

namespace souk::server {

// Keeps the files of live jobs in the store while it makes room for others: what they begin with,
// and their latest checkpoints. Any thread; must not outlive the store.
class Pins {
 public:
  explicit Pins(blob::Store& store) : store_(store) {}

  // The files that a job's work names. Reads their manifests from the disk.
  void hold(base::JobId job, const std::vector<std::string>& blobs);
  void release(base::JobId job);
  [[nodiscard]] std::size_t size() const;

 private:
  blob::Store& store_;
  mutable std::mutex mutex_;
  std::map<base::JobId, std::vector<blob::Store::Pin>> held_;
};

// What must stay for this job: its work's files and its parts' checkpoints.
[[nodiscard]] std::vector<std::string> blobs_of(const market::Job& job);

}  // namespace souk::server
