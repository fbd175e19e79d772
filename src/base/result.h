#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/fields.h"

namespace souk::base {

// What went wrong, in terms a caller can act on. The HTTP status follows from it (server/problem).
SOUK_ENUM(Code, invalid, unauthenticated, forbidden, not_found, conflict, exhausted, unavailable,
          too_large, damaged, internal)

// An error that a user, a peer or a disk caused. `message` names the thing and its value; `hint`
// says what would be accepted; `field` is the path of the offending input field, if any.
struct Error {
  Code code = Code::internal;
  std::string message;
  std::string hint = {};
  std::string field = {};

  bool operator==(const Error&) const = default;
};

template <class T = void>
using Result = std::expected<T, Error>;

using Failure = std::unexpected<Error>;

inline Failure fail(Code code, std::string message, std::string hint = {}, std::string field = {}) {
  return Failure(Error{code, std::move(message), std::move(hint), std::move(field)});
}

// `result`, and if it is an error, with "where: " before its message.
template <class T>
Result<T> located(Result<T> result, std::string_view where) {
  if (result) return result;
  auto error = std::move(result).error();
  error.message = std::string(where) + ": " + error.message;
  return std::unexpected(std::move(error));
}

}  // namespace souk::base

// Evaluates a Result and leaves the calling function with its error, if it has one.
#define SOUK_TRY(expression)                                  \
  do {                                                        \
    if (auto souk_result = (expression); !souk_result)        \
      return std::unexpected(std::move(souk_result).error()); \
  } while (false)

#define SOUK_JOIN_(a, b) a##b
#define SOUK_JOIN(a, b) SOUK_JOIN_(a, b)

// SOUK_ASSIGN(auto x, f()): declares x as f()'s value, or leaves with f()'s error.
#define SOUK_ASSIGN(declaration, expression) \
  SOUK_ASSIGN_(SOUK_JOIN(souk_result_, __LINE__), declaration, expression)
#define SOUK_ASSIGN_(name, declaration, expression)           \
  auto name = (expression);                                   \
  if (!name) return std::unexpected(std::move(name).error()); \
  declaration = *std::move(name)
