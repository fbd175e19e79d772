#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "wire/shape.h"

// JSON text to and from the types of shape.h.
//
// Writing never fails. Every field is written, in the order of SOUK_FIELDS, except optionals that
// are empty. Reading is strict, because a request that is half understood spends somebody's
// credits: unknown and repeated keys, wrong types and numbers out of range are errors that name the
// path, the value and what would be accepted. It is tolerant in three places: what is_required()
// says may be missing, `null` for an empty optional, and a decimal string for Credits.
//
// All functions are thread-safe: there is no shared state.

namespace souk::wire {

inline constexpr std::size_t kMaxDepth = 32;  // Of nested lists and objects, in text and YAML.

// Where in a document a value stands. Lives on the stack beside its parent and is spelled out only
// when there is an error to report.
struct Path {
  static constexpr std::size_t kNotAnItem = static_cast<std::size_t>(-1);

  const Path* parent = nullptr;
  std::string_view key = {};
  std::size_t index = kNotAnItem;
};
std::string to_string(const Path& path);  // "workers.min", "windows[2].from"; "" is the document.

// A key from outside as it may stand in a message: not too long, no control characters.
std::string printable_key(std::string_view key);

// "message (hint)", on one line, for people.
std::string one_line(const base::Error& error);

bool valid_utf8(std::string_view text);

// Parses one JSON document. The value lives in `memory`. Doubles are correctly rounded, which
// Boost.JSON 1.81's own parser does not promise. Errors carry the line and column.
base::Result<boost::json::value> parse(std::string_view text, boost::json::storage_ptr memory = {});

// --- Writing ----------------------------------------------------------------------------------

// Each appends one JSON value. Bytes that are not UTF-8 become U+FFFD: job logs hold anything.
void write_text(std::string& out, std::string_view value);
void write_signed(std::string& out, std::int64_t value);
void write_unsigned(std::string& out, std::uint64_t value);
void write_real(std::string& out, double value);  // Shortest exact form; null if not finite.
void write_credits(std::string& out, base::Credits value);
void write_time(std::string& out, base::Time value);
void write_value(std::string& out, const boost::json::value& value);

void write_duration(std::string& out, base::Duration value);

template <class T>
void write_json(std::string& out, const T& value);

namespace detail {

// `before` and the key of a field, whose name needs no escapes.
inline void write_key(std::string& out, char before, std::string_view name) {
  const auto at = out.size();
  out.append(name.size() + 4, '"');
  out[at] = before;
  name.copy(out.data() + at + 2, name.size());
  out.back() = ':';
}

template <class T>
void write_object(std::string& out, const T& value) {
  char before = '{';
  base::for_each_field(value, [&]<class M>(std::string_view name, const M& member) {
    if constexpr (shape_of<M> == Shape::optional)
      if (!member) return;
    write_key(out, before, base::spelled(name));
    write_json(out, member);
    before = ',';
  });
  if (before == '{') out += '{';
  out += '}';
}

template <class T>
void write_list(std::string& out, const T& value) {
  char before = '[';
  for (const typename T::value_type& item : value) {
    out += before;
    write_json(out, item);
    before = ',';
  }
  if (before == '[') out += '[';
  out += ']';
}

template <class T>
void write_map(std::string& out, const T& value) {
  char before = '{';
  for (const auto& [key, item] : value) {
    out += before;
    write_text(out, key);
    out += ':';
    write_json(out, item);
    before = ',';
  }
  if (before == '{') out += '{';
  out += '}';
}

}  // namespace detail

// Appends `value` as compact JSON.
template <class T>
void write_json(std::string& out, const T& value) {
  constexpr Shape shape = shape_of<T>;
  if constexpr (shape == Shape::boolean)
    out += value ? "true" : "false";
  else if constexpr (shape == Shape::integer && std::is_signed_v<T>)
    write_signed(out, value);
  else if constexpr (shape == Shape::integer)
    write_unsigned(out, value);
  else if constexpr (shape == Shape::real)
    write_real(out, value);
  else if constexpr (shape == Shape::text)
    write_text(out, value);
  else if constexpr (shape == Shape::credits)
    write_credits(out, value);
  else if constexpr (shape == Shape::time)
    write_time(out, value);
  else if constexpr (shape == Shape::duration)
    write_duration(out, value);
  else if constexpr (shape == Shape::any)
    out += value.text.empty() ? "null" : value.text;
  else if constexpr (shape == Shape::list)
    detail::write_list(out, value);
  else if constexpr (shape == Shape::map)
    detail::write_map(out, value);
  else if constexpr (shape == Shape::object)
    detail::write_object(out, value);
  else if constexpr (shape == Shape::optional) {
    if (value)
      write_json(out, *value);
    else
      out += "null";
  } else {  // Id and enum spellings never need escapes.
    out += '"';
    out += to_string(value);
    out += '"';
  }
}

template <class T>
std::string to_json(const T& value) {
  std::string out;
  out.reserve(512);
  write_json(out, value);
  return out;
}

// --- Reading ----------------------------------------------------------------------------------

namespace detail {

using Value = boost::json::value;
using base::Error;

// Each returns false and fills `error` when `value` is not what is wanted.
bool read_boolean(const Value& value, const Path& at, bool& out, Error& error);
bool read_signed(const Value& value, const Path& at, std::int64_t least, std::int64_t most,
                 std::int64_t& out, Error& error);
bool read_unsigned(const Value& value, const Path& at, std::uint64_t most, std::uint64_t& out,
                   Error& error);
bool read_real(const Value& value, const Path& at, double& out, Error& error);
bool read_text(const Value& value, const Path& at, std::string& out, Error& error);
bool read_credits(const Value& value, const Path& at, base::Credits& out, Error& error);
bool read_time(const Value& value, const Path& at, base::Time& out, Error& error);
bool read_duration(const Value& value, const Path& at, base::Duration& out, Error& error);
bool read_name(const Value& value, const Path& at, std::span<const std::string_view> names,
               std::size_t& out, Error& error);

bool refuse(const Value& value, const Path& at, Shape wanted, std::string hint, Error& error);
bool refuse_id(const Value& value, const Path& at, char prefix, std::string_view noun,
               Error& error);
bool refuse_unknown(const boost::json::object& object, const Path& at,
                    std::span<const std::string_view> names, Error& error);
bool refuse_missing(const Path& at, std::string_view name, Shape wanted, Error& error);

template <class T>
bool read(const Value& value, const Path& at, T& out, Error& error);

template <class T>
bool read_integer(const Value& value, const Path& at, T& out, Error& error) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_signed_v<T>) {
    std::int64_t wide = 0;
    if (!read_signed(value, at, Limits::min(), Limits::max(), wide, error)) return false;
    out = static_cast<T>(wide);
  } else {
    std::uint64_t wide = 0;
    if (!read_unsigned(value, at, Limits::max(), wide, error)) return false;
    out = static_cast<T>(wide);
  }
  return true;
}

