#pragma once

#include <string>
#include <string_view>

#include "provider/provider.h"

// Pieces of the scripts that start agents on new machines.

namespace souk::provider {

// `text` as one word of a POSIX shell, whatever is in it.
std::string shell_word(std::string_view text);

// Lines that make the agent trust the market's certificate; "" where the system's authorities do.
// They need $home.
std::string trust_lines(const Join& join);

}  // namespace souk::provider
