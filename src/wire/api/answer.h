#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "wire/schema.h"

// What many answers have in common.

namespace souk::wire {

// One page of a list. `next` goes back as ?after= to get the one that follows; absent at the end.
template <class T>
struct Page {
  std::vector<T> items;
  std::optional<std::string> next;
  SOUK_FIELDS(Page, items, next)
};

struct Acknowledged {
  bool ok = true;
  SOUK_FIELDS(Acknowledged, ok)
};

SOUK_JSON_ELSEWHERE(Acknowledged);

}  // namespace souk::wire
