#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// Tables of text that others wrote: read line by line, errors with the line.

namespace souk::lab {

// Calls visit(line, number) for each line that is not empty, from 1 on, until it fails.
template <class Visit>
base::Result<> for_each_line(std::string_view text, Visit&& visit) {
  for (std::size_t n = 1; !text.empty(); ++n) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) SOUK_TRY(visit(line, n));
  }
  return {};
}

// All of `text` as a finite number.
inline std::optional<double> number(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(out))
    return std::nullopt;
  return out;
}

// "file:line: what".
inline base::Failure bad_line(std::string_view file, std::size_t line, std::string_view what,
                              std::string hint = {}) {
  return base::fail(base::Code::invalid, fmt::format("{}:{}: {}", file, line, what),
                    std::move(hint));
}

}  // namespace souk::lab
