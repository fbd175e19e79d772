#include "cli/shell/human.h"

#include <fmt/format.h>

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

std::string brief(base::Credits c) {
  if (c.micro % 100 == 0) return base::to_string(c);
  auto out = fmt::format("{:.4f}", in_credits(c));
  if (out == "0.0000" || out == "-0.0000") return base::to_string(c);  // Not nothing.
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
