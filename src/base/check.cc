#include "base/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "base/containment.h"

namespace souk::base {

thread_local bool Containment::active_ = false;

void check_failed(std::string_view what, std::source_location where) {
  const auto text = fmt::format("{}:{}: {}: CHECK({}) failed", where.file_name(), where.line(),
                                where.function_name(), what);
  fmt::print(stderr, "{}\n", text);
  std::fflush(stderr);
  if (Containment::active()) throw ImpossibleState(fmt::format("CHECK({}) failed", what));
  std::abort();
}

}  // namespace souk::base
