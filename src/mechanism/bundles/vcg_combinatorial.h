#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// The Vickrey-Clarke-Groves auction of bundles: the goods go where they are worth most in all, and
// each winner pays what its presence costs the others: what they could have had without it, minus
// what they have. Exact: nothing is rounded. Of several best choices it takes the one with the
// first bid in which they differ. Winners are found by branch and bound, which may take exponential
// time: books of more than kMostBids bids are refused. Draws nothing.
//
// Individually rational; incentive compatible, in limits and in bundles; efficient; nobody is paid,
// so the operator is never out of pocket. Not Sybil-proof: a bidder for several goods may pay less
// under several names. Not for a live market, which has no bundles.
class VcgCombinatorial final : public Mechanism {
 public:
  static constexpr std::size_t kMostBids = 40;
  static constexpr std::size_t kMostItems = 4'096;

  Outcome clear(const Book& book, base::Random& random) const override;
  base::Result<> accepts(const Book& book) const override;
  base::Result<> fit_for_live() const override;
};

}  // namespace souk::mechanism
