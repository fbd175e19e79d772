#include "base/proof/gpu_challenge.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/hash.h"

namespace souk::base {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

// The finish of SplitMix64.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// out = M * v for the matrix of that key.
[[gnu::always_inline]] inline void times(MatrixKey key, std::span<const std::uint32_t> v,
                                         std::span<std::uint32_t> out) {
  const auto n = static_cast<std::uint32_t>(v.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t sum = 0;
    for (std::uint32_t j = 0; j < n; ++j) sum += matrix_entry(key, i * n + j) * v[j];
    out[i] = sum;
  }
}

// The same loop for each vector width.
#if defined(__x86_64__)
[[gnu::target("avx2")]] void times_avx2(MatrixKey key, std::span<const std::uint32_t> v,
                                        std::span<std::uint32_t> out) {
  times(key, v, out);
}
#endif
void times_any(MatrixKey key, std::span<const std::uint32_t> v, std::span<std::uint32_t> out) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return times_avx2(key, v, out);
#endif
  times(key, v, out);
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Result<> check_product(const GpuProduct& p) {
  if (p.size < kGpuTile || p.size > kMostGpuSize || p.size % kGpuTile != 0)
    return fail(Code::invalid, fmt::format("a product of matrices of {} rows", p.size),
                fmt::format("a multiple of {}, up to {}", kGpuTile, kMostGpuSize), "size");
  if (p.steps < 1 || p.steps > kMostGpuSteps)
    return fail(Code::invalid, fmt::format("a product of {} steps", p.steps),
                fmt::format("1 to {}", kMostGpuSteps), "steps");
  return {};
}

MatrixKey matrix_key(std::uint64_t seed, std::int32_t matrix) {
  const auto x = mix(seed + (static_cast<std::uint64_t>(matrix) + 1) * kGolden);
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}

std::uint64_t row_hash(std::uint64_t seed, std::span<const std::uint32_t> row) {
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j < row.size(); ++j)
    sum += mix((static_cast<std::uint64_t>(row[j]) << 32 | j) ^ seed);
  return sum;
}

std::string commitment(std::span<const std::uint64_t> row_hashes) {
  return to_string(blake2b(hex_of(row_hashes)));
}

std::vector<std::uint32_t> fold_matrices(const GpuProduct& p, std::span<const std::uint32_t> r) {
  CHECK(std::ssize(r) == p.size);
  std::vector<std::uint32_t> now(r.begin(), r.end()), next(r.size());
  for (auto step = p.steps; step >= 1; --step) {
    times_any(matrix_key(p.seed, step), now, next);
    now.swap(next);
  }
  return now;
}

bool is_row_of(const GpuProduct& p, std::int32_t index, std::span<const std::uint32_t> row,
               std::span<const std::uint32_t> r, std::span<const std::uint32_t> folded) {
  const auto n = static_cast<std::uint32_t>(p.size);
  if (row.size() != n || r.size() != n || folded.size() != n || index < 0 || index >= p.size)
    return false;
  const auto key = matrix_key(p.seed, 0);
  std::uint32_t claimed = 0, right = 0;
  for (std::uint32_t j = 0; j < n; ++j) {
    claimed += row[j] * r[j];
    right += matrix_entry(key, static_cast<std::uint32_t>(index) * n + j) * folded[j];
  }
  return claimed == right;
}

Result<> check_fill(std::int64_t mib) {
  if (mib < kMibOfChains || mib > kMostGpuMib)
    return fail(Code::invalid, fmt::format("{} MiB of a GPU to be filled", mib),
                fmt::format("{} to {}", kMibOfChains, kMostGpuMib), "memory_mib");
  return {};
}

std::uint64_t chain_begin(std::uint64_t seed, std::uint64_t chain) {
  return mix(seed + (chain + 1) * kGolden) | 1;
}

std::uint64_t gpu_place(std::uint64_t seed, std::int64_t mib, std::uint64_t counter) {
  const auto numbers = chains_of(mib) * kChainNumbers;
  const auto drawn = mix(seed + (counter + 1) * kGolden);
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(drawn) * numbers) >> 64);
}

std::uint64_t gpu_read_value(std::uint64_t value, std::uint64_t counter) {
  return mix(value + counter);
}

std::uint64_t gpu_group(std::uint64_t pattern, std::int64_t mib, std::uint64_t seed,
                        std::int64_t reads, std::int32_t group) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < reads; ++i) {
    const auto counter = read_counter(group, reads, i);
    const auto place = gpu_place(seed, mib, counter);
    auto x = chain_begin(pattern, place / kChainNumbers);
    for (auto left = place % kChainNumbers; left > 0; --left) x = chain_next(x);
    sum += gpu_read_value(x, counter);
  }
  return sum;
}

template <class Number>
std::string hex_of(std::span<const Number> numbers) {
  constexpr std::size_t width = 2 * sizeof(Number);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out(numbers.size() * width, '0');
  auto at = out.begin();
  for (const auto number : numbers)
    for (auto shift = static_cast<int>(4 * width) - 4; shift >= 0; shift -= 4)
      *at++ = digits[(number >> shift) & 15];
  return out;
}

template <class Number>
std::vector<Number> numbers_of(std::string_view hex, std::size_t count) {
  constexpr std::size_t width = 2 * sizeof(Number);
  if (hex.size() != count * width) return {};
  std::vector<Number> out(count);
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const auto digit = digit_of(hex[i]);
    if (digit < 0) return {};
    out[i / width] = static_cast<Number>(out[i / width] << 4 | static_cast<Number>(digit));
  }
  return out;
}

template std::string hex_of(std::span<const std::uint32_t>);
template std::string hex_of(std::span<const std::uint64_t>);
template std::vector<std::uint32_t> numbers_of(std::string_view, std::size_t);
template std::vector<std::uint64_t> numbers_of(std::string_view, std::size_t);

}  // namespace souk::base
