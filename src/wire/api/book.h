#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/time.h"

// What the console shows and other clients seldom need.

namespace souk::wire {

// All slots that are asked or bid for at one price per slot-hour. The last level of a side of the
// book may stand for all that are worse: then its price is the best of theirs.
struct BookLevel {
  base::Credits price;
  std::int64_t slots = 0;
  bool market = false;  // Asks: offers that take whatever the market gives; their price is 0.
  SOUK_FIELDS(BookLevel, price, slots, market)
};

// The depth of one slot class: what the next round will see, without names.
struct Book {
  std::string class_;
  base::Time at;
  base::Credits suggested;            // Now.
  std::optional<base::Credits> last;  // Of the last round that traded.
  std::vector<BookLevel> asks;        // Free slots of open offers, cheapest first.
  std::vector<BookLevel> bids;        // Slots that jobs still want, highest limit first.
  SOUK_FIELDS(Book, class_, at, suggested, last, asks, bids)
};

}  // namespace souk::wire
