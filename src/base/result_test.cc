#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace souk::base {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return fail(Code::invalid, "odd", "give an even number", "n");
  return n / 2;
}

Result<> even(int n, int& reached) {
  SOUK_TRY(half(n));
  ++reached;
  return {};
}

Result<std::string> quarter(int n) {
  SOUK_ASSIGN(const auto once, half(n));
  SOUK_ASSIGN(const auto twice, half(once));
  return std::to_string(twice);
}

Result<std::unique_ptr<int>> boxed(int n) {
  SOUK_ASSIGN(auto value, half(n));
  return std::make_unique<int>(value);
}

Result<int> unboxed(int n) {
  SOUK_ASSIGN(const auto box, boxed(n));
  return *box;
}

TEST(Result, TheFirstErrorReachesTheCallerWhole) {
  const Error expected{Code::invalid, "odd", "give an even number", "n"};
  int reached = 0;
  EXPECT_EQ(even(3, reached).error(), expected);
  EXPECT_EQ(reached, 0);
  EXPECT_EQ(quarter(6).error(), expected);
  EXPECT_EQ(unboxed(5).error(), expected);
}

TEST(Result, ValuesPassThroughEvenIfTheyCanOnlyMove) {
  int reached = 0;
  EXPECT_TRUE(even(4, reached));
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(quarter(8), "2");
  EXPECT_EQ(unboxed(8), 4);
}

TEST(Result, CodesHaveTheNamesClientsSee) {
  EXPECT_EQ(to_string(Code::not_found), "not_found");
  EXPECT_EQ(from_string<Code>("exhausted"), Code::exhausted);
}

}  // namespace
}  // namespace souk::base
