#pragma once

#include "market/state.h"
#include "wire/api/book.h"

namespace souk::server {

inline constexpr std::size_t kBookLevels = 200;  // On each side; what is worse is in the last.

// The book of a class as it is at `now`. Pure.
[[nodiscard]] wire::Book book_view(const market::State& s, const market::SlotClass& c,
                                   base::Time now);

}  // namespace souk::server
