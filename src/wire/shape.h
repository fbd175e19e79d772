#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"

// How a C++ type looks on the wire. JSON reader, JSON writer, schema and filters all follow this
// one classification, so that they cannot disagree.

namespace souk::wire {

// JSON passed through without a type of ours: what it holds is written as it is.
struct AnyJson {
  std::string text = "null";
  bool operator==(const AnyJson&) const = default;
};

// text      a JSON string                 id        "j17"
// credits   a plain decimal: 0.4          time      RFC 3339; a time that may be "never" is an
// duration  "1h30m"                                 optional, because kNever has no spelling
// any       whatever an AnyJson holds     optional  absent when empty
// list      an array                      map       an object with free keys
// object    a SOUK_FIELDS struct          enumeration  the name of a SOUK_ENUM value
enum class Shape {
  boolean,
  integer,
  real,
  text,
  id,
  credits,
  time,
  duration,
  any,
  enumeration,
  optional,
  list,
  map,
  object,
};

// "a whole number", "a list"...: for error messages.
std::string_view words_for(Shape shape);
std::string words_for_id(std::string_view noun);  // "an account id"

namespace detail {

template <class T>
inline constexpr bool is_id = false;
template <class Tag>
inline constexpr bool is_id<base::Id<Tag>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;

template <class T>
consteval Shape classify() {
  if constexpr (std::same_as<T, bool>)
    return Shape::boolean;
  else if constexpr (std::integral<T>)
    return Shape::integer;
  else if constexpr (std::floating_point<T>)
    return Shape::real;
  else if constexpr (std::same_as<T, std::string>)
    return Shape::text;
  else if constexpr (is_id<T>)
    return Shape::id;
  else if constexpr (std::same_as<T, base::Credits>)
    return Shape::credits;
  else if constexpr (std::same_as<T, base::Time>)
    return Shape::time;
  else if constexpr (std::same_as<T, base::Duration>)
    return Shape::duration;
  else if constexpr (std::same_as<T, AnyJson>)
    return Shape::any;
  else if constexpr (base::NamedEnum<T>)
    return Shape::enumeration;
  else if constexpr (is_optional<T>)
    return Shape::optional;
  else if constexpr (is_list<T>)
    return Shape::list;
  else if constexpr (is_map<T>)
    return Shape::map;
  else {
    static_assert(base::Described<T>, "this type has no form on the wire: give it SOUK_FIELDS");
    return Shape::object;
  }
}

}  // namespace detail

template <class T>
inline constexpr Shape shape_of = detail::classify<T>();

// The wire names of T's fields, in order. A member that C++ would not let have its name has an
// underscore after it: class_ is "class".
template <base::Described T>
inline constexpr auto field_names = [] {
  auto names = T::souk_field_names;
  for (auto& name : names) name = base::spelled(name);
  return names;
}();

// Must a reader of T find the field `name`, whose type is Member? Fields that have an obvious
// empty value need not be sent, nor those that the struct lists:
//   static constexpr auto optional_fields = std::array<std::string_view, 1>{"priority"};
template <base::Described T, class Member>
constexpr bool is_required(std::string_view name) {
  constexpr Shape shape = shape_of<Member>;
  if (shape == Shape::optional || shape == Shape::list || shape == Shape::map ||
      shape == Shape::boolean)
    return false;
  if constexpr (requires { T::optional_fields; }) {
    static_assert(std::ranges::all_of(T::optional_fields,
                                      [](std::string_view listed) {
                                        return std::ranges::find(field_names<T>, listed) !=
                                               field_names<T>.end();
                                      }),
                  "optional_fields lists a name that is not a field");
    return std::ranges::find(T::optional_fields, name) == T::optional_fields.end();
  }
  return true;
}

}  // namespace souk::wire
