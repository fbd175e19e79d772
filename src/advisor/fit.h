#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "advisor/forecast.h"
#include "base/result.h"

// Parameters of curves, from what was measured. Pure, and the same points always give the same
// curve.
//
// A curve end - scale / (x + shift) is linear but for its shift. So the shift is searched for, on a
// grid of powers and then between neighbours, with least squares inside. From kEnoughToDoubt points
// on, those far off the curve count less (Huber's weights), because losses have spikes.
//
// All refuse points that say nothing: too few, numbers that are none, a curve that explains less
// than half of their spread.

namespace souk::advisor {

inline constexpr std::size_t kLeastPoints = 4;
inline constexpr std::size_t kMostPoints = 20'000;
inline constexpr std::size_t kEnoughToDoubt = 10;

struct CurvePoint {
  double x = 0, y = 0;
};

// y = end - scale / (x + shift): rises to its end where scale > 0, falls to it where scale < 0.
struct Saturating {
  double end = 0, scale = 0, shift = 0;
  double rms = 0;  // Of the points' distances from the curve.

  [[nodiscard]] double at(double x) const;
  // The first x, from 0 on, with at(x) at or beyond y; nothing where the curve ends before it.
  [[nodiscard]] std::optional<double> reaches(double y) const;
};

// A curve in either direction, as accuracy over samples or loss over steps; each x is 0 or more.
// Points that show no bend are refused: they tell nothing of where the curve ends.
[[nodiscard]] Result<Saturating> fit_saturating(std::span<const CurvePoint> points);

// The loss after so many iterations of a run, with the batch of a step (b_w) and the number of
// workers, if they are known. Known of one point, each must be known of all.
struct LossPoint {
  double iterations = 0, loss = 0;
  std::optional<double> batch;
  std::optional<std::int32_t> workers;
};

struct LossFit {
  Convergence curve;  // Without g4: points do not tell how unequal the machines were.
  double rms = 0;
  std::size_t runs = 1;   // Different pairs of batch and workers.
  bool by_batch = false;  // Does the curve know what the batch does? If not, g2 is 0.

  // Iterations until the loss is down to `loss`; nothing where the curve ends above it.
  [[nodiscard]] std::optional<double> iterations_to(double loss, double batch,
                                                    std::int32_t workers) const;
};

// loss = (g2 b_w + g3) sqrt(n) / (j + g1) + g5 with g1, g3 > 0, g2 <= 0 <= g5. With fewer than 3
// different pairs of batch and workers, or one batch alone, g2 is 0. Where workers are not known
// there is 1: the curve is then right for as many as made the points.
[[nodiscard]] Result<LossFit> fit_convergence(std::span<const LossPoint> points);

// What each of `workers` got of the hub's network when all exchanged with it.
struct BandwidthPoint {
  std::int32_t workers = 0;
  double mb_s = 0;
};

struct ContentionFit {
  double slope = 0, base = 1;  // Hub::contention_slope and contention_base.
  double rms_mb_s = 0;         // Of the points it is fitted to.
  std::size_t points = 0;      // How many those are.
};

// P = slope sqrt(n) + base, from what each worker got: B = P B_hub / n + (1 - P) B_req, the
// forecast's model. Points where workers ask for less than the hub has say nothing about P, nor,
// beyond their number, those where it is 0 or 1 already. Needs two numbers of workers between, or
// that all have 1: then workers share fairly from the first on.
[[nodiscard]] Result<ContentionFit> fit_contention(std::span<const BandwidthPoint> points,
                                                   double request_mb_s, double hub_mb_s);

}  // namespace souk::advisor
