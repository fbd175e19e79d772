#include "base/proof/multiply.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace souk::base {
namespace {

constexpr std::size_t kRows = 4;     // Of C, held in registers.
constexpr std::size_t kDepth = 256;  // Of a block of B, which then stays in the first cache.

// How B is packed: panels of kWidth columns, each row of a panel together. One order for all vector
// widths, so that packing needs no dispatch.
constexpr std::size_t kWidth = kPad;

// c[kRows][W] += a[kRows][depth] x b[depth][W], where the rows of b are kWidth apart.
template <std::size_t W, class T>
[[gnu::always_inline]] inline void tile(const T* a, const T* b, T* c, std::size_t n,
                                        std::size_t depth) {
  T sum[kRows][W] = {};
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t r = 0; r < kRows; ++r)
      for (std::size_t j = 0; j < W; ++j) sum[r][j] += a[r * n + k] * b[k * kWidth + j];
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t j = 0; j < W; ++j) c[r * n + j] += sum[r][j];
}

template <std::size_t W, class T>
[[gnu::always_inline]] inline void product(const T* a, const T* packed, T* c, std::size_t n,
                                           std::size_t first, std::size_t last) {
  std::fill(c + first * n, c + last * n, T{});
  for (std::size_t panel = 0; panel < n; panel += kWidth)
    for (std::size_t k = 0; k < n; k += kDepth)
      for (std::size_t row = first; row < last; row += kRows)
        for (std::size_t j = 0; j < kWidth; j += W)
          tile<W>(a + row * n + k, packed + panel * n + k * kWidth + j, c + row * n + panel + j, n,
                  std::min(kDepth, n - k));
}

// The same loops for each vector width. W is what fits the registers.
#if defined(__x86_64__)
template <class T>
[[gnu::target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]] void product_avx512(
    const T* a, const T* packed, T* c, std::size_t n, std::size_t first, std::size_t last) {
  product<32>(a, packed, c, n, first, last);
}
template <class T>
[[gnu::target("avx2,fma")]] void product_avx2(const T* a, const T* packed, T* c, std::size_t n,
                                              std::size_t first, std::size_t last) {
  product<16>(a, packed, c, n, first, last);
}
#endif

template <class T>
void product_any(const T* a, const T* packed, T* c, std::size_t n, std::size_t first,
                 std::size_t last) {
  product<8>(a, packed, c, n, first, last);
}

constexpr Kernel kKernels[] = {
    {"portable", product_any<float>},
#if defined(__x86_64__)
    {"avx2", product_avx2<float>},
    {"avx512", product_avx512<float>},
#endif
};

std::size_t count_usable() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw"))
    return 2;
#endif
  return std::size(kKernels);
}

void check_shape(std::size_t n, std::size_t first, std::size_t last) {
  CHECK(n % kPad == 0 && first % kRows == 0 && last % kRows == 0 && first <= last && last <= n);
}

template <class T>
void pack_any(const T* b, T* packed, std::size_t n) {
  CHECK(n % kPad == 0);
  for (std::size_t panel = 0; panel < n; panel += kWidth)
    for (std::size_t k = 0; k < n; ++k)
      std::copy_n(b + k * n + panel, kWidth, packed + panel * n + k * kWidth);
}

}  // namespace

void pack(const float* b, float* packed, std::size_t n) { pack_any(b, packed, n); }

std::span<const Kernel> kernels() {
  static const auto usable = count_usable();
  return {kKernels, usable};
}

void multiply(const float* a, const float* packed, float* c, std::size_t n, std::size_t first,
              std::size_t last) {
  check_shape(n, first, last);
  kernels().back().real(a, packed, c, n, first, last);
}

}  // namespace souk::base
