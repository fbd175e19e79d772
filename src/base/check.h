#pragma once

#include <source_location>
#include <string_view>

namespace souk::base {

// Prints `what` with its place and ends the process. For our own bugs only.
[[noreturn]] void check_failed(std::string_view what, std::source_location where);

}  // namespace souk::base

// Always on, in every build: a broken invariant must not reach the journal. What a user, a peer or
// a disk can cause is a Result instead (result.h).
#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) [[unlikely]]                                             \
      ::souk::base::check_failed(#condition, std::source_location::current()); \
  } while (false)
