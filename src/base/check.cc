#include "base/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace souk::base {

void check_failed(std::string_view what, std::source_location where) {
  fmt::print(stderr, "{}:{}: {}: CHECK({}) failed\n", where.file_name(), where.line(),
             where.function_name(), what);
  std::fflush(stderr);
  std::abort();
}

}  // namespace souk::base
