#pragma once

#include <cstddef>
#include <string_view>

#include "blob/chunk.h"

// Where large files are cut into chunks: at places that their content chooses, so that bytes put
// into the middle of a file change the chunk they are in, perhaps the next, and no other. Whoever
// has the old version then sends or fetches what is new and little else
// (docs/decisions/0054-names-and-cuts.md).

namespace souk::blob {

// A file of at most kChunkBytes is one chunk. Chunks of larger ones have kLeastCut to kChunkBytes,
// mostly about kUsualCut; the last has what is left.
inline constexpr std::size_t kLeastCut = 512 << 10;
inline constexpr std::size_t kUsualCut = 2 << 20;

// The length of the first chunk of `rest`: what is left of a file after the last cut, or at least
// the first kChunkBytes of that. The same on every machine and in every version: a change of what
// is returned here makes everybody send everything again.
[[nodiscard]] std::size_t cut(std::string_view rest);

}  // namespace souk::blob
