#include "wire/spellings.h"

#include <string>

#include "base/credits.h"
#include "base/time.h"
#include "fuzz/target.h"
#include "hub/remote.h"
#include "train/codecs/codec.h"

// How people write amounts, times, sizes and names. What is accepted is written back so that it is
// read the same.

using namespace souk;

SOUK_FUZZ(spellings, .input_bytes = 256, .malloc_mb = 1) {
  const base::Time now(1'767'571'200'000'000);
  if (const auto length = base::parse_duration(input)) {
    CHECK(length->us >= 0 && *length <= base::days(3653));
    CHECK(base::parse_duration(to_string(*length)) == *length);
  }
  if (const auto time = base::parse_time(input)) CHECK(base::parse_time(to_string(*time)) == *time);
  if (const auto credits = base::parse_credits(input)) {
    CHECK(*credits <= base::kMostCredits && -*credits <= base::kMostCredits);
    CHECK(base::parse_credits(to_string(*credits)) == *credits);
  }
  if (const auto memory = wire::parse_memory(input)) {
    CHECK(memory->mib >= 0);
    CHECK(wire::parse_memory(to_string(*memory)).has_value());
  }
  if (const auto workers = wire::parse_workers(input)) {
    CHECK(workers->min >= 1 && workers->min <= workers->max);
    const auto again = wire::parse_workers(to_string(*workers));
    CHECK(again.has_value() && again->min == workers->min && again->max == workers->max);
  }
  (void)wire::parse_when(input, now);
  if (const auto id = base::IdTraits<base::JobId>::parse(input)) CHECK(to_string(*id) == input);
  if (const auto codec = train::make_codec(input)) CHECK(input.starts_with((*codec)->name()));
  (void)hub::parse_hub(input);
}
