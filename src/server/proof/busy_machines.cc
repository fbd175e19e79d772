#include "server/proof/busy_machines.h"

#include <fmt/format.h>

#include <algorithm>

namespace souk::server {

using base::Code;
using base::Duration;
using base::fail;
using base::Time;

base::Result<> BusyMachines::check(const wire::BusyReport& report) {
  constexpr auto longest = base::days(366);
  if (report.of < 1 || report.of > kMostCores)
    return fail(Code::invalid, fmt::format("the machine says that it has {} cores", report.of),
                fmt::format("send 1 to {}", kMostCores), "busy.of");
  if (!(report.cores >= 0 && report.cores <= report.of))
    return fail(Code::invalid,
                fmt::format("other programs use {} of {} cores", report.cores, report.of),
                fmt::format("send 0 to {}", report.of), "busy.cores");
  if (report.lasting < Duration() || report.lasting > longest)
    return fail(Code::invalid,
                fmt::format("the machine has been busy for {}", to_string(report.lasting)),
                "send 0s to a year", "busy.lasting");
  if (report.put_off && (*report.put_off < Duration() || *report.put_off > kLongestPutOff))
    return fail(Code::invalid,
                fmt::format("the machine puts a challenge off by {}", to_string(*report.put_off)),
                fmt::format("send 0s to {}", to_string(kLongestPutOff)), "busy.put_off");
  return {};
}

void BusyMachines::set(base::MachineId machine, const std::optional<wire::BusyReport>& report,
                       Time now) {
  if (!report) {
    if (const auto it = known_.find(machine); it != known_.end()) it->second.busy.reset();
    return;
  }
  auto& known = known_[machine];
  // Heartbeats take a moment to come, some longer than others.
  auto since = std::max(Time(), now - report->lasting);
  if (known.busy) since = std::min(since, known.busy->since);
  known = {now, wire::BusyCores{.cores = report->cores, .of = report->of, .since = since}};
  if (report->put_off) known.busy->again = now + *report->put_off;
}

std::optional<wire::BusyCores> BusyMachines::find(base::MachineId machine, Time now,
                                                  Duration silence) const {
  const auto it = known_.find(machine);
  if (it == known_.end() || now - it->second.at > silence) return std::nullopt;
  return it->second.busy;
}

}  // namespace souk::server
