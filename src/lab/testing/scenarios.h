#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "lab/files/scenario.h"
#include "wire/json.h"

namespace souk::lab::testing {

// What a scenario file without mistakes says.
inline Scenario scenario(std::string_view text) {
  auto s = parse_scenario(text, "f.yaml", ".");
  EXPECT_TRUE(s) << (s ? "" : wire::one_line(s.error()));
  return s ? *std::move(s) : Scenario{};
}

// `text` with the first `from`, which must be there, replaced by `to`.
inline std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const auto at = out.find(from);
  CHECK(at != std::string::npos);
  return out.replace(at, from.size(), to);
}

}  // namespace souk::lab::testing
