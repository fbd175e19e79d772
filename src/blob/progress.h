#pragma once

#include <cstdint>
#include <functional>

namespace souk::blob {

// How far packing, unpacking or a transfer has come. Bytes are of content, before compression.
struct Progress {
  std::uint64_t bytes_done = 0;  // Includes what was skipped.
  std::uint64_t bytes_total = 0;
  std::uint64_t chunks_skipped = 0;  // Because they were already there.
};

// Called after each chunk, by one thread at a time but not always the same. Should be quick; must
// not throw.
using OnProgress = std::function<void(const Progress&)>;

}  // namespace souk::blob
