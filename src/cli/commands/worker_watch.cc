#include "cli/commands/worker_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/shell/human.h"
#include "cli/shell/session.h"

namespace souk::cli {

Result<> WorkerWatch::step(Context& c, const wire::Job& job) {
  std::set<base::LeaseId> now;
  for (const auto& lease : job.leases) now.insert(lease.id);
  std::set<base::LeaseId> gone;
  std::ranges::set_difference(known_, now, std::inserter(gone, gone.end()));
  known_ = std::move(now);
  if (gone.empty()) return {};

  SOUK_ASSIGN(auto* api, c.api());
  return visit_all<wire::Lease>(
      *api, path_of("/v1/jobs", to_string(job.id)) + "/leases", [&](const wire::Lease& lease) {
        if (!gone.contains(lease.id)) return true;
        if (const auto text = loss_text(lease); !text.empty())
          c.note(job.ended ? text : text + "; another machine is looked for");
        return lease.id != *gone.rbegin();
      });
}

std::string loss_text(const wire::Lease& lease) {
  using enum base::LeaseOutcome;
  const auto outcome = lease.outcome.value_or(none);
  if (outcome != lost && outcome != unstarted) return {};
  const auto who = lease.part ? fmt::format("worker {}", *lease.part) : std::string("a worker");
  return fmt::format("{} on {} {}: {}", who, to_string(lease.machine),
                     outcome == lost ? "is lost" : "did not start",
                     printable(lease.detail.value_or("no reason was given")));
}

}  // namespace souk::cli
