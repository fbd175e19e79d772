#include "agent/gpu/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "agent/testing/ptx_machine.h"
#include "base/proof/gpu_challenge.h"

// What GPUs compute is what is checked: their programs run here, one instruction after the other.

namespace souk::agent {
namespace {

using testing::PtxMachine;

std::uint64_t at(const auto& memory) { return std::bit_cast<std::uint64_t>(memory.data()); }

TEST(GpuKernels, MatricesAreDrawnAsWhoChecksThemDrawsThem) {
  PtxMachine gpu(kGpuKernels);
  const auto key = base::matrix_key(5, 2);
  std::vector<std::uint32_t> out(300, 1);
  gpu.run("souk_matrix", {2}, {256}, {at(out), key.add, key.flip, 299});
  for (std::uint32_t i = 0; i < 299; ++i) EXPECT_EQ(out[i], base::matrix_entry(key, i)) << i;
  EXPECT_EQ(out[299], 1u) << "behind its end";
}

TEST(GpuKernels, AProductOfMatricesIsOne) {
  PtxMachine gpu(kGpuKernels);
  constexpr std::uint32_t n = 128;
  std::vector<std::uint32_t> a, b, c(n * n, 1), right(n * n);
  for (std::uint32_t i = 0; i < n * n; ++i) {
    a.push_back(base::matrix_entry(base::matrix_key(3, 0), i));
    b.push_back(base::matrix_entry(base::matrix_key(3, 1), i));
  }
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t k = 0; k < n; ++k)
      for (std::uint32_t j = 0; j < n; ++j) right[i * n + j] += a[i * n + k] * b[k * n + j];
  gpu.run("souk_product", {n / 64, n / 64}, {16, 16}, {at(c), at(a), at(b), n});
  EXPECT_EQ(c, right);
}

TEST(GpuKernels, RowsAreHashedAsWhoChecksThemHashesThem) {
  PtxMachine gpu(kGpuKernels);
  constexpr std::uint32_t n = 300;
  std::vector<std::uint32_t> c;
  for (std::uint32_t i = 0; i < 3 * n; ++i) c.push_back(i * 2654435769u);
  std::vector<std::uint64_t> hashes(3);
  gpu.run("souk_rows", {3}, {256}, {at(hashes), at(c), n, 77});
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(hashes[i], base::row_hash(77, std::span(c).subspan(i * n, n)));
}

TEST(GpuKernels, WhatIsFilledIsReadAsWhoChecksItComputesIt) {
  PtxMachine gpu(kGpuKernels);
  constexpr std::int64_t mib = 2, reads = 300;
  const auto chains = base::chains_of(mib);
  std::vector<std::uint64_t> memory((std::size_t{mib} << 17) + 1, 9);
  gpu.run("souk_fill", {1}, {256}, {at(memory), 21, chains});
  EXPECT_EQ(memory.back(), 9u) << "behind its end";
  std::vector<std::uint64_t> sums(2);
  gpu.run("souk_read", {2}, {256},
          {at(sums), at(memory), chains * base::kChainNumbers, 22, std::uint64_t{reads}});
  for (std::int32_t group = 0; group < 2; ++group)
    EXPECT_EQ(sums[static_cast<std::size_t>(group)], base::gpu_group(21, mib, 22, reads, group));
}

}  // namespace
}  // namespace souk::agent
