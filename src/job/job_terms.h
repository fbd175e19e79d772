#pragma once

#include <span>

#include "base/credits.h"
#include "base/result.h"
#include "market/classes.h"
#include "wire/api/account.h"
#include "wire/api/job.h"
#include "wire/api/slot_class.h"

// What a job that says little of its price comes to, from what clients see of a market. Pure.

namespace souk::job {

using market::size_of;

// A GPU would make it much faster, and it does not say what it needs: it begins on one if there is
// one within its limit.
[[nodiscard]] bool likes_gpu(const wire::NewJob& job);

// The class the server will begin with, but for jobs that like a GPU: the one that is named, or the
// smallest that holds it. Null: there is none.
[[nodiscard]] const wire::SlotClass* likely_class(const wire::NewJob& job,
                                                  std::span<const wire::SlotClass> classes);

// Is there a class of each name that it gives or, where it gives none, one that holds it? An error
// names the nearest.
[[nodiscard]] base::Result<> check_classes(const wire::NewJob& job,
                                           std::span<const wire::SlotClass> classes);

// The most it pays for a slot-hour: unless it says so, twice what is suggested, in the dearest of
// the classes that it may begin in.
[[nodiscard]] base::Credits likely_limit(const wire::NewJob& job,
                                         std::span<const wire::SlotClass> classes);

// Without a word on the budget: an hour of all workers at the limit price, or what there is.
[[nodiscard]] base::Credits likely_budget(const wire::NewJob& job,
                                          std::span<const wire::SlotClass> classes,
                                          const wire::Account& account);

}  // namespace souk::job
