#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "train/dataset.h"

namespace souk::train::testing {

// The samples of `data`, which are floats.
inline std::vector<float> floats(const Dataset& data) {
  std::vector<float> out(data.x.size() / sizeof(float));
  std::memcpy(out.data(), data.x.data(), out.size() * sizeof(float));
  return out;
}

// Why there is no dataset.
inline std::string says(const base::Result<Dataset>& data) {
  return data ? "" : data.error().message + "; " + data.error().hint;
}

}  // namespace souk::train::testing
