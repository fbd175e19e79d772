#include "server/tunnels/scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace souk::server {
namespace {

constexpr double kAim = 2.0 / 3;  // Of what a worker may do at once.
constexpr double kNewest = 0.3;   // How much the last second counts.

}  // namespace

std::int32_t workers_for(double busy, std::int32_t at_once, std::int32_t least, std::int32_t most) {
  const auto wanted = std::ceil(busy / (kAim * at_once) - 1e-9);
  return static_cast<std::int32_t>(
      std::clamp(wanted, static_cast<double>(least), static_cast<double>(most)));
}

void Scaler::on_tick(const market::State& s, base::Time now, const Execute& execute) {
  for (const auto& served : desk_.take_served())
    // A lease that is closed is not paid for what came after.
    (void)execute(market::ServeRequests{served.lease, served.epoch, served.requests});
  const auto loads = desk_.loads();
  std::erase_if(known_, [&](const auto& entry) { return !loads.contains(entry.first); });
  for (const auto& [id, load] : loads) {
    const auto* job = s.jobs.find(id);
    if (job == nullptr || market::is_final(job->state)) continue;
    const auto work = works_.of(*job);
    if (!work || !work->service) continue;
    auto& known = known_[id];
    known.busy += kNewest * (load.busy - known.busy);
    const auto& [least, most] = job->terms.workers;
    const auto wanted = workers_for(known.busy, work->service->at_once, least, most);
    const auto has = market::aimed_workers(*job);
    if (wanted >= has) known.low_since = {};
    if (wanted < has && known.low_since == base::Time()) known.low_since = now;
    if (wanted == has || (wanted < has && now - known.low_since < kPatience)) continue;
    known.low_since = {};
    (void)execute(market::ResizeJob{id, wanted,
                                    fmt::format("{:.1f} requests at a time, {} for each worker",
                                                known.busy, work->service->at_once),
                                    wanted < has});
  }
}

}  // namespace souk::server
