#include "server/files/pins.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "blob/folder.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;

// Of a list of files that weighs as much as a chunk: reading it back takes a start about as long.
constexpr std::uint64_t kListBytes = 256;

base::Failure absent(std::string_view name) {
  return fail(Code::invalid, fmt::format("the server does not have '{}'", name.substr(0, 80)),
              "upload it first", "batch");
}

// Of a blob that is no folder, or gone, there is nothing more to keep.
std::pair<std::vector<blob::Digest>, std::uint64_t> expand(const blob::Digest& root,
                                                           const blob::Store& store) {
  std::vector<blob::Digest> names{root};
  std::uint64_t weight = 0;
  if (const auto bytes = store.content(root))
    if (const auto manifest = blob::parse_manifest(*bytes)) {
      weight = bytes->size() / kListBytes;
      const auto chunks = manifest->chunks();
      names.insert(names.end(), chunks.begin(), chunks.end());
      std::ranges::sort(names);
      names.erase(std::ranges::unique(names).begin(), names.end());
    }
  return {std::move(names), weight + names.size()};
}

}  // namespace

std::shared_ptr<const Pins::PinnedRoot> Pins::root_of(const blob::Digest& root) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = roots_.find(root); it != roots_.end())
      if (auto known = it->second.lock(); known && known->whole) return known;
  }
  auto made = std::make_shared<PinnedRoot>();
  made->pin = store_.pin({root});  // While it is read.
  std::tie(made->names, made->weight) = expand(root, store_);
  // Names of what is not there would only take memory.
  made->pin = store_.pin(made->names);
  if (std::erase_if(made->names, [&](const auto& name) { return !store_.knows(name); }) > 0)
    made->pin = store_.pin(made->names);
  else
    made->whole = true;
  const std::lock_guard lock(mutex_);
  auto& known = roots_[root];
  if (auto other = known.lock(); other && other->whole) return other;
  known = made;
  return made;
}

base::Result<std::shared_ptr<const Pins::AccountRoot>> Pins::folder_of(base::AccountId account,
                                                                       const blob::Digest& root,
                                                                       OverBudget over) {
  const std::pair key{account, root};
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = folders_.find(key); it != folders_.end())
      if (auto known = it->second.lock(); known && known->root->whole) return known;
  }
  auto made = std::make_shared<AccountRoot>();
  made->root = root_of(root);
  auto share = base::BudgetShare::take(budget_, party(account), made->root->weight);
  if (!share && over == OverBudget::refuse) return std::unexpected(std::move(share).error());
  if (share) made->share = *std::move(share);
  const std::lock_guard lock(mutex_);
  auto& known = folders_[key];
  if (auto other = known.lock(); other && other->root->whole) return other;
  known = made;
  return made;
}

base::Result<Pins::JobFiles> Pins::prepare(base::AccountId account,
                                           const std::vector<std::string>& blobs) {
  JobFiles out;
  for (const auto& name : blobs) {
    const auto root = blob::parse_digest(name);
    if (!root) return absent(name);
    if (out.folders_.contains(*root)) continue;
    if (!claims_.claimed(account, {&*root, 1})) return absent(name);
    SOUK_ASSIGN(auto folder, folder_of(account, *root, OverBudget::refuse));
    // To others' content there is no way through its name.
    if (!folder->root->whole || !claims_.claimed(account, folder->root->names))
      return fail(Code::invalid,
                  fmt::format("the server does not have all chunks of the folder '{}'", name),
                  "upload all of it first", "batch");
    out.folders_.emplace(*root, std::move(folder));
  }
  return out;
}

void Pins::hold(base::JobId job, JobFiles files) {
  if (files.folders_.empty()) return;
  const std::lock_guard lock(mutex_);
  pinned_[job].files = std::move(files.folders_);
}

void Pins::recall(base::JobId job, base::AccountId account, const std::vector<std::string>& blobs) {
  JobFiles files;
  for (const auto& name : blobs)
    if (const auto root = blob::parse_digest(name); root && !files.folders_.contains(*root))
      if (auto folder = folder_of(account, *root, OverBudget::keep))
        files.folders_.emplace(*root, *std::move(folder));
  hold(job, std::move(files));
}

void Pins::hold(base::JobId job, base::AccountId account, std::int32_t part,
                const std::string& checkpoint) {
  const auto root = blob::parse_digest(checkpoint);
  if (!root) return;
  auto folder = folder_of(account, *root, OverBudget::keep);
  if (!folder) return;
  {
    const std::lock_guard lock(mutex_);
    std::swap(pinned_[job].checkpoints[part], *folder);
  }
  folder->reset();  // The one before. Unpins it, so not under the lock.
  forget_unused();
}

void Pins::drop(base::JobId job, std::int32_t part) {
  std::shared_ptr<const AccountRoot> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto it = pinned_.find(job);
    if (it == pinned_.end()) return;
    if (auto node = it->second.checkpoints.extract(part)) gone = std::move(node.mapped());
    if (it->second.checkpoints.empty() && it->second.files.empty()) pinned_.erase(it);
  }
  gone.reset();
  forget_unused();
}

void Pins::release(base::JobId job) {
  PinnedBlobs gone;
  {
    const std::lock_guard lock(mutex_);
    if (auto node = pinned_.extract(job)) gone = std::move(node.mapped());
  }
  gone = {};
  forget_unused();
}

void Pins::forget_unused() {
  const std::lock_guard lock(mutex_);
  if (folders_.size() + roots_.size() < forget_at_) return;
  std::erase_if(folders_, [](const auto& entry) { return entry.second.expired(); });
  std::erase_if(roots_, [](const auto& entry) { return entry.second.expired(); });
  forget_at_ = 2 * (folders_.size() + roots_.size()) + 64;
}

bool Pins::holds(base::JobId job, const blob::Digest& name) const {
  const std::lock_guard lock(mutex_);
  const auto it = pinned_.find(job);
  if (it == pinned_.end()) return false;
  const auto in = [&](const std::shared_ptr<const AccountRoot>& folder) {
    return folder && std::ranges::binary_search(folder->root->names, name);
  };
  return std::ranges::any_of(it->second.files, in, &Folders::value_type::second) ||
         std::ranges::any_of(it->second.checkpoints, [&](const auto& c) { return in(c.second); });
}

std::vector<blob::Digest> Pins::names_in(const blob::Digest& root, const blob::Store& store) {
  return expand(root, store).first;
}

std::size_t Pins::size() const {
  const std::lock_guard lock(mutex_);
  return pinned_.size();
}

}  // namespace souk::server
