#pragma once

#include <fmt/format.h>

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "wire/api/heartbeat.h"
#include "wire/api/job.h"
#include "wire/spellings.h"

// What people type after a flag, read into the types of the API. Each read_value() leaves `out`
// alone on an error, whose message quotes the text.

namespace souk::cli {

using wire::Memory;
using wire::one_of;

// "market", or a price.
struct AskPrice {
  std::optional<base::Credits> credits;
};
// A number with "any" for no limit.
template <class N>
struct OrAny {
  std::optional<N> value;
};
// "l17:3": a lease and its epoch.
base::Result<wire::LeaseReport> parse_held(std::string_view text);

base::Result<> read_value(std::string_view text, std::string& out);
base::Result<> read_value(std::string_view text, bool& out);
base::Result<> read_value(std::string_view text, double& out);
base::Result<> read_value(std::string_view text, base::Credits& out);
base::Result<> read_value(std::string_view text, base::Duration& out);
base::Result<> read_value(std::string_view text, base::Time& out);  // wire::parse_when from now on.
base::Result<> read_value(std::string_view text, Memory& out);
base::Result<> read_value(std::string_view text, wire::Workers& out);
base::Result<> read_value(std::string_view text, AskPrice& out);
base::Result<> read_value(std::string_view text, wire::LeaseReport& out);
base::Failure not_an_id(std::string_view text, std::string_view noun, std::string example);
base::Result<std::pair<std::string, std::string>> split_pair(std::string_view text);

template <std::integral N>
base::Result<> read_value(std::string_view text, N& out) {
  SOUK_ASSIGN(out, wire::parse_whole<N>(text));
  return {};
}

template <class Tag>
base::Result<> read_value(std::string_view text, base::Id<Tag>& out) {
  const auto id = base::IdTraits<base::Id<Tag>>::parse(text);
  if (!id) return not_an_id(text, Tag::noun, to_string(base::Id<Tag>(17)));
  out = *id;
  return {};
}

template <base::NamedEnum E>
base::Result<> read_value(std::string_view text, E& out) {
  SOUK_ASSIGN(out, wire::parse_name<E>(text));
  return {};
}

template <class T>
base::Result<> read_value(std::string_view text, std::optional<T>& out) {
  T value{};
  SOUK_TRY(read_value(text, value));
  out = std::move(value);
  return {};
}

template <class N>
base::Result<> read_value(std::string_view text, OrAny<N>& out) {
  if (text == "any") return out.value.reset(), base::Result<>{};
  return read_value(text, out.value);
}

// Several flags add up.
template <class T>
base::Result<> read_value(std::string_view text, std::vector<T>& out) {
  T value{};
  SOUK_TRY(read_value(text, value));
  out.push_back(std::move(value));
  return {};
}

// Names with commas between them, or several flags; "any" for none.
struct Names {
  std::vector<std::string> items;
};
base::Result<> read_value(std::string_view text, Names& out);

// "key=value"; several flags add up.
base::Result<> read_value(std::string_view text, std::map<std::string, std::string>& out);

// A value as it would be typed: several of a list, none where it is empty or cannot be shown.
template <class T>
std::vector<std::string> shown_value(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value.empty() ? std::vector<std::string>{} : std::vector{value};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {value ? "true" : "false"};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return {fmt::format("{}", value)};
  } else if constexpr (requires { value.has_value(); }) {
    return value ? shown_value(*value) : std::vector<std::string>{};
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return value;
  } else if constexpr (requires { std::string(to_string(value)); }) {
    return {std::string(to_string(value))};
  } else {
    return {};
  }
}

}  // namespace souk::cli
