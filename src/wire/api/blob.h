#pragma once

#include <string>
#include <vector>

#include "base/fields.h"

// Which blobs there are.

namespace souk::wire {

struct BlobNames {
  std::vector<std::string> names;
  SOUK_FIELDS(BlobNames, names)
};

}  // namespace souk::wire
