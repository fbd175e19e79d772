#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What strangers may call things: bounded, and such that it can be shown to others as it is.

namespace souk::market {

// A word that machines compare: 1 to kWordMax printable ASCII characters without blanks. `what`
// completes "'...' cannot be the name of ...".
[[nodiscard]] base::Result<> check_word(std::string_view word, std::string_view what,
                                        std::string_view field);

// As many as `most` of them, in a list.
[[nodiscard]] base::Result<> check_words(const std::vector<std::string>& words, std::size_t most,
                                         std::string_view what, std::string_view field);

// A text in one line that people read: `most` bytes at most, may be empty, without control
// characters, marks that turn the direction of text or take no space, and blanks at its ends.
[[nodiscard]] base::Result<> check_line(std::string_view line, std::size_t most,
                                        std::string_view what, std::string_view field);

}  // namespace souk::market
