#include "train/pull.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz/target.h"
#include "hub/measured.h"

// The parameters as a worker gets them, at once and in pieces. The first byte says how many it has:
// a few, or a block and a few. What is refused changes nothing; after a piece the next begins
// further on. Also what a hub tells of an update.

using namespace souk;

SOUK_FUZZ(pull, .input_bytes = 4096, .malloc_mb = 4) {
  if (const auto measured = hub::unpack_measured(input)) CHECK(hub::pack(*measured) == input);
  const std::size_t choice = fuzz::take_byte(input);
  constexpr float before = 0.5F;
  static std::vector<float> values;
  values.assign(choice % 2 == 0 ? choice : train::kBlock + choice, before);
  for (const std::size_t from : {0, 1}) {
    const auto piece = train::read_piece(input, values.size(), from);
    if (!piece) continue;
    CHECK(piece->version >= 0 && piece->next <= train::count_blocks(values.size()));
    CHECK(piece->next > from || piece->next == train::count_blocks(values.size()));
    for (const auto& block : piece->blocks)
      CHECK(block.at + block.floats.size() / sizeof(float) <= values.size());
  }
  const auto version = train::unpack_changed(input, values);
  if (!version) {
    CHECK(std::ranges::all_of(values, [](float v) { return v == before; }));
    return;
  }
  CHECK(*version >= 0);
}
