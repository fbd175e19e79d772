#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// The k-double auction, as a uniform-price call: everybody who trades pays or gets the same
// p = lo + kappa (hi - lo), rounded down to the micro-credit, where [lo, hi] are the prices at
// which demand equals supply: [max(s_k, b_{k+1}), min(b_k, s_{k+1})]. Without a b_{k+1}, lo = s_k;
// without an s_{k+1}, hi = b_k. sides.h says who trades and what a gang does. Outcome::price is set
// when anything trades. Draws nothing.
//
// Individually rational; budget balanced to the micro-credit; efficient if everybody is truthful
// and there are no gangs (the gain from trade is then the largest possible). Not incentive
// compatible: the marginal bid or ask can move the price in its favour (only a seller can at kappa
// 0, and only a buyer at kappa 1, if all want single units; the gain vanishes as the market grows).
// Not Sybil-proof for the same reason.
class KDouble final : public Mechanism {
 public:
  // `kappa_ppm`: who gets the slack, in millionths; 0 the buyers, 1,000,000 the sellers.
  explicit KDouble(std::int64_t kappa_ppm);
  Outcome clear(const Book& book, base::Random& random) const override;

 private:
  std::int64_t kappa_ppm_;
};

[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make_k_double(const base::Arguments& given);

}  // namespace souk::mechanism
