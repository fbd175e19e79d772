#include "server/core/budgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace souk::server {

base::Result<> Budgets::set(const std::vector<std::string>& limits) {
  std::vector<std::pair<base::Budget*, base::BudgetLimit>> changes;
  for (const std::string_view text : limits) {
    const auto name = text.substr(0, text.find('='));
    const auto it = std::ranges::find(all, name, [](const base::Budget* b) { return b->name(); });
    if (it == all.end()) {
      std::vector<std::string> names;
      for (const auto* budget : all) names.push_back(budget->name());
      return base::fail(base::Code::invalid, fmt::format("there is no budget '{}'", name),
                        fmt::format("one of: {}", base::join(names, ", ")), "budget");
    }
    if (name.size() == text.size())
      return base::fail(base::Code::invalid, fmt::format("--budget {} has no amount", text),
                        fmt::format("write {}=EACH or {}=EACH/ALL", name, name), "budget");
    SOUK_ASSIGN(const auto limit, base::located(base::parse_budget(text.substr(name.size() + 1),
                                                                   (*it)->unit(), (*it)->limit()),
                                                fmt::format("--budget {}", name)));
    changes.emplace_back(*it, limit);
  }
  for (const auto& [budget, limit] : changes) budget->set_limit(limit);
  return {};
}

void Budgets::recount(const market::State& s) {
  std::map<std::string, std::uint64_t, std::less<>> jobs, used_keys;
  for (std::uint64_t i = 0; i < s.index.counts.size(); ++i) {
    const auto& counts = s.index.counts[i];
    const auto who = party(base::AccountId(i));
    if (counts.live_jobs > 0) jobs[who] = static_cast<std::uint64_t>(counts.live_jobs);
    if (counts.keys > 0) used_keys[who] = static_cast<std::uint64_t>(counts.keys);
  }
  live_jobs.set_used(std::move(jobs));
  keys.set_used(std::move(used_keys));
}

}  // namespace souk::server
