#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "blob/store.h"
#include "server/core/budgets.h"
#include "server/files/blob_claims.h"

namespace souk::server {

// Keeps the files of live jobs in the store while it makes room for others: what they begin with,
// and their latest checkpoints. A folder is read and pinned once, however many jobs name it and
// however often; an account is charged once for each of its folders (budget `pins`), by the number
// of its chunks and the length of its list of files. Any thread; must not outlive the store.
class Pins {
 public:
  Pins(blob::Store& store, BlobClaims& claims, base::Budget& budget)
      : store_(store), claims_(claims), budget_(budget) {}

 private:
  // A folder in the store, whole.
  struct PinnedRoot {
    std::vector<blob::Digest> names;  // Of what is there, in order; the root's too.
    std::uint64_t weight = 0;
    bool whole = false;  // All of it is there.
    blob::Store::Pin pin;
  };
  // The same, for one account.
  struct AccountRoot {
    std::shared_ptr<const PinnedRoot> root;
    base::BudgetShare share;
  };
  using Folders = std::map<blob::Digest, std::shared_ptr<const AccountRoot>>;

 public:
  // The files of a job that is about to be submitted; kept while this lives.
  class JobFiles {
   public:
    JobFiles() = default;

   private:
    friend class Pins;
    Folders folders_;
  };

  // The files that the work of a job names. Reads their manifests from the disk.
  //   invalid    a folder, or a chunk of one, that `account` has not brought or that is gone
  //   exhausted  the budget is used up
  [[nodiscard]] base::Result<JobFiles> prepare(base::AccountId account,
                                               const std::vector<std::string>& blobs);
  void hold(base::JobId job, JobFiles files);
  // The files of a job that was accepted before the server started, as far as they are there.
  void recall(base::JobId job, base::AccountId account, const std::vector<std::string>& blobs);
  // The latest checkpoint of a part: the one before may go.
  void hold(base::JobId job, base::AccountId account, std::int32_t part,
            const std::string& checkpoint);
  void drop(base::JobId job, std::int32_t part);  // The checkpoint of one part.
  void release(base::JobId job);

  // Is it one of the chunks that the job needs?
  [[nodiscard]] bool holds(base::JobId job, const blob::Digest& name) const;
  // The chunks of a folder that is in the store, its own too; just it if it is no folder.
  [[nodiscard]] static std::vector<blob::Digest> names_in(const blob::Digest& root,
                                                          const blob::Store& store);
  [[nodiscard]] std::size_t size() const;

 private:
  [[nodiscard]] std::shared_ptr<const PinnedRoot> root_of(const blob::Digest& root);
  // What does not fit into the budget is an error, or kept all the same.
  enum class OverBudget { refuse, keep };
  [[nodiscard]] base::Result<std::shared_ptr<const AccountRoot>> folder_of(base::AccountId account,
                                                                           const blob::Digest& root,
                                                                           OverBudget over);
  void forget_unused();

  struct PinnedBlobs {
    Folders files;
    std::map<std::int32_t, std::shared_ptr<const AccountRoot>> checkpoints;
  };
  blob::Store& store_;
  BlobClaims& claims_;
  base::Budget& budget_;
  mutable std::mutex mutex_;
  std::map<blob::Digest, std::weak_ptr<const PinnedRoot>> roots_;
  std::map<std::pair<base::AccountId, blob::Digest>, std::weak_ptr<const AccountRoot>> folders_;
  std::map<base::JobId, PinnedBlobs> pinned_;
  std::size_t forget_at_ = 0;  // When `roots_` and `folders_` have so many entries.
};

}  // namespace souk::server
