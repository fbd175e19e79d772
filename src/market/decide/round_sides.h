#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/random.h"
#include "market/commands.h"
#include "market/eligible.h"
#include "market/limits.h"
#include "market/prices.h"
#include "market/state.h"
#include "mechanism/mechanism.h"

// The two sides of a round, and the books that its mechanism sees.
//
// A mechanism knows nothing of packages, regions or lenders: it sees a plain book of bids and asks.
// So bids are grouped by what they demand of a machine, and each group gets a book of its own with
// the asks that meet its demands. The group with the fewest such slots goes first, because it has
// the fewest other chances; what it takes is gone for the next. Jobs without demands, usually all
// of them, are one group, and within a group every property of the mechanism holds. Jobs that would
// fit into a smaller class (Job::least_class) are groups of their own and get what the others
// leave.
//
// Pure. What is returned points into the state, and is good until that changes.

namespace souk::market {

// What each book looks at, beside the row.
struct Supply {
  const SupplyRow* row;
  OfferId offer;
  Credits reserve;
  std::int32_t rank;
  std::int32_t free;
  std::uint64_t meets = 0;  // A bit for each group whose demands its machine meets.
};
static_assert(kConstraintSets <= 64);

struct Wish {
  const Job* job;
  std::int32_t units;
  std::int32_t gang;
};

using Groups = std::map<Demands, std::vector<Wish>>;

// Does it offer slots now, free or not? Not if its machine is in `unheard` (in order).
[[nodiscard]] bool is_on_offer(const State& s, const SupplyRow& row, Time now,
                               std::span<const MachineId> unheard = {});

// Who wants and who offers slots of one class now.
struct RoundSides {
  std::vector<Supply> supply;
  Groups groups;
  std::int64_t wanted = 0, offered = 0;  // Slots.
  Pressure pressure;
  std::vector<JobId> cannot_pay;  // Jobs without leases whose budget does not last for their gang.
};
// Machines in `unheard` (in order) offer nothing.
[[nodiscard]] RoundSides sides_of(const State& s, const SlotClass& slot_class, Time now,
                                  std::span<const MachineId> unheard = {});

struct OrderedGroup {
  const std::vector<Wish>* wishes;
  std::uint64_t bit;       // Of Supply::meets; 0: it demands nothing.
  bool guests = false;     // They need less than this class: they come last.
  std::int64_t slots = 0;  // That meet its demands.

  [[nodiscard]] bool takes(const Supply& ask) const { return bit == 0 || (ask.meets & bit) != 0; }
};

// The groups that get a book, in the order in which they are cleared. Only so many distinct demands
// get one in one round. Which ones is drawn, and owners take turns, so that nobody can keep the
// others out with many demands of their own. Demands that no offer meets at a price its jobs would
// pay take no turn. Jobs without demands always have a book. Fills in Supply::meets.
[[nodiscard]] std::vector<OrderedGroup> ordered_groups(const State& s, RoundSides& sides,
                                                       base::Random& random);

// A group's bids and the asks that it can take. A bid's id is its job's, an ask's its offer's.
struct GroupBook {
  mechanism::Book book;
  std::vector<std::uint32_t> place;  // Of each ask in the supply.
};
// With what was measured, if the mechanism wants it (Mechanism::wants_rates).
[[nodiscard]] GroupBook book_of(const OrderedGroup& group, const std::vector<Supply>& supply,
                                const Clear& c, Credits reference, mechanism::Standing standing,
                                bool with_rates);

}  // namespace souk::market
