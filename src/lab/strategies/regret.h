#pragma once

#include <cstdint>
#include <stop_token>

#include "lab/files/scenario.h"
#include "mechanism/mechanism.h"

// What one trader could gain by not telling the truth while all others do. Searched for, not
// proven: nought means that no lie among those tried was worth it.

namespace souk::lab {

struct Regret {
  double price = 0;  // Mean over the traders tried: gain of the best other price, in credits,
  double names = 0;  // and of the best second identity, on either side of the book.
  std::int64_t traders = 0;
};

// In `book` every limit and reserve is true. Traders and prices to try are chosen by `seed`. Where
// the mechanism draws lots, a lie is chosen on some draws and measured on others, so that luck is
// not taken for skill. What it says once it was told to `stop` means nothing.
[[nodiscard]] Regret search_regret(const mechanism::Mechanism& rule, const mechanism::Book& book,
                                   const RegretSearch& search, std::uint64_t seed,
                                   const std::stop_token& stop = {});

}  // namespace souk::lab
