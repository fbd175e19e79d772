#include "hub/hub.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <new>

#include "base/containment.h"

namespace souk::hub {

Hub::Hub(blob::Store& blobs, const base::Clock& clock, std::string folder, MakeStore make_store,
         std::unique_ptr<Remote> hubs, base::Budget* memory, base::Budget* disk)
    : blobs_(blobs),
      clock_(clock),
      folder_(std::move(folder)),
      make_store_(make_store ? std::move(make_store)
                             : [](base::JobId) { return make_memory_store(); }),
      hubs_(std::move(hubs)),
      memory_(memory),
      disk_(disk) {}

std::string Hub::pointer(base::JobId job) const { return folder_ + "/" + to_string(job); }

base::Result<std::shared_ptr<Run>> Hub::open(base::JobId job, const wire::Train& spec,
                                             std::int32_t workers, std::int64_t paid_through,
                                             const std::string& owner) {
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
  SOUK_ASSIGN(auto run, begin(job, spec, workers, paid_through, owner));
  const std::lock_guard lock(mutex_);
  return slot->run = std::move(run);
}

base::Result<std::shared_ptr<Run>> Hub::begin(base::JobId job, const wire::Train& spec,
                                              std::int32_t workers, std::int64_t paid_through,
                                              const std::string& owner) const {
  try {
    const base::Containment contained;
    SOUK_ASSIGN(auto store, make_store_(job));
    SOUK_ASSIGN(std::shared_ptr<Run> run,
                Run::open(spec, workers, blobs_, clock_,
                          {.pointer = pointer(job),
                           .hubs = hubs_.get(),
                           .job = to_string(job),
                           .paid_through = paid_through,
                           .memory = memory_,
                           .owner = owner,
                           .spill = {.folder = folder_, .disk = disk_, .owner = owner}},
                          std::move(store)));
    return run;
  } catch (const std::bad_alloc&) {
    return base::fail(base::Code::exhausted, "the server has no memory left for the training");
  } catch (const std::exception& e) {
    return base::fail(base::Code::internal,
                      fmt::format("the training cannot be opened: {}", e.what()));
  }
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
