#include "market/decide/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "market/limits.h"

namespace souk::market {
namespace {

using base::Code;
using base::fail;
using base::Result;

// The first bytes of `text`, whole characters, for messages: nothing that a terminal would obey.
std::string shown(std::string_view text) {
  std::string out(text.substr(0, 40));
  std::ranges::replace_if(out, [](unsigned char c) { return c < 32 || c > 126; }, '?');
  return out;
}

// Zero-width characters, line and paragraph separators, and all that sets the direction of text.
bool unseen_at(std::string_view text, std::size_t i) {
  const auto rest = text.substr(i);
  if (rest.starts_with("\xEF\xBB\xBF") || rest.starts_with("\xD8\x9C")) return true;
  if (rest.size() < 3 || rest[0] != '\xE2') return false;
  const auto second = static_cast<unsigned char>(rest[1]);
  const auto third = static_cast<unsigned char>(rest[2]);
  if (second == 0x80) return (third >= 0x8B && third <= 0x8F) || (third >= 0xA8 && third <= 0xAE);
  return second == 0x81 && third >= 0xA0 && third <= 0xAF;
}

}  // namespace

Result<> check_word(std::string_view word, std::string_view what, std::string_view field) {
  const bool plain = std::ranges::all_of(word, [](unsigned char c) { return c > 32 && c < 127; });
  if (!word.empty() && word.size() <= kWordMax && plain) return {};
  return fail(Code::invalid, fmt::format("'{}' cannot be the name of {}", shown(word), what),
              fmt::format("use 1 to {} printable ASCII characters without blanks", kWordMax),
              std::string(field));
}

Result<> check_words(const std::vector<std::string>& words, std::size_t most, std::string_view what,
                     std::string_view field) {
  if (words.size() > most)
    return fail(Code::invalid, fmt::format("'{}' has {} names", field, words.size()),
                fmt::format("{} at most", most), std::string(field));
  for (const auto& word : words) SOUK_TRY(check_word(word, what, field));
  return {};
}

Result<> check_line(std::string_view line, std::size_t most, std::string_view what,
                    std::string_view field) {
  const auto bad = [&](std::string message, std::string hint) {
    return fail(Code::invalid, std::move(message), std::move(hint), std::string(field));
  };
  if (line.size() > most)
    return bad(fmt::format("{} is too long", what), fmt::format("{} characters at most", most));
  if (line.starts_with(' ') || line.ends_with(' '))
    return bad(fmt::format("{} begins or ends with a blank", what), "leave the blanks out");
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    if (c < 32 || c == 127 || unseen_at(line, i))
      return bad(fmt::format("{} has a character that cannot be shown: '{}'", what, shown(line)),
                 "use letters, digits and signs");
  }
  return {};
}

}  // namespace souk::market
