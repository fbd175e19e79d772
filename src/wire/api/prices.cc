#include "wire/api/prices.h"

namespace souk::wire {

SOUK_JSON_HERE(PriceSummary);
SOUK_JSON_HERE(PriceBucket);
SOUK_JSON_HERE(Suggestion);
SOUK_JSON_HERE(Prices);

}  // namespace souk::wire
