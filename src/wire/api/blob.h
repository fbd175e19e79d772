#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "wire/schema.h"

// Which blobs there are.

namespace souk::wire {

struct BlobNames {
  std::vector<std::string> names;
  SOUK_FIELDS(BlobNames, names)
};

// How much is to be removed, and in the answer how much was.
struct BlobCleaning {
  std::int64_t bytes = 0;
  SOUK_FIELDS(BlobCleaning, bytes)
};

SOUK_JSON_ELSEWHERE(BlobNames);

}  // namespace souk::wire
