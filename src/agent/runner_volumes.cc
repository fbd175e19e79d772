#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "agent/runner_place.h"
#include "blob/folder.h"
#include "wire/api/volume.h"
#include "wire/json.h"

// Folders of a job that outlive it: they begin with what is in them, and what is changed is kept
// every minute and at the end.

namespace souk::agent {

using base::Result;

namespace {

constexpr auto kVolumesEvery = base::minutes(1);

}  // namespace

// Each entry of a volume lies below its name.
Result<> Runner::fetch_volumes(Place& place) {
  for (const auto& volume : lease_.task->volumes) {
    std::erase_if(place.files.entries, [&](const blob::Entry& e) {
      return e.path == volume.name || e.path.starts_with(volume.name + "/");
    });
    if (!volume.blob) continue;
    SOUK_ASSIGN(auto files, fetch(place, *volume.blob, "volume " + volume.name));
    for (auto& entry : files.entries)
      if (entry.path == volume.name || entry.path.starts_with(volume.name + "/"))
        place.files.entries.push_back(std::move(entry));
  }
  return {};
}

Result<> Runner::make_volumes(Place& place) {
  if (lease_.task->volumes.empty()) return {};
  for (const auto& volume : lease_.task->volumes) {
    std::error_code error;
    std::filesystem::create_directories(
        std::filesystem::path(place.process->scratch()) / volume.name, error);
    if (error)
      return base::fail(base::Code::unavailable,
                        fmt::format("cannot make the volume {}: {}", volume.name, error.message()));
  }
  place.next_volumes = now() + kVolumesEvery;
  return {};
}

// What did not change is in the store already, and costs a look.
void Runner::save_volumes(Place& place) {
  if (lease_.task->volumes.empty() || !started_) return;
  place.next_volumes = now() + kVolumesEvery;
  for (const auto& volume : lease_.task->volumes) {
    const auto saved = [&]() -> Result<> {
      SOUK_ASSIGN(const auto root, save(place.process->scratch(), {volume.name}));
      SOUK_TRY(link_->post(path("volume"), wire::to_json(wire::VolumeSave{lease_.epoch, volume.name,
                                                                          to_string(root)})));
      return {};
    }();
    if (!saved)
      place.log->say(fmt::format("volume {} was not kept: {}", volume.name, saved.error().message));
  }
}

}  // namespace souk::agent