template <class T>
bool read_id(const Value& value, const Path& at, T& out, Error& error) {
  if (const auto* text = value.if_string()) {
    if (const auto id = base::IdTraits<T>::parse({text->data(), text->size()})) {
      out = *id;
      return true;
    }
  }
  return refuse_id(value, at, base::to_string(T{})[0], base::IdTraits<T>::noun, error);
}

template <class T>
bool read_enum(const Value& value, const Path& at, T& out, Error& error) {
  std::size_t index = 0;
  if (!read_name(value, at, names_of(T{}), index, error)) return false;
  out = static_cast<T>(index);
  return true;
}

template <class T>
bool read_list(const Value& value, const Path& at, std::vector<T>& out, Error& error) {
  const auto* list = value.if_array();
  if (!list) return refuse(value, at, Shape::list, "write [...]", error);
  out.clear();
  out.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    T item{};
    if (!read((*list)[i], Path{&at, {}, i}, item, error)) return false;
    out.push_back(std::move(item));
  }
  return true;
}

template <class T>
bool read_map(const Value& value, const Path& at, std::map<std::string, T>& out, Error& error) {
  const auto* object = value.if_object();
  if (!object) return refuse(value, at, Shape::map, "write {\"name\": ...}", error);
  out.clear();
  for (const auto& member : *object) {
    const std::string_view key(member.key().data(), member.key().size());
    T item{};
    if (!read(member.value(), Path{&at, key}, item, error)) return false;
    out.emplace(key, std::move(item));
  }
  return true;
}

