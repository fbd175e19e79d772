#include "blob/ignore.h"

#include "fuzz/target.h"

// A .soukignore file: its first line is a path to match, the rest are patterns.

using namespace souk;

SOUK_FUZZ(ignore) {
  const auto path = fuzz::take_line(input);
  auto patterns = blob::Ignore::parse(input);
  if (!patterns) return;
  for (const bool is_folder : {false, true}) {
    const bool before = patterns->matches(path, is_folder);
    CHECK(patterns->matches(path, is_folder) == before);
  }
  // Lines in two halves at a line's end are the lines at once.
  if (const auto cut = input.find('\n', input.size() / 2); cut != std::string_view::npos) {
    auto halves = blob::Ignore::parse(input.substr(0, cut + 1));
    CHECK(halves.has_value() && halves->add(input.substr(cut + 1)).has_value());
    CHECK(halves->matches(path, true) == patterns->matches(path, true));
  }
}
