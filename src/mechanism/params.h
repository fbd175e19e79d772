#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "mechanism/mechanism.h"

// Readers for the parameters of a mechanism. Every error names the parameter, its value and what
// would be accepted; Error::field is the parameter's name.

namespace souk::mechanism {

// Refuses parameters other than `known`.
[[nodiscard]] base::Result<> only_params(std::string_view mechanism, const Params& params,
                                         std::initializer_list<std::string_view> known);

// A decimal in [0, 1] with at most six digits after the point, in millionths.
[[nodiscard]] base::Result<std::int64_t> fraction_ppm(const Params& params, std::string_view name,
                                                      std::int64_t otherwise_ppm);

// A price of zero or more credits, if there is such a parameter.
[[nodiscard]] base::Result<std::optional<Credits>> price_param(const Params& params,
                                                               std::string_view name);

// The place in `choices` of the one that is named; the first, if there is no such parameter.
[[nodiscard]] base::Result<std::size_t> choice_param(
    const Params& params, std::string_view name, std::initializer_list<std::string_view> choices);

}  // namespace souk::mechanism