// Reports an unknown key before a missing one: the unknown one is usually the missing one
// misspelt.
template <class T>
bool read_object(const Value& value, const Path& at, T& out, Error& error) {
  const auto* object = value.if_object();
  if (!object) return refuse(value, at, Shape::object, "write {...}", error);
  bool good = true;
  std::size_t known = 0;
  auto next = object->begin();
  std::string_view missing;
  Shape missing_shape{};
  base::for_each_field(out, [&]<class M>(std::string_view member_name, M& member) {
    if (!good) return;
    const auto name = base::spelled(member_name);
    // Most senders keep our order, which saves the search.
    const auto* found = next != object->end() && next->key() == name ? &(next++)->value()
                                                                     : object->if_contains(name);
    if (found) {
      ++known;
      good = read(*found, Path{&at, name}, member, error);
    } else if (missing.empty() && is_required<T, M>(name)) {
      missing = name;
      missing_shape = shape_of<M>;
    }
  });
  if (!good) return false;
  if (known != object->size()) return refuse_unknown(*object, at, field_names<T>, error);
  return missing.empty() || refuse_missing(at, missing, missing_shape, error);
}

template <class T>
bool read_optional(const Value& value, const Path& at, std::optional<T>& out, Error& error) {
  if (value.is_null()) {
    out.reset();
    return true;
  }
  return read(value, at, out.emplace(), error);
}

template <class T>
bool read(const Value& value, const Path& at, T& out, Error& error) {
  constexpr Shape shape = shape_of<T>;
  if constexpr (shape == Shape::boolean)
    return read_boolean(value, at, out, error);
  else if constexpr (shape == Shape::integer)
    return read_integer(value, at, out, error);
  else if constexpr (shape == Shape::real) {
    double wide = 0;
    if (!read_real(value, at, wide, error)) return false;
    out = static_cast<T>(wide);
    return true;
  } else if constexpr (shape == Shape::text)
    return read_text(value, at, out, error);
  else if constexpr (shape == Shape::id)
    return read_id(value, at, out, error);
  else if constexpr (shape == Shape::credits)
    return read_credits(value, at, out, error);
  else if constexpr (shape == Shape::time)
    return read_time(value, at, out, error);
  else if constexpr (shape == Shape::duration)
    return read_duration(value, at, out, error);
  else if constexpr (shape == Shape::enumeration)
    return read_enum(value, at, out, error);
  else if constexpr (shape == Shape::optional)
    return read_optional(value, at, out, error);
  else if constexpr (shape == Shape::list)
    return read_list(value, at, out, error);
  else if constexpr (shape == Shape::map)
    return read_map(value, at, out, error);
  else if constexpr (shape == Shape::object)
    return read_object(value, at, out, error);
  else {
    out.text.clear();
    write_value(out.text, value);
    return true;
  }
}

}  // namespace detail

// Reads a T from a parsed value that stands at `at`.
template <class T>
base::Result<T> from_value(const boost::json::value& value, const Path& at = {}) {
  T out{};
  base::Error error;
  if (!detail::read(value, at, out, error)) return std::unexpected(std::move(error));
  return out;
}

template <class T>
base::Result<T> from_json(std::string_view text) {
  unsigned char buffer[4096];  // An ordinary request is parsed without touching the heap.
  boost::json::monotonic_resource memory(buffer, sizeof buffer);
  SOUK_ASSIGN(const boost::json::value value, parse(text, &memory));
  return from_value<T>(value);
}

}  // namespace souk::wire
