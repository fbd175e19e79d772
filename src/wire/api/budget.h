#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/fields.h"

// What one account may use of the server, and uses.

namespace souk::wire {

using base::BudgetUnit;

struct BudgetUse {
  std::string name;  // What the operator sets it by.
  std::string what;  // "of files": completes "2 GiB ...".
  BudgetUnit unit = BudgetUnit::count;
  std::int64_t used = 0;
  std::int64_t limit = 0;
  SOUK_FIELDS(BudgetUse, name, what, unit, used, limit)
};

struct BudgetUses {
  std::vector<BudgetUse> items;
  SOUK_FIELDS(BudgetUses, items)
};

}  // namespace souk::wire
