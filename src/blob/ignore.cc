#include "blob/ignore.h"

#include <fmt/format.h>

#include <span>

namespace souk::blob {
namespace {

constexpr std::size_t kMostRules = 10'000;
constexpr std::size_t kMostLineBytes = 1'000;
constexpr auto kNowhere = std::string_view::npos;

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> out;
  while (true) {
    const auto slash = path.find('/');
    out.push_back(path.substr(0, slash));
    if (slash == kNowhere) return out;
    path.remove_prefix(slash + 1);
  }
}

// Does the class that begins after '[' at `at` hold `c`? Moves `at` behind its ']'. A class that
// does not end matches nothing.
bool in_class(std::string_view pattern, std::size_t& at, char c) {
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;
  bool found = false;
  for (bool first = true; at < pattern.size(); first = false) {
    if (pattern[at] == ']' && !first) return ++at, found != negated;
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    const char low = pattern[at++];
    char high = low;
    if (at + 1 < pattern.size() && pattern[at] == '-' && pattern[at + 1] != ']') {
      high = pattern[at + 1];
      at += 2;
    }
    found |= low <= c && c <= high;
  }
  return false;
}

// Does one item of `pattern` at `at`, which is not '*', match `c`? Moves `at` behind it.
bool one_matches(std::string_view pattern, std::size_t& at, char c) {
  const char p = pattern[at++];
  if (p == '?') return true;
  if (p == '[') return in_class(pattern, at, c);
  if (p == '\\' && at < pattern.size()) return pattern[at++] == c;
  return p == c;
}

// Going back only to the last star is enough: an earlier one could only match what it could too.
bool name_matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = kNowhere, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      resume = n;
      continue;
    }
    if (p < pattern.size() && one_matches(pattern, p, name[n])) {
      ++n;
      continue;
    }
    if (star == kNowhere) return false;
    p = star;
    n = ++resume;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// The same one level up: parts for letters, "**" for the star.
bool parts_match(std::span<const std::string> pattern, std::span<const std::string_view> path) {
  std::size_t p = 0, n = 0, star = kNowhere, resume = 0;
  while (n < path.size()) {
    if (p < pattern.size() && pattern[p] == "**") {
      // At the end it stands for what is inside, so for one part at least.
      if (p + 1 == pattern.size()) return true;
      star = ++p;
      resume = n;
    } else if (p < pattern.size() && name_matches(pattern[p], path[n])) {
      ++p;
      ++n;
    } else if (star != kNowhere) {
      p = star;
      n = ++resume;
    } else {
      return false;
    }
  }
  return p == pattern.size();
}

// Without the blanks at the end, but for one behind a backslash, and without a carriage return.
std::string_view without_tail(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line;
}

}  // namespace

base::Result<Ignore> Ignore::parse(std::string_view text) {
  Ignore out;
  SOUK_TRY(out.add(text));
  return out;
}

base::Result<> Ignore::add(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = without_tail(text.substr(0, end));
    text.remove_prefix(end == kNowhere ? text.size() : end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    if (rules_.size() == kMostRules || line.size() > kMostLineBytes)
      return base::fail(base::Code::too_large,
                        fmt::format("more than {} patterns to ignore, or one longer than {} bytes",
                                    kMostRules, kMostLineBytes),
                        "fewer, shorter patterns, such as a folder instead of its files");
    Rule rule;
    if (line.starts_with('!')) {
      rule.take_back = true;
      line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
      rule.folders_only = true;
      line.remove_suffix(1);
    }
    const bool anchored = line.contains('/');
    if (line.starts_with('/')) line.remove_prefix(1);
    if (line.empty()) continue;
    if (!anchored) rule.parts.emplace_back("**");
    for (const auto part : split_path(line)) {
      // "**/**" is "**": once is enough, and keeps the matching simple.
      if (part == "**" && !rule.parts.empty() && rule.parts.back() == "**") continue;
      rule.parts.emplace_back(part);
    }
    rules_.push_back(std::move(rule));
  }
  return {};
}

bool Ignore::matches(std::string_view path, bool is_folder) const {
  const auto parts = split_path(path);
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule)
    if ((is_folder || !rule->folders_only) && parts_match(rule->parts, parts))
      return !rule->take_back;
  return false;
}

}  // namespace souk::blob
