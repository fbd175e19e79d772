#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace souk::base {

std::string_view trim(std::string_view text);
// "a,b,,c" -> {"a","b","","c"}; each piece trimmed.
std::vector<std::string_view> split(std::string_view text, char separator);
// Is the path `folder` itself or something in it? By its text: "a/b" is below "a", "ab" is not.
bool is_below(std::string_view path, std::string_view folder);
std::string join(std::span<const std::string> items, std::string_view separator);

// The candidate with the fewest edits from `word`, or "" when none is near enough to be meant.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// "did you mean 'price'?" or, with nothing near, "one of: a, b, c". For error hints.
std::string suggest(std::string_view word, std::span<const std::string_view> candidates);

// The length of `text` without the beginning of a UTF-8 character that is cut off at its end.
std::size_t whole_characters(std::string_view text);

// "512 B", "1.5 GiB": a size for people, in powers of 1024.
std::string bytes_text(std::uint64_t bytes);

}  // namespace souk::base
