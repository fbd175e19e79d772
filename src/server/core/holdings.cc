#include "server/core/holdings.h"

#include <algorithm>

#include "server/core/pins.h"

namespace souk::server {

// Read from the job's work once, not in every round.
const std::vector<std::string>& Holdings::needs(const market::Job& job, ParsedWorks& works) {
  constexpr std::size_t most = 10'000;
  const auto [it, fresh] = needs_.try_emplace(job.id);
  if (!fresh) return it->second;
  if (const auto batch = works.of(job)) it->second = blobs_of(*batch);
  if (needs_.size() > most && needs_.begin()->first != job.id) needs_.erase(needs_.begin());
  return it->second;
}

std::vector<market::Near> Holdings::near(const market::State& s, market::ClassId c,
                                         ParsedWorks& works) {
  std::vector<market::Near> out;
  if (held_.empty()) return out;
  for (const auto& [priority, id] : s.index.classes[c.value - 1].wanting) {
    const auto& job = s.jobs.at(id);
    if (job.work.empty()) continue;
    const auto& files = needs(job, works);
    if (files.empty()) continue;
    for (const auto& [machine, held] : held_)
      if (std::ranges::any_of(files, [&](const auto& name) { return held.contains(name); }))
        out.push_back({id, machine});
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace souk::server
