#pragma once

#include <string_view>

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// Whether `book` is a combinatorial one within these bounds: goods, one bundle per bid, each in
// order and without repeats, bids for one unit with limits of zero or more, and nothing else. The
// answer names `mechanism`.
[[nodiscard]] base::Result<> accepts_bundles(std::string_view mechanism, const Book& book,
                                             std::size_t most_bids, std::size_t most_items);

// Why no market can run on `mechanism`.
[[nodiscard]] base::Result<> bundles_are_not_live(std::string_view mechanism);

}  // namespace souk::mechanism
