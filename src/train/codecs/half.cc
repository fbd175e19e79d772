#include "train/codecs/half.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace souk::train {
namespace {

constexpr float kLargest = 65504;

std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const auto magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)  // No number: quiet, with the upper bits of its payload.
    return static_cast<std::uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude == 0x7f800000) return sign | 0x7c00;
  if (magnitude > std::bit_cast<std::uint32_t>(kLargest)) return sign | 0x7bff;
  if (magnitude < 0x38800000) {
    // Below 2^-14 a half counts in units of 2^-24. Adding 1/2 leaves just those bits of the float,
    // rounded as the processor rounds.
    const auto shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
  }
  const auto rounded = magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

float float_of(std::uint16_t half) {
  const auto sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const auto magnitude = static_cast<std::uint32_t>(half & 0x7fff);
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13 |
                                (magnitude > 0x7c00 ? 0x400000 : 0));
  // A half's bits, taken for those of a float, are its value times 2^-112: so are subnormal ones.
  const auto value = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

#if defined(__x86_64__)
bool has_f16c() {
  static const bool has = __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
  return has;
}

// Whole groups of eight; says how many values that was.
__attribute__((target("avx,f16c"))) std::size_t to_half_f16c(const float* values, std::size_t size,
                                                             std::uint16_t* out) {
  const auto most = _mm256_set1_ps(kLargest), least = _mm256_set1_ps(-kLargest);
  const auto infinity = _mm256_set1_ps(__builtin_inff());
  const auto no_sign = _mm256_set1_ps(-0.0F);
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    const auto v = _mm256_loadu_ps(values + i);
    // min and max give back their second operand when one is no number.
    const auto clipped = _mm256_max_ps(least, _mm256_min_ps(most, v));
    const auto infinite = _mm256_cmp_ps(_mm256_andnot_ps(no_sign, v), infinity, _CMP_EQ_OQ);
    const auto h = _mm256_cvtps_ph(_mm256_blendv_ps(clipped, v, infinite),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), h);
  }
  return i;
}

__attribute__((target("avx,f16c"))) std::size_t from_half_f16c(const char* halves, std::size_t size,
                                                               float* out) {
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8)
    _mm256_storeu_ps(
        out + i,
        _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + 2 * i))));
  return i;
}
#else
bool has_f16c() { return false; }
std::size_t to_half_f16c(const float*, std::size_t, std::uint16_t*) { return 0; }
std::size_t from_half_f16c(const char*, std::size_t, float*) { return 0; }
#endif

}  // namespace

void to_half(std::span<const float> values, std::uint16_t* out) {
  const auto done = has_f16c() ? to_half_f16c(values.data(), values.size(), out) : 0;
  to_half_portably(values.subspan(done), out + done);
}

void from_half(const void* halves, std::span<float> out) {
  const auto* from = static_cast<const char*>(halves);
  const auto done = has_f16c() ? from_half_f16c(from, out.size(), out.data()) : 0;
  from_half_portably(from + 2 * done, out.subspan(done));
}

void to_half_portably(std::span<const float> values, std::uint16_t* out) {
  std::ranges::transform(values, out, half_of);
}

void from_half_portably(const void* halves, std::span<float> out) {
  const auto* from = static_cast<const char*>(halves);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, from + 2 * i, sizeof half);
    out[i] = float_of(half);
  }
}

}  // namespace souk::train
