#pragma once

#include <map>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "market/state.h"
#include "wire/api/offer.h"
#include "wire/query.h"

// Offers between the API and the market, both ways: what a lender asks for becomes terms, and an
// offer is shown as it stands now. A new field of offers needs nothing else of the server. Pure.

namespace souk::server {

[[nodiscard]] base::Result<market::OfferTerms> terms_from(const wire::NewOffer& body);
// What `body` does not name stays as it is.
[[nodiscard]] base::Result<> change(market::OfferTerms& terms, const wire::OfferEdit& body);

// What those ask who take the market's price: the suggested ones, each computed once.
class SuggestedPrices {
 public:
  SuggestedPrices(const market::State& s, base::Time now) : state_(s), now_(now) {}
  [[nodiscard]] base::Credits of(market::ClassId slot_class);

 private:
  const market::State& state_;
  const base::Time now_;
  std::map<market::ClassId, base::Credits> known_;
};

[[nodiscard]] wire::Offer view(const market::State& s, const market::Offer& o, base::Time now,
                               SuggestedPrices& suggested);
[[nodiscard]] wire::Offer view(const market::State& s, const market::Offer& o, base::Time now);

// For a list: with the first few of its packages.
[[nodiscard]] wire::Offer shortened(wire::Offer offer);

// Counts what each condition of a filter leaves out, of the offers it is shown.
class LeftOutCount {
 public:
  explicit LeftOutCount(const wire::Query& query);
  // Does the offer match?
  bool look(const wire::Offer& offer);
  [[nodiscard]] const std::vector<wire::LeftOut>& result() const { return result_; }

 private:
  std::vector<wire::Query> conditions_;  // All of them must hold.
  std::vector<wire::LeftOut> result_;    // One for each.
};

}  // namespace souk::server
