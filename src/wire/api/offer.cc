#include "wire/api/offer.h"

namespace souk::wire {

SOUK_JSON_HERE(Offer);
SOUK_JSON_HERE(OfferPage);
SOUK_JSON_HERE(NewOffer);
SOUK_JSON_HERE(OfferEdit);
SOUK_JSON_HERE(Pause);

}  // namespace souk::wire
