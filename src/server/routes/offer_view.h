#pragma once

#include "base/result.h"
#include "base/time.h"
#include "market/state.h"
#include "wire/api/offer.h"

// Offers between the API and the market, both ways: what a lender asks for becomes terms, and an
// offer is shown as it stands now. A new field of offers needs nothing else of the server. Pure.

namespace souk::server {

[[nodiscard]] base::Result<market::OfferTerms> terms_from(const wire::NewOffer& body);
// What `body` does not name stays as it is.
[[nodiscard]] base::Result<> change(market::OfferTerms& terms, const wire::OfferEdit& body);

[[nodiscard]] wire::Offer view(const market::State& s, const market::Offer& o, base::Time now);

}  // namespace souk::server
