#include "fuzz/target.h"
#include "market/window.h"

// Weekly windows of an offer. What is accepted is written back so that it is read the same, and
// has an opening within two weeks.

using namespace souk;

SOUK_FUZZ(weekly, .input_bytes = 256, .malloc_mb = 1) {
  const auto window = market::parse_weekly(input);
  if (!window) return;
  CHECK(market::parse_weekly(to_string(*window)) == *window);
  const market::Availability when{.weekly = {*window}};
  for (const base::Time at : {base::Time(), base::Time(1'767'571'200'000'000)}) {
    const auto open = market::opening(when, at);
    CHECK(open.has_value() && open->until > at && open->from < open->until);
  }
}
