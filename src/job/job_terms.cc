#include "job/job_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "job/train/training_file.h"

namespace souk::job {
namespace {

bool holds(const wire::SlotClass& k, const wire::Resources& r) {
  return !k.retired && k.cores >= r.cores && k.memory_mib >= r.memory_mib && k.gpus >= r.gpus &&
         k.gpu_memory_mib >= r.gpu_memory_mib;
}

}  // namespace

bool likes_gpu(const wire::NewJob& job) {
  return !job.class_ && !job.resources && job.batch && has_transformers_trainer(*job.batch);
}

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

base::Result<> check_classes(const wire::NewJob& job, std::span<const wire::SlotClass> classes) {
  std::vector<std::string_view> names;
  for (const auto& k : classes) names.push_back(k.name);
  auto wanted = job.also_classes;
  if (job.class_) wanted.insert(wanted.begin(), *job.class_);
  for (const auto& name : wanted)
    if (std::ranges::find(names, name) == names.end())
      return base::fail(base::Code::invalid,
                        fmt::format("'{}' is not a slot class", name.substr(0, 40)),
                        base::suggest(name, names), "class");
  if (!job.class_ && likely_class(job, classes) == nullptr)
    return base::fail(base::Code::invalid, "no slot class has so many resources",
                      "souk class list shows them", "resources");
  return {};
}

base::Credits likely_limit(const wire::NewJob& job, std::span<const wire::SlotClass> classes) {
  if (job.limit) return *job.limit;
  base::Credits most;
  if (const auto* k = likely_class(job, classes)) most = k->suggested;
  for (const auto& k : classes)
    if (std::ranges::find(job.also_classes, k.name) != job.also_classes.end())
      most = std::max(most, k.suggested);
  if (likes_gpu(job)) {
    auto on_gpu = job;
    on_gpu.resources = wire::Resources{.gpus = 1};
    if (const auto* k = likely_class(on_gpu, classes)) most = std::max(most, k->suggested);
  }
  return base::Credits(2 * most.micro);
}

base::Credits likely_budget(const wire::NewJob& job, std::span<const wire::SlotClass> classes,
                            const wire::Account& account) {
  const auto limit = likely_limit(job, classes);
  return std::min(base::cost(limit, job.workers.max, base::hours(1)),
                  account.available + account.bonus);
}

}  // namespace souk::job
