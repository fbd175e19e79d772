#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "wire/shape.h"

// The filter language of `souk offers --where 'class=c4 and price<=0.5 and reliability>0.9'`.
//
//   or      := and ("or" and)*            comparison := field op value
//   and     := not ("and" not)*           op         := = != < <= > >=
//   not     := "not" not | "(" or ")" | comparison
//   value   := a word (c4, 0.5, 1h30m, 2027-03-01T22:00:00Z) or a 'quoted' or "quoted" text
//
// `and` binds more than `or`, `not` more than `and`; these three words may be in capitals. A field
// that is searched (gpu, packages) equals each part of its text, in any case: gpu=a100. A query
// is checked against the fields it may use while it is parsed, so a parsed query always evaluates.

namespace souk::wire {

inline constexpr std::size_t kMaxQueryBytes = 2000;
inline constexpr int kMaxQueryDepth = 32;  // Of parentheses and `not`.

SOUK_ENUM(QueryType, number, text, credits, flag, time, duration)

// A field that a query may use. Texts and flags have no order, so only = and != fit them.
struct QueryField {
  std::string_view name;
  QueryType type = QueryType::text;
  std::vector<std::string_view> words = {};  // A text that is one of few: any other is an error.
  bool searched = false;                     // It equals each part of its text, in any case.
};

// A field's value, of the type its QueryField declares; monostate when this row has none. Credits,
// times and durations compare exactly, as the integers they are. A list of texts, which is always
// searched, equals what one of them does.
using QueryValue = std::variant<std::monostate, double, std::string, base::Credits, bool,
                                base::Time, base::Duration, std::vector<std::string>>;

SOUK_ENUM(QueryOp, equal, unequal, less, at_most, more, at_least)

// A parsed query: a comparison, or `not` of one child, or `and`/`or` of two or more. Children of
// an `and` are never themselves `and`, nor those of an `or`: one query has one tree.
struct Query {
  enum class Kind { compare, all, any, negate };

  Kind kind = Kind::compare;
  std::string field = {};  // These four: of a comparison.
  QueryOp op = QueryOp::equal;
  QueryValue value = {};
  bool searched = false;
  std::vector<Query> children = {};

  bool operator==(const Query&) const = default;
};

base::Result<Query> parse_query(std::string_view text, std::span<const QueryField> fields);

// The query in canonical form: parse_query of it gives the same query.
std::string to_string(const Query& query);

// Does the row whose fields `value_of` looks up satisfy the query? A value that a row does not have
// equals nothing and is neither less nor more than anything.
using QueryLookup = std::function<QueryValue(std::string_view field)>;
bool matches(const Query& query, const QueryLookup& value_of);

// --- Queries over SOUK_FIELDS structs ---------------------------------------------------------

namespace detail {

// Is the field listed as one that is searched?
//   static constexpr auto searched_fields = std::array<std::string_view, 1>{"gpu"};
template <class T>
constexpr bool is_searched(std::string_view name) {
  if constexpr (requires { T::searched_fields; })
    return std::ranges::find(T::searched_fields, name) != T::searched_fields.end();
  return false;
}

template <class T>
consteval bool can_query() {
  if constexpr (shape_of<T> == Shape::optional)
    return can_query<typename T::value_type>() && shape_of<typename T::value_type> != Shape::list;
  else
    return shape_of<T> < Shape::any || shape_of<T> == Shape::enumeration ||
           std::same_as<T, std::vector<std::string>>;
}

template <class T>
QueryField query_field(std::string_view name) {
  constexpr Shape shape = shape_of<T>;
  if constexpr (shape == Shape::optional)
    return query_field<typename T::value_type>(name);
  else if constexpr (shape == Shape::enumeration)
    return {name, QueryType::text, {names_of(T{}).begin(), names_of(T{}).end()}};
  else if constexpr (shape == Shape::boolean)
    return {name, QueryType::flag};
  else if constexpr (shape == Shape::integer || shape == Shape::real)
    return {name, QueryType::number};
  else if constexpr (shape == Shape::credits)
    return {name, QueryType::credits};
  else if constexpr (shape == Shape::time)
    return {name, QueryType::time};
  else if constexpr (shape == Shape::duration)
    return {name, QueryType::duration};
  else
    return {name, QueryType::text};
}

template <class T>
QueryValue query_value(const T& value) {
  constexpr Shape shape = shape_of<T>;
  if constexpr (shape == Shape::optional)
    return value ? query_value(*value) : QueryValue{};
  else if constexpr (shape == Shape::integer || shape == Shape::real)
    return static_cast<double>(value);
  else if constexpr (shape == Shape::enumeration || shape == Shape::id)
    return std::string(to_string(value));
  else
    return value;
}

}  // namespace detail

// The fields of T that a query can use: all but maps, nested structs, and lists that are not
// searched.
template <base::Described T>
std::vector<QueryField> query_fields() {
  std::vector<QueryField> out;
  const T any{};
  base::for_each_field(any, [&]<class M>(std::string_view name, const M&) {
    if constexpr (detail::can_query<M>()) {
      auto field = detail::query_field<M>(base::spelled(name));
      field.searched = detail::is_searched<T>(field.name);
      if (shape_of<M> != Shape::list || field.searched) out.push_back(std::move(field));
    }
  });
  return out;
}

// For queries parsed with query_fields<T>().
template <base::Described T>
bool matches(const Query& query, const T& row) {
  return matches(query, [&](std::string_view field) {
    QueryValue out;
    base::for_each_field(row, [&]<class M>(std::string_view name, const M& member) {
      if constexpr (detail::can_query<M>())
        if (base::spelled(name) == field) out = detail::query_value(member);
    });
    return out;
  });
}

}  // namespace souk::wire
