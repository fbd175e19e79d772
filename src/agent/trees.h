#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "blob/store.h"

namespace souk::agent {

// Asked before more is written into a tree: is there room for so many bytes and files more?
using Reserve = std::function<base::Result<>(std::int64_t bytes, std::int64_t files)>;

// Unpacked inputs, environments and images, shared read-only by all leases that use them:
// folder/<name>. What no lease uses is removed, least recently used first, to make room: there are
// never more than `max_bytes`, nor more files than fit into that many bytes. What they claim
// counts, before they are unpacked. Thread-safe; a tree that is being made keeps nobody waiting but
// those who want the same.
class Trees {
 public:
  // A tree in use: it stays while this lives.
  class Use {
   public:
    Use(Trees& trees, std::string path, std::string name)
        : trees_(&trees), path_(std::move(path)), name_(std::move(name)) {}
    Use(Use&& other) noexcept
        : trees_(std::exchange(other.trees_, nullptr)),
          path_(std::move(other.path_)),
          name_(std::move(other.name_)) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (trees_ != nullptr) trees_->release(name_);
    }
    [[nodiscard]] const std::string& path() const { return path_; }

   private:
    Trees* trees_;
    std::string path_, name_;
  };

  // Knows the trees that an earlier agent left in `folder`.
  static base::Result<std::unique_ptr<Trees>> open(std::string folder, std::int64_t max_bytes);

  // Fills `folder`, which exists and is empty.
  using Make = std::function<base::Result<>(const std::string& folder, const Reserve& reserve)>;

  // The tree of this name, made if it is not there: letters, digits and '-', with a prefix that
  // says what it is, as digests have none. Another lease that wants the same waits.
  //   too_large    it would never fit
  //   unavailable  it does not fit beside what other leases use
  //   or as `make` says
  base::Result<Use> use(const std::string& name, const Make& make);
  // The tree of the manifest `root`, whose chunks are in `store`; the same.
  base::Result<Use> use(const blob::Digest& root, const blob::Store& store);
  [[nodiscard]] bool has(const blob::Digest& root);
  [[nodiscard]] std::int64_t max_bytes() const { return max_bytes_; }
  // The trees of manifests that are there, those used last first, at most 256.
  [[nodiscard]] std::vector<std::string> names();

 private:
  struct Tree {
    std::string name;
    std::int64_t bytes = 0;
    std::int64_t files = 0;
    int users = 0;
    bool whole = true;  // False: somebody makes it.
  };
  Trees(std::string folder, std::int64_t max_bytes);
  void release(const std::string& name);
  void touch(std::list<Tree>::iterator tree);
  base::Result<> reserve(std::list<Tree>::iterator tree, std::int64_t bytes, std::int64_t files);
  // False: what is in use leaves no room for so much more.
  bool make_room(std::int64_t bytes, std::int64_t files);

  const std::string folder_;
  const std::int64_t max_bytes_;
  const std::int64_t max_files_;  // Even an empty one takes a place on the disk.
  std::mutex mutex_;
  std::condition_variable made_;
  std::list<Tree> trees_;  // Least recently used first.
};

}  // namespace souk::agent
