#include <fmt/format.h>

#include "server/http/router.h"
#include "server/routes/lookups.h"
#include "wire/api/volume.h"

// Folders of an account's that outlive the jobs that use them.

namespace souk::server {
namespace {

Result<wire::VolumeList> list_volumes(Context& c) {
  const auto& s = c.state();
  wire::VolumeList out;
  for (auto it = s.volumes.lower_bound(market::volume_key(c.actor.account, ""));
       it != s.volumes.end() && it->second.owner == c.actor.account; ++it) {
    const auto& v = it->second;
    wire::VolumeRow row{.name = v.name, .blob = v.blob, .saved = v.saved, .job = v.job};
    for (const auto id : s.index.jobs_of[c.actor.account.value])
      if (const auto& job = s.jobs.at(id);
          !market::is_final(job.state) &&
          std::ranges::find(job.volumes, v.name) != job.volumes.end())
        row.in_use = id;
    out.items.push_back(std::move(row));
  }
  return out;
}

Result<wire::Acknowledged> remove_volume(Context& c) {
  SOUK_TRY(c.execute(market::RemoveVolume{c.actor.account, c.param()}));
  return wire::Acknowledged{};
}

}  // namespace

void add_volume_routes(Routes& routes) {
  routes.get("/v1/volumes", "listVolumes", "My volumes", Access::user, &list_volumes);
  routes.change("DELETE", "/v1/volumes/{name}", "removeVolume",
                "Forget what is in a volume of mine", Access::user, &remove_volume);
}

}  // namespace souk::server
