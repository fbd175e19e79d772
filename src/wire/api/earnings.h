#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "wire/schema.h"

// What a machine would earn, from what was wanted and paid of late. For everybody to see: sums over
// a class, nothing of one account.

namespace souk::wire {

using base::Credits;

struct WeekEarnings {
  Credits expected;
  Credits
      low;  // Nine weeks of ten are between these two, if the coming week is like the last ones.
  Credits high;
  SOUK_FIELDS(WeekEarnings, expected, low, high)
};

struct ClassEarnings {
  std::string class_;
  std::int32_t cores = 1;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;
  std::int32_t slots = 1;  // That the machine has of it.
  Credits price;           // That was paid for a slot-hour on the average, or the suggested one.
  double hours = 0;        // That were looked at.
  std::optional<double> used;        // Share of the slots on offer that was leased in them,
  std::optional<double> unfilled;    // and slots that were wanted and not had, on the average.
  std::optional<WeekEarnings> week;  // Of all the slots; absent: nothing is known yet.
  SOUK_FIELDS(ClassEarnings, class_, cores, memory_mib, gpus, gpu_memory_mib, slots, price, hours,
              used, unfilled, week)
};

// Classes that fit, the one that would earn most first.
struct Earnings {
  std::vector<ClassEarnings> items;
  SOUK_FIELDS(Earnings, items)
};

SOUK_JSON_ELSEWHERE(Earnings);

}  // namespace souk::wire
