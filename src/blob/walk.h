#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blob/ignore.h"
#include "blob/manifest.h"

namespace souk::blob {

struct Walked {
  std::vector<Entry> entries;         // In order, without chunks; sizes as they were just now.
  std::vector<std::string> warnings;  // What was skipped that a user may miss, by path and kind.
};

// What to do with a link that leaves the folder: refuse all of it, or leave it out with a warning.
enum class BadLinks : unsigned char { refuse, skip };

// Lists what is in an open folder and not ignored, without following links and without leaving its
// file descriptor. `shown` is the folder's name in messages.
//   invalid    a link that leaves the folder, by name
//   too_large  more than kMostEntries, or deeper than kMostDepth
[[nodiscard]] Result<Walked> walk(int root, std::string_view shown, const Ignore& ignore,
                                  BadLinks bad_links = BadLinks::refuse);

}  // namespace souk::blob
