#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace souk::advisor {

enum class Sign : std::uint8_t { any, at_least_zero, at_most_zero };

// One column of a linear model, and which sign its coefficient may have.
struct Term {
  std::vector<double> values;  // One per point.
  Sign sign = Sign::any;
};

struct LinearFit {
  std::vector<double> coefficients;  // One per term; 0 for one that the others already say.
  double squares = 0;                // Weighted sum of squared residuals.
};

// The coefficients with the least sum of weight (y - sum coefficient x value)^2 that keep their
// signs. Exact: where a sign would be wrong, every choice of terms to leave out is tried, so there
// are few terms (at most kMostTerms). Weights are 0 or more, one per point as all else. Pure.
inline constexpr std::size_t kMostTerms = 6;
[[nodiscard]] LinearFit least_squares(std::span<const Term> terms, std::span<const double> y,
                                      std::span<const double> weights);

}  // namespace souk::advisor
