#include "cli/shell/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/check.h"

namespace souk::cli {

std::string rough(base::Duration d) {
  struct Unit {
    std::int64_t us;
    char letter;
  };
  constexpr std::array<Unit, 4> kUnits{
      {{86'400'000'000, 'd'}, {3'600'000'000, 'h'}, {60'000'000, 'm'}, {1'000'000, 's'}}};
  auto left = std::abs(d.us);
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (left < kUnits[i].us) continue;
    auto out = fmt::format("{}{}", left / kUnits[i].us, kUnits[i].letter);
    left %= kUnits[i].us;
    if (i + 1 < kUnits.size() && left >= kUnits[i + 1].us)
      out += fmt::format("{}{}", left / kUnits[i + 1].us, kUnits[i + 1].letter);
    return out;
  }
  return "0s";
}

std::string relative(base::Time t, base::Time now) {
  const auto d = now - t;
  if (std::abs(d.us) < 1'000'000) return "now";
  return d.us > 0 ? rough(d) + " ago" : "in " + rough(d);
}

std::string relative(const std::optional<base::Time>& t, base::Time now) {
  return t ? relative(*t, now) : "-";
}

namespace {

constexpr int kMostPlaces = 6;  // A micro-credit.

std::int64_t power_of_ten(int n) {
  std::int64_t out = 1;
  while (n-- > 0) out *= 10;
  return out;
}

// Rounded to so many places after the point, half away from zero.
base::Credits rounded(base::Credits c, int places) {
  const auto step = power_of_ten(kMostPlaces - places);
  const auto half = c.micro < 0 ? -step / 2 : step / 2;
  return base::Credits((c.micro + half) / step * step);
}

// So many that three digits count.
int places_of(base::Credits c) {
  const auto size = std::abs(c.micro);
  int places = 2;
  for (std::int64_t whole = 10'000'000; places > 0 && size >= whole; whole *= 10) --places;
  for (std::int64_t part = 1'000'000; places < kMostPlaces && size < part; part /= 10) ++places;
  return places;
}

}  // namespace

std::string brief(base::Credits c) { return base::to_string(rounded(c, places_of(c))); }

std::vector<std::string> briefs(std::span<const base::Credits> parts) {
  int places = 0;
  std::size_t largest = 0;
  base::Credits sum;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].micro != 0) places = std::max(places, places_of(parts[i]));
    if (std::abs(parts[i].micro) > std::abs(parts[largest].micro)) largest = i;
    sum += parts[i];
  }
  const auto total = rounded(sum, places);
  auto rest = total;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (i != largest) rest -= rounded(parts[i], places);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < parts.size(); ++i)
    out.push_back(base::to_string(i == largest ? rest : rounded(parts[i], places)));
  out.push_back(base::to_string(total));
  return out;
}

std::string brief(const std::optional<base::Credits>& c, const char* absent) {
  return c ? brief(*c) : absent;
}

std::string percent(double share, int places) {
  return fmt::format("{:.{}f}%", share * 100, places);
}
std::string percent(const std::optional<double>& share, int places) {
  return share ? percent(*share, places) : std::string();
}

std::string reliability_text(double share, std::int64_t leases) {
  return leases == 0 ? "new" : fmt::format("{} ({})", percent(share), leases);
}

std::string plural(std::int64_t n, const std::string& noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

Tone tone_of(base::JobState state) {
  using enum base::JobState;
  switch (state) {
    case running:
    case succeeded:
      return Tone::good;
    case failed:
    case expired:
      return Tone::bad;
    case cancelled:
      return Tone::dim;
    case queued:
    case paused:
      return Tone::warning;
  }
  CHECK(false);
}

Tone tone_of(base::LeaseState state) {
  using enum base::LeaseState;
  return state == running ? Tone::good : state == closed ? Tone::dim : Tone::warning;
}

Tone tone_of(wire::OfferState state) {
  using enum wire::OfferState;
  switch (state) {
    case open:
      return Tone::good;
    case offline:
    case frozen:
      return Tone::bad;
    case closed:
    case full:
      return Tone::dim;
    case doubted:
    case paused:
    case draining:
      return Tone::warning;
  }
  CHECK(false);
}

Tone tone_of(wire::WorkerState state) {
  return state == wire::WorkerState::running ? Tone::good : Tone::warning;
}

}  // namespace souk::cli
