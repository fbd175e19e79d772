#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What a GPU is asked to compute, so that it shows that it is there, how fast it is and how much
// memory it has. Integers only: all GPUs agree to the bit, and so does who checks. agent/gpu has
// the same as programs for a GPU. docs/decisions/0030-machines-prove-what-they-claim.md has the
// reasons and the limits.

namespace souk::base {

// --- Speed ---------------------------------------------------------------------------------------

// A product of steps + 1 square matrices of numbers of 32 bits, all drawn from the seed:
// A * B(1) * ... * B(steps), modulo 2^32. Whoever checks it computes B(1) * ... * B(steps) * r for
// a secret r, which is quick (Freivalds); then each row of the product is checked with two more
// sums. The rows to be shown are named when all of them were committed to.
struct GpuProduct {
  std::uint64_t seed = 0;
  std::int32_t size = 0;  // Rows and columns.
  std::int32_t steps = 1;
};
inline constexpr std::int32_t kGpuTile = 64;  // A size is a multiple of it.
inline constexpr std::int32_t kMostGpuSize = 4096;
inline constexpr std::int32_t kMostGpuSteps = 1024;

// Refuses what no GPU should be asked for.
[[nodiscard]] Result<> check_product(const GpuProduct& product);

// Matrix 0 is A, the others are B(1) and on.
struct MatrixKey {
  std::uint32_t add = 0, flip = 0;
};
[[nodiscard]] MatrixKey matrix_key(std::uint64_t seed, std::int32_t matrix);

// The number at `index`, counted row by row.
[[nodiscard]] constexpr std::uint32_t matrix_entry(MatrixKey key, std::uint32_t index) {
  auto x = index * 0x9e3779b1U + key.add;
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= key.flip;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  return x ^ (x >> 16);
}

// Of one row of the product. Not linear, as the sums of a linear one could be had without the
// product.
[[nodiscard]] std::uint64_t row_hash(std::uint64_t seed, std::span<const std::uint32_t> row);
// Names all rows: what is committed to.
[[nodiscard]] std::string commitment(std::span<const std::uint64_t> row_hashes);

// B(1) * ... * B(steps) * r. Takes a time like steps * size^2.
[[nodiscard]] std::vector<std::uint32_t> fold_matrices(const GpuProduct& product,
                                                       std::span<const std::uint32_t> r);
// Is this row `index` of the product? `folded` is what fold_matrices gave for `r`.
[[nodiscard]] bool is_row_of(const GpuProduct& product, std::int32_t index,
                             std::span<const std::uint32_t> row, std::span<const std::uint32_t> r,
                             std::span<const std::uint32_t> folded);

// --- Memory --------------------------------------------------------------------------------------

// Memory is filled with chains of numbers, each from the one before; so reading a number takes much
// less than computing it again. Chains lie side by side, 32 together, as GPUs write best.
inline constexpr std::int64_t kChainNumbers = 8192;
inline constexpr std::int64_t kChainsTogether = 32;
inline constexpr std::int64_t kMibOfChains = 2;  // 32 chains: memory is filled in steps of this.
inline constexpr std::int32_t kGpuGroups = 1024;
inline constexpr std::int64_t kMostGpuMib = 4 << 20;
inline constexpr std::int64_t kMostGpuReads = 1 << 20;  // Of a group.

[[nodiscard]] Result<> check_fill(std::int64_t mib);
[[nodiscard]] constexpr std::uint64_t chains_of(std::int64_t mib) {
  return static_cast<std::uint64_t>(mib / kMibOfChains * kChainsTogether);
}
[[nodiscard]] std::uint64_t chain_begin(std::uint64_t seed, std::uint64_t chain);
[[nodiscard]] constexpr std::uint64_t chain_next(std::uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x * 0xbf58476d1ce4e5b9ULL;
}

// The place of read `read` of a group: chain * kChainNumbers + number; and what a read adds to the
// sum of its group.
[[nodiscard]] std::uint64_t gpu_place(std::uint64_t seed, std::int64_t mib, std::uint64_t counter);
[[nodiscard]] std::uint64_t gpu_read_value(std::uint64_t value, std::uint64_t counter);
// Counts the reads of all groups.
[[nodiscard]] constexpr std::uint64_t read_counter(std::int32_t group, std::int64_t reads,
                                                   std::int64_t read) {
  return static_cast<std::uint64_t>(group) * static_cast<std::uint64_t>(reads) +
         static_cast<std::uint64_t>(read);
}

// What the reads of a group come to, computed and not read.
[[nodiscard]] std::uint64_t gpu_group(std::uint64_t pattern, std::int64_t mib, std::uint64_t seed,
                                      std::int64_t reads, std::int32_t group);

// --- Numbers as text -----------------------------------------------------------------------------

// Hexadecimal, a fixed width each, so that many of them are one short text.
template <class Number>
[[nodiscard]] std::string hex_of(std::span<const Number> numbers);
// Nothing but `count` numbers; else empty.
template <class Number>
[[nodiscard]] std::vector<Number> numbers_of(std::string_view hex, std::size_t count);

}  // namespace souk::base
