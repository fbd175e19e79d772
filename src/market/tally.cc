#include "market/tally.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace souk::market {
namespace {

constexpr std::size_t kWaits = 32;
constexpr std::int64_t kFarOff = 1'000'000;  // A hundred times the competitive price, in 10^-4.

// ln(x) in millionths, to within one, in integers so that every machine agrees. Requires x > 0.
std::int64_t log_ppm(std::int64_t x) {
  const auto whole = std::bit_width(static_cast<std::uint64_t>(x)) - 1;
  // x / 2^whole with 62 binary places, in [1, 2): squaring it yields log2 bit by bit.
  auto mantissa = static_cast<unsigned __int128>(x) << (62 - whole);
  std::int64_t log2 = whole;
  constexpr int places = 30;
  for (int i = 0; i < places; ++i) {
    mantissa = mantissa * mantissa >> 62;
    log2 *= 2;
    if (mantissa >> 63 != 0) {
      mantissa >>= 1;
      ++log2;
    }
  }
  constexpr std::int64_t ln2 = 693'147'180'560;  // In 10^-12.
  return static_cast<std::int64_t>((static_cast<__int128>(log2) * ln2 >> places) / 1'000'000);
}

}  // namespace

std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

void Tally::priced(Credits price, std::optional<Credits> competitive, std::int64_t slots) {
  if (competitive && competitive->micro > 0) {
    const auto off = std::clamp<__int128>(
        static_cast<__int128>(price.micro - competitive->micro) * 10'000 / competitive->micro,
        -kFarOff, kFarOff);
    compared = add_saturating(compared, slots);
    off_squares = add_saturating(off_squares, static_cast<std::int64_t>(off * off * slots));
  }
  if (price.micro <= 0) return;
  if (last_price.micro > 0) {
    const auto step = log_ppm(price.micro) - log_ppm(last_price.micro);
    ++steps;
    step_sum = add_saturating(step_sum, step);
    step_squares = add_saturating(step_squares, step * step);
  }
  last_price = price;
}

std::optional<double> Tally::alpha() const {
  if (compared == 0) return std::nullopt;
  return std::sqrt(static_cast<double>(off_squares) / static_cast<double>(compared)) / 1e4;
}

std::optional<double> Tally::volatility() const {
  if (steps < 2) return std::nullopt;
  const auto n = static_cast<double>(steps);
  const auto mean = static_cast<double>(step_sum) / n;
  return std::sqrt(std::max(0.0, static_cast<double>(step_squares) - n * mean * mean) / (n - 1)) /
         1e6;
}

void Tally::waited(base::Duration d) {
  waits.resize(kWaits);
  std::size_t i = 0;
  while (i + 1 < kWaits && base::seconds(std::int64_t{1} << i) < d) ++i;
  ++waits[i];
}

std::optional<base::Duration> Tally::wait(double q) const {
  const auto jobs = std::accumulate(waits.begin(), waits.end(), std::int64_t{0});
  if (jobs == 0) return std::nullopt;
  const auto wanted = std::ceil(q * static_cast<double>(jobs));
  std::int64_t seen = 0;
  std::size_t i = 0;
  while (i + 1 < waits.size() && static_cast<double>(seen += waits[i]) < wanted) ++i;
  return base::seconds(std::int64_t{1} << i);
}

Tally& Tallies::now() {
  if (const auto it = of.find(in_force); it != of.end()) return it->second;
  return of[of.size() < kTallies ? in_force : std::string()];
}

}  // namespace souk::market
