#include "base/credits.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/check.h"

namespace souk::base {
namespace {

constexpr std::int64_t kHour = hours(1).us;

Failure bad_credits(std::string_view text) {
  return fail(Code::invalid, fmt::format("'{}' is not an amount of credits", text),
              "write a decimal such as 0.4 or 12, at most six digits after the point and at most "
              "1000000000");
}

}  // namespace

Credits as_credits(double credits) { return Credits(std::llround(credits * 1e6)); }

Credits cost(Credits price, std::int64_t slots, Duration time) {
  CHECK(price.micro >= 0 && slots >= 0 && time.us >= 0);
  const auto exact = static_cast<__int128>(price.micro) * slots * time.us / kHour;
  CHECK(exact <= std::numeric_limits<std::int64_t>::max());
  return Credits(static_cast<std::int64_t>(exact));
}

Duration affordable(Credits price, std::int64_t slots, Credits budget) {
  CHECK(price.micro >= 0 && slots > 0 && budget.micro >= 0);
  constexpr Duration longest = days(3653);
  if (price.micro == 0) return longest;
  // cost(t) <= budget  <=>  price x slots x t < (budget + 1) x hour.
  const auto limit = (static_cast<__int128>(budget.micro) + 1) * kHour - 1;
  const auto t = limit / (static_cast<__int128>(price.micro) * slots);
  return t > longest.us ? longest : Duration(static_cast<std::int64_t>(t));
}

Credits share(Credits amount, std::int64_t ppm) {
  CHECK(amount.micro >= 0 && ppm >= 0 && ppm <= 1'000'000);
  return Credits(static_cast<std::int64_t>(static_cast<__int128>(amount.micro) * ppm / 1'000'000));
}

std::string to_string(Credits c) {
  const bool negative = c.micro < 0;
  const auto magnitude =
      negative ? 0 - static_cast<std::uint64_t>(c.micro) : static_cast<std::uint64_t>(c.micro);
  auto out = fmt::format("{}{}", negative ? "-" : "", magnitude / 1'000'000);
  if (const auto fraction = magnitude % 1'000'000; fraction != 0) {
    out += fmt::format(".{:06}", fraction);
    out.erase(out.find_last_not_of('0') + 1);
  }
  return out;
}

Result<Credits> parse_credits(std::string_view text) {
  auto rest = text;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  const auto point = rest.find('.');
  const auto whole = rest.substr(0, point);
  auto fraction = point == std::string_view::npos ? "0" : rest.substr(point + 1);
  while (fraction.size() > 1 && fraction.ends_with('0')) fraction.remove_suffix(1);
  const auto digits_only = [](std::string_view s) {
    return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!digits_only(whole) || !digits_only(fraction) || whole.size() > 10 || fraction.size() > 6)
    return bad_credits(text);
  std::int64_t units = 0, parts = 0;
  std::from_chars(whole.data(), whole.data() + whole.size(), units);
  std::from_chars(fraction.data(), fraction.data() + fraction.size(), parts);
  for (auto i = fraction.size(); i < 6; ++i) parts *= 10;
  const Credits c(units * 1'000'000 + parts);
  if (c > kMostCredits) return bad_credits(text);
  return negative ? -c : c;
}

}  // namespace souk::base
