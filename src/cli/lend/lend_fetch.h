#pragma once

#include <string>
#include <vector>

#include "agent/fetch/web.h"
#include "cli/lend/lend.h"
#include "job/image.h"

// What `souk lend` lets its agent fetch from others than the market.

namespace souk::cli {

struct FetchRules {
  std::vector<job::Registry> registries;  // Of images.
  std::vector<agent::WebHost> indexes;    // Of packages.
  std::vector<agent::WebHost> hosts;      // Of inputs.
};

// What the flags allow, and the words for the market, in `features`.
[[nodiscard]] Result<FetchRules> fetch_rules(const Lend& o, std::vector<std::string>& features);

}  // namespace souk::cli
