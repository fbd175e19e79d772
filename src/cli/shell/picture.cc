#include "cli/shell/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace souk::cli {
namespace {

constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 5> kPlain{"_", ".", "-", "=", "#"};

std::vector<std::optional<double>> averaged(std::span<const std::optional<double>> values,
                                            std::size_t width) {
  std::vector<std::optional<double>> out;
  for (std::size_t i = 0; i < width; ++i) {
    const auto begin = i * values.size() / width, end = (i + 1) * values.size() / width;
    double sum = 0;
    int n = 0;
    for (const auto& v : values.subspan(begin, end - begin))
      if (v) sum += *v, ++n;
    out.push_back(n > 0 ? std::optional(sum / n) : std::nullopt);
  }
  return out;
}

template <std::size_t N>
std::string draw(const std::vector<std::optional<double>>& values,
                 const std::array<std::string_view, N>& levels) {
  std::optional<double> least, most;
  for (const auto& v : values) {
    if (!v) continue;
    least = std::min(least.value_or(*v), *v);
    most = std::max(most.value_or(*v), *v);
  }
  std::string out;
  for (const auto& v : values) {
    if (!v) {
      out += ' ';
      continue;
    }
    // All the same: a line in the middle.
    const double height = *most > *least ? (*v - *least) / (*most - *least) : 0.5;
    const auto level = static_cast<std::size_t>(std::lround(height * (N - 1)));
    out += levels[std::min(level, N - 1)];
  }
  return out;
}

}  // namespace

std::string sparkline(std::span<const std::optional<double>> values, std::size_t width, bool utf8) {
  if (values.empty() || width == 0) return {};
  std::vector<std::optional<double>> shown(values.begin(), values.end());
  if (shown.size() > width) shown = averaged(values, width);
  return utf8 ? draw(shown, kBlocks) : draw(shown, kPlain);
}

std::string bar(double share, std::size_t width, bool utf8) {
  const auto clamped = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const auto full = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width)));
  std::string out;
  for (std::size_t i = 0; i < width; ++i) out += i < full ? (utf8 ? "█" : "#") : (utf8 ? "░" : ".");
  return out;
}

}  // namespace souk::cli
