#include <algorithm>

#include "server/http/router.h"
#include "server/routes/lookups.h"
#include "server/routes/views.h"

// What the programs of leases used, and what came of forecasts. What the core has in memory it
// gives; the rest was written down, and is read on a thread that may wait for a database.

namespace souk::server {
namespace {

// A machine may serve thousands of leases.
constexpr std::size_t kMostOfAMachine = 50;
// Of one job, read from the records for one answer.
constexpr std::size_t kMostRead = 500;

struct AskedSeries {
  wire::LeaseUsage usage;
  base::Time from, to;  // Of its life.
};
using AskedUsage = std::vector<AskedSeries>;

AskedSeries asked_series(Context& c, const market::Lease& l) {
  const auto ended = l.state == market::LeaseState::closed;
  return {{.lease = l.id, .samples = c.services().telemetry.series(l.id)},
          l.granted,
          ended ? l.ended : c.now()};
}

Result<AskedUsage> usage_of_job(Context& c) {
  SOUK_ASSIGN(const auto* job, job_for(c));
  AskedUsage out;
  c.charge(c.state().leases.size(), kLooksPerRequest);
  c.state().leases.for_each([&](const market::Lease& l) {
    if (l.job != job->id) return;
    out.push_back(asked_series(c, l));
    if (!job->work.empty()) out.back().usage.part = l.part;
  });
  return out;
}

// Of the newest leases, oldest first.
Result<AskedUsage> usage_of_machine(Context& c) {
  SOUK_ASSIGN(const auto* machine, machine_for(c, true));
  const auto id = machine->id;
  const auto& leases = c.state().leases;
  AskedUsage out;
  std::size_t looked_at = 0;
  for (auto at = leases.before(leases.next()); at && out.size() < kMostOfAMachine;
       at = leases.before(at)) {
    ++looked_at;
    const auto& l = leases.at(at);
    if (l.machine != id) continue;
    out.push_back(asked_series(c, l));
    out.back().usage.part = view(c.state(), l).part;
  }
  c.charge(looked_at, kLooksPerRequest);
  std::ranges::reverse(out);
  return out;
}

Result<wire::JobUsage> read_usage(PoolContext& p, AskedUsage asked) {
  const auto* log = p.services().usage_log.get();
  std::size_t read = 0;
  wire::JobUsage out;
  for (auto& [usage, from, to] : asked) {
    if (usage.samples.empty() && log != nullptr && read++ < kMostRead)
      usage.samples = Telemetry::thinned(log->read(usage.lease, from, to));
    if (!usage.samples.empty()) out.items.push_back(std::move(usage));
  }
  return out;
}

Result<std::size_t> asked_forecasts(Context& c) {
  SOUK_ASSIGN(const auto limit, c.number("limit", 50, 1, 500));
  return static_cast<std::size_t>(limit);
}

Result<wire::Page<wire::ForecastOutcome>> read_forecasts(PoolContext& p, std::size_t most) {
  wire::Page<wire::ForecastOutcome> out;
  if (p.services().records == nullptr) return out;
  SOUK_ASSIGN(const auto rows, p.services().records->latest(kForecastRecords, most));
  for (const auto& row : rows)
    if (auto outcome = wire::from_json<wire::ForecastOutcome>(row.bytes))
      out.items.push_back(*std::move(outcome));
  return out;
}

}  // namespace

void add_usage_routes(Routes& routes) {
  routes.on_files("GET", "/v1/jobs/{id}/usage", "getUsage", "What its workers use, over time",
                  Access::user, &usage_of_job, &read_usage);
  routes.on_files("GET", "/v1/machines/{id}/usage", "getMachineUsage",
                  "What the programs of its latest leases use, over time", Access::agent,
                  &usage_of_machine, &read_usage);
  auto& forecasts = routes.on_files("GET", "/v1/forecasts", "listForecasts",
                                    "Forecasts of jobs that have ended, beside what came of them",
                                    Access::operator_, &asked_forecasts, &read_forecasts);
  forecasts.doc.query = {{"limit", "integer", "1 to 500, 50 by default.", false, {}, 1, 500}};
}

}  // namespace souk::server
