#include "provider/demand.h"

#include <algorithm>

namespace souk::provider {

Need need_of(const wire::Book& book, const std::map<std::string, MachineUse>& uses,
             const DemandRules& rules, Time now) {
  std::int64_t unmet = 0;
  for (const auto& bid : book.bids)
    if (bid.price >= rules.floor) unmet += bid.slots;
  for (const auto& ask : book.asks)
    if (ask.market || ask.price <= rules.floor) unmet -= ask.slots;
  std::int64_t busy = 0;
  std::vector<std::pair<Time, std::string>> idle;
  for (const auto& [intent, use] : uses) {
    if (use.free < use.slots) {
      ++busy;
      continue;
    }
    // An idle machine's slots are among the asks above, and no reason to do without the machine.
    if (use.online) unmet += use.free;
    if (use.online && now - use.idle_since >= rules.idle) idle.emplace_back(use.idle_since, intent);
  }
  const std::int64_t per_machine = std::max(1, rules.slots_per_machine);
  Need out;
  out.machines = busy + (std::max<std::int64_t>(0, unmet) + per_machine - 1) / per_machine;
  out.machines = std::max(out.machines, rules.min_machines);
  std::ranges::sort(idle);
  auto active = static_cast<std::int64_t>(uses.size());
  for (const auto& [since, intent] : idle) {
    if (active <= out.machines) break;
    out.surplus.push_back(intent);
    --active;
  }
  return out;
}

}  // namespace souk::provider
