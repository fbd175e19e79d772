#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace souk::base {
namespace {

// Edit distance where swapping two neighbours counts as one edit, as people mistype.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const auto at = text.find(separator);
    out.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

std::string join(std::span<const std::string> items, std::string_view separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

// Of so few letters another word is two edits away.
constexpr std::size_t kShortWord = 5;

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(word.size() < kShortWord ? 1 : 2, word.size() / 3) + 1;
  for (const auto candidate : candidates) {
    // So many edits are needed for the length alone: a word of megabytes costs nothing.
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
    if (longer - shorter >= least) continue;
    if (const auto n = edits(word, candidate); n < least) {
      least = n;
      best = candidate;
    }
  }
  return best;
}

std::string suggest(std::string_view word, std::span<const std::string_view> candidates) {
  if (const auto near = nearest(word, candidates); !near.empty())
    return fmt::format("did you mean '{}'?", near);
  return fmt::format("one of: {}", fmt::join(candidates, ", "));
}

std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto c = static_cast<unsigned char>(text[text.size() - back]);
    if ((c & 0xC0) == 0x80) continue;  // The middle of a character: its beginning is further back.
    const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1'024) return fmt::format("{} B", bytes);
  auto amount = static_cast<double>(bytes);
  for (const auto* unit : {"KiB", "MiB", "GiB", "TiB"}) {
    amount /= 1'024;
    if (amount >= 1'023.5 && unit != std::string_view("TiB")) continue;
    return amount < 99.95 ? fmt::format("{:.3g} {}", amount, unit)
                          : fmt::format("{:.0f} {}", amount, unit);
  }
  return {};
}

}  // namespace souk::base
