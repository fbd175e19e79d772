#include "cli/shell/human.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

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

Cell state_cell(const std::string& state) {
  const bool good = state == "running" || state == "open" || state == "succeeded";
  const bool bad =
      state == "failed" || state == "offline" || state == "frozen" || state == "expired";
  const bool over = state == "closed" || state == "cancelled" || state == "full";
  return {state, good ? Tone::good : bad ? Tone::bad : over ? Tone::dim : Tone::warning};
}

}  // namespace souk::cli
