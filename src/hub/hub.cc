#include "hub/hub.h"

#include <filesystem>

namespace souk::hub {

Hub::Hub(blob::Store& blobs, const base::Clock& clock, std::string folder, MakeStore make_store,
         std::unique_ptr<Remote> hubs)
    : blobs_(blobs),
      clock_(clock),
      folder_(std::move(folder)),
      make_store_(make_store ? std::move(make_store)
                             : [](base::JobId) { return make_memory_store(); }),
      hubs_(std::move(hubs)) {}

std::string Hub::pointer(base::JobId job) const { return folder_ + "/" + to_string(job); }

base::Result<std::shared_ptr<Run>> Hub::open(base::JobId job, const wire::Train& spec,
                                             std::int32_t workers, std::int64_t paid_through) {
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock(mutex_);
    auto& known = slots_[job];
    if (!known) known = std::make_shared<Slot>();
    slot = known;
  }
  const std::lock_guard opening(slot->opening);
  if (auto open = find(job)) return open;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  SOUK_ASSIGN(auto store, make_store_(job));
  SOUK_ASSIGN(std::shared_ptr<Run> run, Run::open(spec, workers, blobs_, clock_,
                                                  {.pointer = pointer(job),
                                                   .hubs = hubs_.get(),
                                                   .job = to_string(job),
                                                   .paid_through = paid_through},
                                                  std::move(store)));
  const std::lock_guard lock(mutex_);
  return slot->run = std::move(run);
}

std::shared_ptr<Run> Hub::find(base::JobId job) const {
  const std::lock_guard lock(mutex_);
  const auto it = slots_.find(job);
  return it == slots_.end() ? nullptr : it->second->run;
}

std::vector<std::shared_ptr<Run>> Hub::open_runs() const {
  std::vector<std::shared_ptr<Run>> out;
  const std::lock_guard lock(mutex_);
  for (const auto& [job, slot] : slots_)
    if (slot->run) out.push_back(slot->run);
  return out;
}

base::Result<std::vector<Wage>> Hub::saved_wages(base::JobId job) const {
  return Snapshots(blobs_, clock_, {.pointer = pointer(job)}).saved_wages();
}

void Hub::forget(base::JobId job) {
  std::shared_ptr<Slot> last;  // Its parameters are freed after the lock, which the core waits for.
  {
    const std::lock_guard lock(mutex_);
    if (auto node = slots_.extract(job)) last = std::move(node.mapped());
  }
  std::error_code ignored;
  std::filesystem::remove(pointer(job), ignored);
}

}  // namespace souk::hub
