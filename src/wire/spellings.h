#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "wire/api/job.h"

// How people write amounts, in job files and after flags. Errors quote the text and say what would
// be accepted.

namespace souk::wire {

// "'4X' is not an amount of memory".
base::Failure is_not(std::string_view text, std::string_view what, std::string hint);

// An amount of memory in MiB, written "4G", "512M", "1.5T", "64 GiB". G is 1024 M, always.
struct Memory {
  std::int64_t mib = 0;
  bool operator==(const Memory&) const = default;
};
base::Result<Memory> parse_memory(std::string_view text);
std::string to_string(Memory memory);

// "2" or "1..4".
base::Result<Workers> parse_workers(std::string_view text);
std::string to_string(const Workers& workers);

// A time (RFC 3339), or a length of time from `now` on: "3h".
base::Result<base::Time> parse_when(std::string_view text, base::Time now);

// "user, machine or operator"; with a default: "user (default), machine or operator".
std::string one_of(std::span<const std::string_view> names, std::string_view otherwise = {});
template <base::NamedEnum E>
std::string one_of() {
  return one_of(names_of(E{}));
}
template <base::NamedEnum E>
std::string one_of(E otherwise) {
  return one_of(names_of(E{}), to_string(otherwise));
}

// One of the names of E. `field` is what the error is about, for a reader of the error.
template <base::NamedEnum E>
base::Result<E> parse_name(std::string_view text, std::string field = {}) {
  if (const auto found = base::from_string<E>(text)) return *found;
  auto out = is_not(text, one_of<E>(), base::suggest(text.substr(0, 100), names_of(E{})));
  out.error().field = std::move(field);
  return out;
}

template <std::integral N>
base::Result<N> parse_whole(std::string_view text) {
  N out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc{} && end == text.data() + text.size()) return out;
  return is_not(text, "a whole number that fits", "for example 4");
}

}  // namespace souk::wire
