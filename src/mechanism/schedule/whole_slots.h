#pragma once

#include <span>
#include <vector>

#include "mechanism/mechanism.h"
#include "mechanism/schedule/slot_types.h"

namespace souk::mechanism {

// Who gets which slots in this round, once a schedule has said what everybody is entitled to.
struct Entitlement {
  std::vector<double> slots;  // Jobs x types: parts of slots too. No more than there are.
  std::vector<double> owed;   // By job, from earlier rounds: slots, counted as in SlotDeal.
};

struct SlotDeal {
  std::vector<Trade> trades;  // In order, each at its ask's reserve.
  // By job. A slot counts as what it does for the job, as a part of what the job's fastest does:
  // who gets the slow ones is owed more than who gets the fast ones.
  std::vector<double> entitled, received;
};

// Deals out the slots of `types` to `jobs`, which are bids of the book. In this order:
//   - the whole slots that each is entitled to, type by type;
//   - for the parts, one slot at a time to whoever is owed most, in this round and those before,
//     on the fastest type that it has a part of;
//   - what is left, in the same way, on the fastest type that it can run on.
// Gangs are whole, of several types if need be, or get nothing. Ties go to the earlier bid. No slot
// stays free that somebody would pay for and could use. Within a type low limits get the low
// reserves (own_reserve.h). Draws nothing.
[[nodiscard]] SlotDeal whole_slots(const Book& book, std::span<const std::uint32_t> jobs,
                                   const SlotTypes& types, const Entitlement& entitlement);

}  // namespace souk::mechanism
