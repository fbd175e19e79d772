#include "base/proof/gpu_challenge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace souk::base {
namespace {

using Matrix = std::vector<std::uint32_t>;

constexpr GpuProduct kSmall{.seed = 7, .size = 64, .steps = 3};

Matrix matrix_of(const GpuProduct& p, std::int32_t which) {
  const auto n = static_cast<std::uint32_t>(p.size);
  Matrix out;
  for (std::uint32_t i = 0; i < n * n; ++i)
    out.push_back(matrix_entry(matrix_key(p.seed, which), i));
  return out;
}

// By the definition of a product of matrices.
Matrix multiplied(const Matrix& a, const Matrix& b, std::size_t n) {
  Matrix out(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) out[i * n + j] += a[i * n + k] * b[k * n + j];
  return out;
}

Matrix product_of(const GpuProduct& p) {
  auto out = matrix_of(p, 0);
  for (std::int32_t step = 1; step <= p.steps; ++step)
    out = multiplied(out, matrix_of(p, step), static_cast<std::size_t>(p.size));
  return out;
}

Matrix drawn(std::int32_t size) {
  Random random(3);
  Matrix out;
  for (std::int32_t i = 0; i < size; ++i)
    out.push_back(static_cast<std::uint32_t>(random.next() >> 32));
  return out;
}

TEST(GpuChallenge, EveryRowOfTheProductIsKnownAndAnyOtherIsNot) {
  const auto c = product_of(kSmall);
  const auto r = drawn(kSmall.size), folded = fold_matrices(kSmall, r);
  for (std::int32_t i = 0; i < kSmall.size; ++i) {
    Matrix row(c.begin() + std::ptrdiff_t{i} * kSmall.size,
               c.begin() + std::ptrdiff_t{i + 1} * kSmall.size);
    EXPECT_TRUE(is_row_of(kSmall, i, row, r, folded)) << i;
    row[static_cast<std::size_t>(i)] += 1;
    EXPECT_FALSE(is_row_of(kSmall, i, row, r, folded)) << i;
    EXPECT_FALSE(is_row_of(kSmall, i, Matrix(row.size()), r, folded)) << i;
  }
  EXPECT_FALSE(is_row_of(kSmall, 64, Matrix(64), r, folded));
  EXPECT_FALSE(is_row_of(kSmall, 0, Matrix(63), r, folded));
}

// Who had rows of fewer bits would have them with less work.
TEST(GpuChallenge, ARowOfTheRightLowBitsIsWrong) {
  const auto c = product_of(kSmall);
  const auto r = drawn(kSmall.size), folded = fold_matrices(kSmall, r);
  Matrix row(c.begin(), c.begin() + kSmall.size);
  for (auto& number : row) number &= 0xffff;
  EXPECT_FALSE(is_row_of(kSmall, 0, row, r, folded));
}

// What agents of all versions and servers of all versions must agree on.
TEST(GpuChallenge, TheNumbersNeverChange) {
  EXPECT_EQ(matrix_entry(matrix_key(7, 0), 0), 0xd1680501U);
  EXPECT_EQ(matrix_entry(matrix_key(7, 3), 4095), 0xb80923bdU);
  EXPECT_EQ(row_hash(7, Matrix{1, 2, 3}), 0xa51f78b0998c6f92ULL);
  EXPECT_EQ(chain_next(chain_begin(7, 5)), 0x32e1ffcf575d979dULL);
  EXPECT_EQ(gpu_place(7, 100, 12), 0xb79a9aU);
  EXPECT_EQ(gpu_group(7, 100, 9, 20, 3), 0xf360cb214ab31d71ULL);
}

TEST(GpuChallenge, AGroupIsWhatWouldBeRead) {
  constexpr std::int64_t mib = 4, reads = 50;
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t chain = 0; chain < chains_of(mib); ++chain) {
    auto x = chain_begin(11, chain);
    for (std::int64_t i = 0; i < kChainNumbers; ++i, x = chain_next(x)) numbers.push_back(x);
  }
  EXPECT_EQ(numbers.size() * 8, std::size_t{mib} << 20);
  for (const std::int32_t group : {0, 1, kGpuGroups - 1}) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < reads; ++i) {
      const auto counter = read_counter(group, reads, i);
      sum += gpu_read_value(numbers.at(gpu_place(5, mib, counter)), counter);
    }
    EXPECT_EQ(sum, gpu_group(11, mib, 5, reads, group));
  }
}

TEST(GpuChallenge, NumbersAsTextComeBackAndOtherTextIsNone) {
  const std::vector<std::uint64_t> numbers{0, 1, ~0ULL, 0x0123456789abcdefULL};
  const auto text = hex_of<std::uint64_t>(numbers);
  EXPECT_EQ(numbers_of<std::uint64_t>(text, 4), numbers);
  EXPECT_EQ(hex_of<std::uint32_t>(std::vector<std::uint32_t>{255}), "000000ff");
  EXPECT_TRUE(numbers_of<std::uint64_t>(text, 3).empty());
  EXPECT_TRUE(numbers_of<std::uint64_t>(text, SIZE_MAX / 8).empty());
  EXPECT_TRUE(numbers_of<std::uint32_t>("0000000g", 1).empty());
  EXPECT_TRUE(numbers_of<std::uint32_t>("0000000F", 1).empty());
}

TEST(GpuChallenge, WhatNoGpuShouldBeAskedForIsRefused) {
  EXPECT_TRUE(check_product(kSmall));
  for (const GpuProduct bad : {GpuProduct{1, 0, 1}, GpuProduct{1, 63, 1}, GpuProduct{1, 8192, 1},
                               GpuProduct{1, 64, 0}, GpuProduct{1, 64, 1025}})
    EXPECT_FALSE(check_product(bad)) << bad.size << " " << bad.steps;
  EXPECT_FALSE(check_fill(1));
  EXPECT_FALSE(check_fill(kMostGpuMib + 2));
}

}  // namespace
}  // namespace souk::base
