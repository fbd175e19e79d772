#pragma once

#include <span>
#include <tuple>

#include "base/credits.h"
#include "base/result.h"
#include "wire/api/account.h"
#include "wire/api/job.h"
#include "wire/api/slot_class.h"

// What a job that says little of its price comes to, from what clients see of a market. Pure.

namespace souk::job {

// By which the smallest slot class is the smallest: GPUs, then cores, then memory. For the market's
// classes and for those that clients see.
template <class SlotClass>
auto size_of(const SlotClass& c) {
  return std::tuple(c.gpus, c.gpu_memory_mib, c.cores, c.memory_mib);
}

// The class the server will begin with: the one that is named, or the smallest that holds it. Null:
// there is none.
[[nodiscard]] const wire::SlotClass* likely_class(const wire::NewJob& job,
                                                  std::span<const wire::SlotClass> classes);

// Is there a class of each name that it gives or, where it gives none, one that holds it? An error
// names the nearest.
[[nodiscard]] base::Result<> check_classes(const wire::NewJob& job,
                                           std::span<const wire::SlotClass> classes);

// The most it pays for a slot-hour: unless it says so, twice what is suggested, in the dearest of
// its classes.
[[nodiscard]] base::Credits likely_limit(const wire::NewJob& job,
                                         std::span<const wire::SlotClass> classes);

// Without a word on the budget: an hour of all workers at the limit price, or what there is.
[[nodiscard]] base::Credits likely_budget(const wire::NewJob& job,
                                          std::span<const wire::SlotClass> classes,
                                          const wire::Account& account);

}  // namespace souk::job
