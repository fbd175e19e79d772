#include "mechanism/params.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace souk::mechanism {

using base::Code;
using base::fail;
using base::Result;

Result<> only_params(std::string_view mechanism, const Params& params,
                     std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : params) {
    if (std::ranges::find(known, std::string_view(name)) != known.end()) continue;
    return fail(Code::invalid,
                fmt::format("the mechanism {} has no parameter '{}' (given as '{}')", mechanism,
                            name, value),
                known.size() == 0 ? std::string("it has none")
                                  : base::suggest(name, std::span(known.begin(), known.size())),
                name);
  }
  return {};
}

Result<std::int64_t> fraction_ppm(const Params& params, std::string_view name,
                                  std::int64_t otherwise_ppm) {
  const auto at = params.find(name);
  if (at == params.end()) return otherwise_ppm;
  // A credit has six digits after the point too, so its reader serves for millionths.
  const auto read = base::parse_credits(at->second);
  if (!read || read->micro < 0 || read->micro > 1'000'000)
    return fail(Code::invalid, fmt::format("{} is '{}'", name, at->second),
                "write a decimal from 0 to 1 with at most six digits after the point",
                std::string(name));
  return read->micro;
}

Result<std::optional<Credits>> price_param(const Params& params, std::string_view name) {
  const auto at = params.find(name);
  if (at == params.end()) return std::nullopt;
  const auto read = base::parse_credits(at->second);
  if (!read || read->micro < 0)
    return fail(Code::invalid, fmt::format("{} is '{}'", name, at->second),
                fmt::format("write credits per slot-hour, such as 0.4, from 0 to {}",
                            to_string(base::kMostCredits)),
                std::string(name));
  return *read;
}

Result<std::size_t> choice_param(const Params& params, std::string_view name,
                                 std::initializer_list<std::string_view> choices) {
  const auto at = params.find(name);
  if (at == params.end()) return 0;
  const auto found = std::ranges::find(choices, std::string_view(at->second));
  if (found == choices.end())
    return fail(Code::invalid, fmt::format("{} is '{}'", name, at->second),
                fmt::format("it can be {}", fmt::join(choices, " or ")), std::string(name));
  return static_cast<std::size_t>(found - choices.begin());
}

}  // namespace souk::mechanism
