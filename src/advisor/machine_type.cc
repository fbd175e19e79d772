#include "advisor/machine_type.h"

#include <fmt/format.h>

#include <numeric>

#include "base/check.h"
#include "base/text.h"

namespace souk::advisor {

std::int32_t machines_in(const Mix& mix) { return std::accumulate(mix.begin(), mix.end(), 0); }

std::string describe(const Mix& mix, std::span<const MachineType> types) {
  CHECK(mix.size() == types.size());
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < mix.size(); ++i)
    if (mix[i] > 0) parts.push_back(fmt::format("{} x {}", mix[i], types[i].name));
  return base::join(parts, " + ");
}

}  // namespace souk::advisor
