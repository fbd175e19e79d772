#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

// The loops that most of the time is spent in, as wide as the processor allows. Sums are taken in
// lanes, so that all processors give the same bits. Runs given to one call do not overlap.

namespace souk::train {

// Each lane sums up at most a chunk's share in single precision (exact to about 1e-5) before it is
// added up in double. What would overflow or vanish there is summed again in double, so the result
// is finite just when all values are.
[[nodiscard]] double sum_of_squares(const float* values, std::size_t size);

// Of a - b, in single precision: infinite from differences of about 1e19 on.
[[nodiscard]] double square_distance(const float* a, const float* b, std::size_t size);

// to += by * from.
void add_times(float* to, const float* from, float by, std::size_t size);
// w += by * (to - w): where `to` is w, exactly w.
void move_towards(float* w, const float* to, float by, std::size_t size);
// to = by * from.
void scale_up(const std::int8_t* from, float by, float* to, std::size_t size);

// to = from, with 0 for what is no number.
void copy_numbers(float* to, const float* from, std::size_t size);
// v = keep * v + sum; w += eta * v.
void follow(float* w, float* v, const float* sum, float keep, float eta, std::size_t size);
// The two folds of DC-ASGD (aggregators/dc_asgd.cc), with by = lambda / lr or lambda; m is the mean
// square of the changes d.
void correct(float* w, const float* d, const float* base, float by, std::size_t size);
void correct_adaptively(float* w, float* m, const float* d, const float* base, float by,
                        std::size_t size);

// `columns` are `count` rows of kStrip floats, all of them numbers. In each of the kStrip columns
// leaves out the `cut` largest and the `cut` smallest and sums up the others. Changes `columns`.
inline constexpr std::size_t kStrip = 64;
void sum_trimmed(float* columns, std::size_t count, std::size_t cut, float* sum);

// Without the error number that keeps std::sqrt out of vectors.
inline float root(float v) {
#if __has_builtin(__builtin_elementwise_sqrt)
  return __builtin_elementwise_sqrt(v);
#else
  return std::sqrt(v);
#endif
}

}  // namespace souk::train
