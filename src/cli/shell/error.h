#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/result.h"

namespace souk::cli {

// What a script sees as $?.
enum class Exit { ok = 0, refused = 1, usage = 2, unreachable = 3 };

// An error with the exit status it ends the program with. Made from our own errors, an invalid
// input is the caller's usage; what the server refuses is Exit::refused, whatever its code.
struct Error : base::Error {
  Exit exit = Exit::refused;

  // Implicit, so that SOUK_TRY passes on the errors of the folders below.
  Error(base::Error e)  // NOLINT(google-explicit-constructor)
      : base::Error(std::move(e)),
        exit(code == base::Code::invalid       ? Exit::usage
             : code == base::Code::unavailable ? Exit::unreachable
                                               : Exit::refused) {}
  Error(base::Error e, Exit status) : base::Error(std::move(e)), exit(status) {}
};

template <class T = void>
using Result = std::expected<T, Error>;

inline base::Failure usage(std::string message, std::string hint = {}) {
  return base::fail(base::Code::invalid, std::move(message), std::move(hint));
}

// Something ended otherwise than it was asked to.
inline std::unexpected<Error> failed(std::string message, std::string hint = {}) {
  return std::unexpected(
      Error({base::Code::conflict, std::move(message), std::move(hint)}, Exit::refused));
}

}  // namespace souk::cli
