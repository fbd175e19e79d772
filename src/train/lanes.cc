#include "train/lanes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "train/codecs/codec.h"
#include "train/simd.h"

namespace souk::train {
namespace {

constexpr std::size_t kLanes = 32;
// Below this the sum of a chunk may miss squares too small for a float.
constexpr double kFaint = 1e-25;

SOUK_INLINE double sum_up(const std::array<float, kLanes>& lanes) {
  double sum = 0;
  for (const auto lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

SOUK_INLINE double squares_in_float(const float* values, std::size_t size) {
  std::array<float, kLanes> lanes = {};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += values[i + k] * values[i + k];
  for (; i < size; ++i) lanes[i % kLanes] += values[i] * values[i];
  return sum_up(lanes);
}

double squares_in_double(const float* values, std::size_t size) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i)
    sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  return sum;
}

SOUK_INLINE double sum_of_squares_inline(const float* values, std::size_t size) {
  double sum = 0;
  for (std::size_t from = 0; from < size; from += kChunk) {
    const auto length = std::min(kChunk, size - from);
    const auto part = squares_in_float(values + from, length);
    sum += part > kFaint && std::isfinite(part) ? part : squares_in_double(values + from, length);
  }
  return sum;
}

SOUK_INLINE double square_distance_inline(const float* a, const float* b, std::size_t size) {
  double sum = 0;
  for (std::size_t from = 0; from < size; from += kChunk) {
    std::array<float, kLanes> lanes = {};
    const auto end = from + std::min(kChunk, size - from);
    std::size_t i = from;
    for (; i + kLanes <= end; i += kLanes)
      for (std::size_t k = 0; k < kLanes; ++k) {
        const auto d = a[i + k] - b[i + k];
        lanes[k] += d * d;
      }
    for (; i < end; ++i) lanes[i % kLanes] += (a[i] - b[i]) * (a[i] - b[i]);
    sum += sum_up(lanes);
  }
  return sum;
}

// Of each pair the smaller into `low`, the larger into `high`.
SOUK_INLINE void order(float* __restrict low, float* __restrict high) {
  for (std::size_t i = 0; i < kStrip; ++i) {
    const auto a = low[i], b = high[i];
    low[i] = a < b ? a : b;
    high[i] = a < b ? b : a;
  }
}

SOUK_INLINE void sum_trimmed_inline(float* columns, std::size_t count, std::size_t cut,
                                    float* __restrict sum) {
  // The largest of those left sinks to the end, then the smallest of those left to the front.
  for (std::size_t done = 0; done < cut; ++done)
    for (std::size_t k = 0; k + 1 + done < count; ++k)
      order(columns + k * kStrip, columns + (k + 1) * kStrip);
  for (std::size_t done = 0; done < cut; ++done)
    for (std::size_t k = count - cut - 1; k > done; --k)
      order(columns + (k - 1) * kStrip, columns + k * kStrip);
  for (std::size_t i = 0; i < kStrip; ++i) sum[i] = 0;
  for (std::size_t k = cut; k < count - cut; ++k)
    for (std::size_t i = 0; i < kStrip; ++i) sum[i] += columns[k * kStrip + i];
}

SOUK_INLINE void add_times_inline(float* __restrict to, const float* __restrict from, float by,
                                  std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to[i] += by * from[i];
}

SOUK_INLINE void move_towards_inline(float* __restrict w, const float* __restrict to, float by,
                                     std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) w[i] += by * (to[i] - w[i]);
}

SOUK_INLINE void scale_up_inline(const std::int8_t* __restrict from, float by, float* __restrict to,
                                 std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to[i] = by * static_cast<float>(from[i]);
}

SOUK_INLINE void copy_numbers_inline(float* __restrict to, const float* __restrict from,
                                     std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to[i] = from[i] == from[i] ? from[i] : 0;
}

SOUK_INLINE void follow_inline(float* __restrict w, float* __restrict v,
                               const float* __restrict sum, float keep, float eta,
                               std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    v[i] = keep * v[i] + sum[i];
    w[i] += eta * v[i];
  }
}

constexpr float kRememberSquare = 0.95F;  // Of the mean square, per fold, as in the paper.
constexpr float kTinySquare = 1e-30F;

SOUK_INLINE float corrected(float d, float c) {
  const auto most = std::abs(d);
  return d - std::min(std::max(c, -most), most);
}

SOUK_INLINE void correct_inline(float* __restrict w, const float* __restrict d,
                                const float* __restrict base, float by, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    w[i] += corrected(d[i], by * d[i] * d[i] * (w[i] - base[i]));
}

SOUK_INLINE void correct_adaptively_inline(float* __restrict w, float* __restrict m,
                                           const float* __restrict d, const float* __restrict base,
                                           float by, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const auto square = d[i] * d[i];
    m[i] = kRememberSquare * m[i] + (1 - kRememberSquare) * square;
    w[i] += corrected(d[i], by * square * (w[i] - base[i]) / root(m[i] + kTinySquare));
  }
}

}  // namespace

SOUK_WIDE(void, copy_numbers, (float* to, const float* from, std::size_t size), (to, from, size))
SOUK_WIDE(void, follow,
          (float* w, float* v, const float* sum, float keep, float eta, std::size_t size),
          (w, v, sum, keep, eta, size))
SOUK_WIDE(void, correct, (float* w, const float* d, const float* base, float by, std::size_t size),
          (w, d, base, by, size))
SOUK_WIDE(void, correct_adaptively,
          (float* w, float* m, const float* d, const float* base, float by, std::size_t size),
          (w, m, d, base, by, size))
SOUK_WIDE(double, sum_of_squares, (const float* values, std::size_t size), (values, size))
SOUK_WIDE(double, square_distance, (const float* a, const float* b, std::size_t size), (a, b, size))
SOUK_WIDE(void, sum_trimmed, (float* columns, std::size_t count, std::size_t cut, float* sum),
          (columns, count, cut, sum))
SOUK_WIDE(void, add_times, (float* to, const float* from, float by, std::size_t size),
          (to, from, by, size))
SOUK_WIDE(void, move_towards, (float* w, const float* to, float by, std::size_t size),
          (w, to, by, size))
SOUK_WIDE(void, scale_up, (const std::int8_t* from, float by, float* to, std::size_t size),
          (from, by, to, size))

}  // namespace souk::train
