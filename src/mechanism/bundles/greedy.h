#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// The greedy auction of bundles (Lehmann, O'Callaghan and Shoham 2002): bids are ranked by
// limit / |bundle|^l, ties in order of position, and each in turn wins if nobody before it took one
// of its goods. A winner pays its critical value, below which it would not have won, rounded down
// to the micro-credit: limit / |bundle|^l of the first bid that wins only in its absence and wants
// one of its goods, times |own bundle|^l; zero if there is none. |bundle|^l is rounded to 2^-32;
// ranks and payments are exact from there. Draws nothing. Books of more than kMostBids bids are
// refused: finding what each winner pays takes up to a pass per winner.
//
// Individually rational; incentive compatible, in limits and in bundles, for bidders who want one
// bundle or nothing (not one micro-credit can be gained, in spite of the rounding); nobody is paid,
// so the operator is never out of pocket. Not Sybil-proof. Not efficient: with l = 0.5 the winners'
// limits sum to at least 1 / sqrt(number of goods) of the best sum, which is nearly the most that
// any quick mechanism can promise. Not for a live market, which has no bundles.
class Greedy final : public Mechanism {
 public:
  static constexpr std::size_t kMostBids = 4'096;
  static constexpr std::size_t kMostItems = 4'096;

  // `l_ppm`: how much the size of a bundle counts, in millionths: 0 not at all, 1,000,000 fully.
  explicit Greedy(std::int64_t l_ppm);
  Outcome clear(const Book& book, base::Random& random) const override;
  base::Result<> accepts(const Book& book) const override;
  base::Result<> fit_for_live() const override;

 private:
  std::int64_t l_ppm_;
};

[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_greedy(const base::Arguments& given);

}  // namespace souk::mechanism
