#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace souk::base {

// An amount of money, or a price per slot-hour, in millionths of a credit. Overflow is a bug:
// amounts from outside are bounded by kMostCredits when they are read.
struct Credits {
  std::int64_t micro = 0;

  constexpr Credits() = default;
  constexpr explicit Credits(std::int64_t m) : micro(m) {}
  constexpr auto operator<=>(const Credits&) const = default;
  constexpr Credits operator+(Credits c) const { return Credits(micro + c.micro); }
  constexpr Credits operator-(Credits c) const { return Credits(micro - c.micro); }
  constexpr Credits operator-() const { return Credits(-micro); }
  constexpr Credits& operator+=(Credits c) { return *this = *this + c; }
  constexpr Credits& operator-=(Credits c) { return *this = *this - c; }
};

// For forecasts and statistics; money itself is never a floating-point number.
constexpr double in_credits(Credits c) { return static_cast<double>(c.micro) / 1e6; }
Credits as_credits(double credits);  // The nearest.

inline constexpr Credits kMostCredits{1'000'000'000'000'000};  // One billion credits.

namespace literals {
constexpr Credits operator""_cr(unsigned long long n) {
  return Credits(static_cast<std::int64_t>(n) * 1'000'000);
}
constexpr Credits operator""_cr(long double n) {
  return Credits(static_cast<std::int64_t>(n * 1e6L + 0.5L));
}
}  // namespace literals

// What `slots` slots cost at `price` per slot-hour for `time`, rounded down to the micro-credit.
// A meter bills cost(total time) minus what it has billed so far, so roundings never add up.
Credits cost(Credits price, std::int64_t slots, Duration time);

// The longest time for which cost(price, slots, time) <= budget; at most ten years.
Duration affordable(Credits price, std::int64_t slots, Credits budget);

// amount x ppm / 1,000,000, rounded down: fees and other shares.
Credits share(Credits amount, std::int64_t ppm);

// A plain decimal with no more digits than needed: "0.4", "-12", "3.000001".
std::string to_string(Credits c);
// Accepts a decimal with at most six digits after the point, up to kMostCredits either way.
Result<Credits> parse_credits(std::string_view text);

}  // namespace souk::base
