#pragma once

#include <string_view>

#include "advisor/prices.h"
#include "base/result.h"

namespace souk::lab {

// What a provider charged on a day, JSON that programs write:
//
//   {"provider": "ec2", "region": "us-east-1", "date": "2020-03-23", "source": "where it is from",
//    "types": [{"name": "p3.2xlarge", "on_demand": 3.06, "spot": 0.95, "revocations_per_hour":
//    0.05,
//               "quota": 20, "bw_mbps": 1000, "vcpus": 8, "memory_gib": 61, "gpus": 1,
//               "gpu": "V100"}]}
//
// Prices are for an hour; a type has at least one of the two, and all else is optional, as are
// region and source. Nothing here uses vcpus, memory_gib, gpus and gpu. A key that does not exist
// is an error that names the nearest; errors begin with `name`, the file's.
[[nodiscard]] base::Result<advisor::PriceCatalog> parse_prices(std::string_view json,
                                                               std::string_view name);

}  // namespace souk::lab
