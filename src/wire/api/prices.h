#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/time.h"
#include "wire/schema.h"

// Prices of a slot class: what they were, and what is suggested.

namespace souk::wire {

using base::Credits;
using base::Time;

struct PriceSummary {
  std::int64_t volume = 0;  // Slots traded.
  std::optional<Credits> average;
  std::optional<Credits> low;
  std::optional<Credits> quartile1;
  std::optional<Credits> median;
  std::optional<Credits> quartile3;
  std::optional<Credits> high;
  SOUK_FIELDS(PriceSummary, volume, average, low, quartile1, median, quartile3, high)
};

SOUK_ENUM(BucketLength, hour, day)

struct PriceBucket {
  Time from;
  PriceSummary prices;
  std::optional<double> utilisation;
  SOUK_FIELDS(PriceBucket, from, prices, utilisation)
};

struct Suggestion {
  Time from;  // For the hour that begins here.
  Credits price;
  SOUK_FIELDS(Suggestion, from, price)
};

struct Prices {
  std::string class_;
  std::string mechanism;
  Credits suggested;            // Now.
  std::optional<Credits> last;  // Of the last round that traded.
  PriceSummary summary;         // Over all the buckets.
  std::vector<PriceBucket> buckets;
  std::vector<Suggestion> ahead;  // The next 24 hours.
  SOUK_FIELDS(Prices, class_, mechanism, suggested, last, summary, buckets, ahead)
};

SOUK_JSON_ELSEWHERE(PriceSummary);
SOUK_JSON_ELSEWHERE(PriceBucket);
SOUK_JSON_ELSEWHERE(Suggestion);
SOUK_JSON_ELSEWHERE(Prices);

}  // namespace souk::wire
