#pragma once

#include "mechanism/mechanism.h"
#include "mechanism/schedule/schedule.h"

namespace souk::mechanism {

// What a scheduled market makes best. Each has a file of its own that says it exactly.
enum class Objective : std::uint8_t {
  las,              // max_min_las.h
  ftf,              // finish_time.h
  makespan,         // makespan.h
  cost_slo,         // cost_slo.h
  hadar,            // hadar.h
  price_discovery,  // price_discovery.h
};

// A scheduling policy as the mechanism of a market: for slots that are not alike, where it matters
// which job runs on which machine.
//
// A book becomes an instance (schedule.h). Asks on which the jobs are equally fast (Book::rates)
// are machines of one type, for cost-slo only if their reserves are equal too; at most kMostTypes
// of them (slot_types.h). A bid is a job with as many workers as it wants units, all weigh the
// same, and only asks that its limit accepts count for it. What is not known (Book::works) is
// neutral: without rates all slots are alike, and a job whose steps nobody knows has as much to do
// as the others have on average. SLOs that cannot all be met are stretched, all alike, until they
// can.
//
// The schedule's shares become whole slots of this round (whole_slots.h). Parts of slots that
// rounding takes from an owner are owed to it: Outcome::standing keeps that from round to round, a
// tenth less each time, in millionths of a slot around the mean, as high as karma's, so that a
// market can change from one mechanism to the other.
//
// Prices: `dual` charges for a slot of a type the suggested price times what the policy says the
// type is worth, over the mean of that over all slots: who takes what others are after pays more,
// and if nothing is short it pays the reserve (but hadar's idle slots have a price too). Never less
// than the ask's reserve or more than the bid's limit. `reserve` charges the reserve. What the
// buyer pays the seller gets. Draws nothing.
//
// Individually rational; budget balanced. No slot stays free that somebody would pay for. Nobody
// can lie about rates and work, because the market measures them. But not incentive compatible:
// asking for more units is a larger claim, a limit cuts the price, and a second name is a second
// claim. Not efficient: limits decide who may trade, not who goes first.
//
// The program is solved exactly up to some 50,000 jobs on one type, 10,000 on three or 250 on
// sixteen. Beyond that las, ftf and makespan are solved by price discovery (discover.h), to within
// a few thousandths, and fewer types are told apart, as few as one for cost-slo with 50,000 jobs;
// hadar looks at one way instead of eight, and no further than 100,000 slots of a type.
class Scheduled final : public Mechanism {
 public:
  static constexpr std::size_t kMostTypes = 16;
  enum class Prices : std::uint8_t { dual, reserve };

  Scheduled(Objective objective, Prices prices) : objective_(objective), prices_(prices) {}
  Outcome clear(const Book& book, base::Random& random) const override;
  // Refuses rates and works that are not one for each, or not numbers of 0 or more.
  base::Result<> accepts(const Book& book) const override;
  [[nodiscard]] bool wants_rates() const override { return true; }

 private:
  Objective objective_;
  Prices prices_;
};

template <Objective objective>
[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_scheduled(const base::Arguments& given);

}  // namespace souk::mechanism
