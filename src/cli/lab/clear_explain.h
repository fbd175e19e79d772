#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/files/book.h"
#include "mechanism/mechanism.h"

namespace souk::cli {

// How an outcome of `souk clear` came about, in sentences: the sorted sides and where they cross,
// what the mechanism did, who was left out and why, and what the mechanism promises. Knows no
// mechanism by name: all it says follows from the book, the outcome and the mechanism's row in the
// table.
[[nodiscard]] std::vector<std::string> explanation(const lab::NamedBook& book,
                                                   const mechanism::Outcome& outcome,
                                                   std::string_view rule);

}  // namespace souk::cli
