#include "job/job_terms.h"

#include <algorithm>

#include "base/time.h"

namespace souk::job {
namespace {

bool holds(const wire::SlotClass& k, const wire::Resources& r) {
  return !k.retired && k.cores >= r.cores && k.memory_mib >= r.memory_mib && k.gpus >= r.gpus &&
         k.gpu_memory_mib >= r.gpu_memory_mib;
}

}  // namespace

const wire::SlotClass* likely_class(const wire::NewJob& job,
                                    std::span<const wire::SlotClass> classes) {
  const wire::SlotClass* best = nullptr;
  const auto needs = job.resources.value_or(wire::Resources{});
  for (const auto& k : classes) {
    if (job.class_ ? k.name != *job.class_ : !holds(k, needs)) continue;
    if (best == nullptr || size_of(k) < size_of(*best)) best = &k;
  }
  return best;
}

base::Credits likely_limit(const wire::NewJob& job, std::span<const wire::SlotClass> classes) {
  if (job.limit) return *job.limit;
  base::Credits most;
  if (const auto* k = likely_class(job, classes)) most = k->suggested;
  for (const auto& k : classes)
    if (std::ranges::find(job.also_classes, k.name) != job.also_classes.end())
      most = std::max(most, k.suggested);
  return base::Credits(2 * most.micro);
}

base::Credits likely_budget(const wire::NewJob& job, std::span<const wire::SlotClass> classes,
                            const wire::Account& account) {
  const auto limit = likely_limit(job, classes);
  return std::min(base::cost(limit, job.workers.max, base::hours(1)),
                  account.available + account.bonus);
}

}  // namespace souk::job
