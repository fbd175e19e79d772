#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// A slot's worth of karma, in the unit in which karma is counted: millionths of a slot.
inline constexpr std::int64_t kKarmaPerSlot = 1'000'000;
// Nobody stands higher: a billion slots, far from overflow.
inline constexpr std::int64_t kMostKarma = 1'000'000'000 * kKarmaPerSlot;
// Nor are more slots shared in one step.
inline constexpr std::int64_t kMostKarmaSlots = 1'000'000'000'000;

// One step of Karma (Vuppalapati et al., OSDI 2023), by itself: slots shared among users who want
// more at some times and less at others. A user's fair share is slots / users. The fraction alpha
// of it, rounded down to whole slots, is guaranteed; the rest of all slots is common. In each step
//   - everybody earns its part of the common slots in karma, rounded down to the unit;
//   - everybody gets what it wants of its guaranteed slots; those it does not want it lends;
//   - who wants more borrows, a slot at a time and for a slot's worth of karma each, as long as it
//     has that much, the richest first. Lent slots go first, the poorest lender's before others',
//     and the lender earns what the borrower pays. Then come the common slots.
// Ties go to the user with the lower index. Time grows with users, not with slots.
//
// Pareto efficient while nobody runs out of karma: slots stay idle only if everybody has what it
// wants. No user gets more useful slots, over any number of steps, by saying that it wants more
// than it does. Saying less than one wants, to lend and be richer later, may pay, but only for who
// knows what will be wanted then.
class Karma {
 public:
  // `alpha_ppm`: the guaranteed fraction of a fair share, in millionths.
  explicit Karma(std::int64_t alpha_ppm);

  // What each user gets. Updates `karma`, one entry per user, each in [0, kMostKarma].
  // Requires slots in [0, kMostKarmaSlots] and demands >= 0.
  [[nodiscard]] std::vector<std::int64_t> step(std::int64_t slots,
                                               std::span<const std::int64_t> demands,
                                               std::span<std::int64_t> karma) const;

 private:
  std::int64_t alpha_ppm_;
};

// Karma on a book. Users are the owners in Book::standing and those of the bids: who bids nothing
// lends its share, until the market takes it out of the standing. A newcomer begins with the mean
// of the standing, or, where nobody stands yet, with the parameter `credits`. Ties in karma go to
// the lower id: who wins one is the poorer in the next. Slots are those of the asks that the
// highest limit accepts, up to kMostKarmaSlots. An owner's share goes to its bids in order of
// position, a gang whole or not at all. A share that cannot be used (no slot is left that the
// limits accept, or a gang does not fit) is taken as not wanted, and the slots are shared again, up
// to three times. Outcome::standing has everybody's karma, paid for the slots really got. A slot
// changes hands at its ask's own reserve (own_reserve.h), so nobody is worse off. There is no
// uniform price. Draws nothing.
//
// Individually rational; budget balanced in credits. Where limits do not matter (all asks are
// "market") and without gangs, what is said of class Karma holds. Not incentive compatible in
// prices: sellers are paid what they ask. Not Sybil-proof: two names get two shares. Not efficient:
// values do not count.
class KarmaShares final : public Mechanism {
 public:
  KarmaShares(std::int64_t alpha_ppm, std::int64_t initial_karma);
  Outcome clear(const Book& book, base::Random& random) const override;
  // Refuses a standing outside [0, kMostKarma].
  base::Result<> accepts(const Book& book) const override;

 private:
  Karma karma_;
  std::int64_t initial_;
};

[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_karma(const base::Arguments& given);

}  // namespace souk::mechanism
