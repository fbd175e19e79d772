#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

// One list of a struct's fields, written once beside the struct, from which the event codec, the
// state hash, the JSON reader and writer and the OpenAPI document are all derived.
//
//   struct Window { Time from; Time until; SOUK_FIELDS(Window, from, until) };
//   SOUK_ENUM(JobState, queued, running)   // declares the enum class and its spellings
//
// The order of a list is part of the journal's format: append, never reorder (codec/events.h).

namespace souk::base {

template <class... Text>
constexpr std::array<std::string_view, sizeof...(Text)> names(Text... text) {
  return {text...};
}

template <class T>
concept Described = requires { T::souk_field_names; };

template <class T>
concept NamedEnum = std::is_enum_v<T> && requires { names_of(T{}); };

// Calls visit(name, value.member) for each field in order. `value` may be const.
template <class T, class Visit>
constexpr void for_each_field(T& value, Visit&& visit) {
  std::remove_const_t<T>::souk_for_each_field(value, visit);
}

// An enumerator's name as people see it: `operator_` is spelled "operator".
constexpr std::string_view spelled(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

template <NamedEnum E>
constexpr std::optional<E> from_string(std::string_view name) {
  const auto& names = names_of(E{});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace souk::base

#define SOUK_PARENS ()
#define SOUK_EXPAND(...) SOUK_EXPAND3(SOUK_EXPAND3(SOUK_EXPAND3(SOUK_EXPAND3(__VA_ARGS__))))
#define SOUK_EXPAND3(...) SOUK_EXPAND2(SOUK_EXPAND2(SOUK_EXPAND2(SOUK_EXPAND2(__VA_ARGS__))))
#define SOUK_EXPAND2(...) SOUK_EXPAND1(SOUK_EXPAND1(SOUK_EXPAND1(SOUK_EXPAND1(__VA_ARGS__))))
#define SOUK_EXPAND1(...) __VA_ARGS__
#define SOUK_EACH(macro, type, ...) __VA_OPT__(SOUK_EXPAND(SOUK_EACH_(macro, type, __VA_ARGS__)))
#define SOUK_EACH_(macro, type, item, ...) \
  macro(type, item) __VA_OPT__(, SOUK_EACH_AGAIN SOUK_PARENS(macro, type, __VA_ARGS__))
#define SOUK_EACH_AGAIN() SOUK_EACH_

// Members of the struct, and templates, so that a struct costs nothing to compile until somebody
// walks its fields.
#define SOUK_TEXT_(type, item) std::string_view(#item)
#define SOUK_VISIT_(type, item) visit(std::string_view(#item), self.item)
#define SOUK_FIELDS(Type, ...)                                               \
  [[maybe_unused]] static constexpr auto souk_field_names =                  \
      ::souk::base::names(SOUK_EACH(SOUK_TEXT_, Type, __VA_ARGS__));         \
  template <class Self, class Visit>                                         \
  static constexpr void souk_for_each_field([[maybe_unused]] Self& self,     \
                                            [[maybe_unused]] Visit& visit) { \
    __VA_OPT__((SOUK_EACH(SOUK_VISIT_, Type, __VA_ARGS__));)                 \
  }

#define SOUK_NAME_(type, item) ::souk::base::spelled(#item)
#define SOUK_ENUM(Type, ...)                                                     \
  enum class Type : unsigned char { __VA_ARGS__ };                               \
  constexpr const auto& names_of(Type) {                                         \
    static constexpr std::array names{SOUK_EACH(SOUK_NAME_, Type, __VA_ARGS__)}; \
    return names;                                                                \
  }                                                                              \
  constexpr std::string_view to_string(Type value) {                             \
    return names_of(value)[static_cast<std::size_t>(value)];                     \
  }
