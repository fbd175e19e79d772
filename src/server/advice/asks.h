#pragma once

#include <optional>
#include <vector>

#include "market/commands.h"
#include "market/eligible.h"
#include "market/state.h"
#include "wire/api/job.h"
#include "wire/api/plan.h"

// What is asked for slots that a job could have now, and what it would pay. Pure functions of the
// state.

namespace souk::server {

// A free slot's row with what it asks: its reserve, or what its class's mechanism takes an offer at
// market for.
struct FreeAsk {
  const market::SupplyRow* row;
  base::Credits ask;
};
using FreeAsks = std::vector<FreeAsk>;

// What a job could be given of a class now, in the order in which a market would, at most 64
// offers. Without a limit: at any price.
[[nodiscard]] FreeAsks on_offer(const market::State& s, market::ClassId slot_class,
                                const market::Demands& demands, std::optional<base::Credits> limit,
                                base::Time now);

// What the class's mechanism would give a job now, among all who wait in the class.
struct Share {
  std::int32_t workers = 0;
  base::Credits pays;  // Per slot-hour, on average.
};
// `owner`: whose own other jobs do not compete with it, where the mechanism says so. `alone`: with
// nobody else waiting.
[[nodiscard]] Share share_of(const market::State& s, market::ClassId slot_class,
                             const FreeAsks& asks, const market::JobTerms& terms,
                             base::AccountId owner, base::Time now, bool alone = false);

// Of each class that the job may be in.
[[nodiscard]] std::vector<wire::PlanPrices> prices_now(const market::State& s,
                                                       const wire::NewJob& job,
                                                       const market::SubmitJob& as,
                                                       base::AccountId owner, base::Time now);

// Where no slot of its class that fits is on offer, and of a larger one some are: what becomes of
// it.
[[nodiscard]] std::optional<std::string> elsewhere_text(const market::State& s,
                                                        const market::SubmitJob& as,
                                                        base::Time now);

}  // namespace souk::server
