#include "advisor/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "advisor/least_squares.h"
#include "base/check.h"

namespace souk::advisor {
namespace {

using base::Code;
using base::fail;

// Of the shift, in times of the largest x. Below, the curve is that of no shift; beyond, points
// show a straight line.
constexpr double kLeastShift = 1e-6, kMostShift = 10;
constexpr int kStepsPerDecade = 15;
constexpr double kExplained = 0.5;  // Of the spread, by a curve that is worth having.

// --- The search for a shift -------------------------------------------------------------------

// What is linear in a curve of this shift.
using TermsAt = std::function<std::vector<Term>(double shift)>;

struct ShiftedFit {
  double shift = 0;
  LinearFit linear;
  bool straight = false;  // The largest shift was the best.
};

// The least of `cost` between `low` and `high`, where it has one valley.
template <class Cost>
double valley(double low, double high, Cost&& cost) {
  const auto ratio = (std::sqrt(5.0) - 1) / 2;
  auto left = high - ratio * (high - low), right = low + ratio * (high - low);
  auto at_left = cost(left), at_right = cost(right);
  for (int i = 0; i < 60; ++i) {
    if (at_left <= at_right) {
      high = std::exchange(right, left);
      at_right = at_left;
      left = high - ratio * (high - low);
      at_left = cost(left);
    } else {
      low = std::exchange(left, right);
      at_left = at_right;
      right = low + ratio * (high - low);
      at_right = cost(right);
    }
  }
  return (low + high) / 2;
}

ShiftedFit best_shift(const TermsAt& terms, std::span<const double> y,
                      std::span<const double> weights, double largest_x) {
  const auto fit_at = [&](double decades) {
    return least_squares(terms(largest_x * std::pow(10, decades)), y, weights);
  };
  const auto cost = [&](double decades) { return fit_at(decades).squares; };
  const auto low = std::log10(kLeastShift), high = std::log10(kMostShift);
  const auto steps = static_cast<int>(std::lround((high - low) * kStepsPerDecade));
  const auto decades_at = [&](int i) {
    return std::lerp(low, high, static_cast<double>(std::clamp(i, 0, steps)) / steps);
  };
  int best = 0;
  auto least = cost(low);
  for (int i = 1; i <= steps; ++i)
    if (const auto squares = cost(decades_at(i)); squares < least) best = i, least = squares;
  const auto decades = valley(decades_at(best - 1), decades_at(best + 1), cost);
  return {.shift = largest_x * std::pow(10, decades),
          .linear = fit_at(decades),
          .straight = decades > high - 0.5 / kStepsPerDecade};
}

std::vector<double> residuals(const std::vector<Term>& terms, const LinearFit& fit,
                              std::span<const double> y) {
  std::vector<double> out(y.begin(), y.end());
  for (std::size_t k = 0; k < terms.size(); ++k)
    for (std::size_t i = 0; i < out.size(); ++i) out[i] -= fit.coefficients[k] * terms[k].values[i];
  return out;
}

double median_size(std::vector<double> values) {
  for (auto& v : values) v = std::abs(v);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double mean_square(std::span<const double> values) {
  double sum = 0;
  for (const auto v : values) sum += v * v;
  return sum / static_cast<double>(values.size());
}

// Weighted, about the mean.
double spread_of(std::span<const double> y, std::span<const double> weights) {
  double sum = 0, weight = 0, squares = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += weights[i] * y[i], weight += weights[i];
  for (std::size_t i = 0; i < y.size(); ++i)
    squares += weights[i] * (y[i] - sum / weight) * (y[i] - sum / weight);
  return squares;
}

struct RobustFit : ShiftedFit {
  double rms = 0;
  double explained = 0;  // Share of the spread.
};

// Huber's weights: a point pulls in proportion to its distance up to 1.345 usual errors (95% as
// sharp as least squares where errors are normal), and no stronger beyond. The usual error is
// estimated from the median distance.
RobustFit robust_fit(const TermsAt& terms, std::span<const double> y, double largest_x) {
  std::vector<double> weights(y.size(), 1);
  RobustFit out{best_shift(terms, y, weights, largest_x)};
  auto off = residuals(terms(out.shift), out.linear, y);
  const auto rounds = y.size() < kEnoughToDoubt ? 0 : 10;
  for (int round = 0; round < rounds; ++round) {
    const auto far = 1.345 * 1.4826 * median_size(off);
    if (far <= 1e-9 * std::sqrt(mean_square(y))) break;  // The points lie on the curve.
    for (std::size_t i = 0; i < y.size(); ++i)
      weights[i] = std::min(1.0, far / std::max(far, std::abs(off[i])));
    const auto before = out.shift;
    static_cast<ShiftedFit&>(out) = best_shift(terms, y, weights, largest_x);
    off = residuals(terms(out.shift), out.linear, y);
    if (std::abs(out.shift - before) <= 1e-4 * before) break;
  }
  out.rms = std::sqrt(mean_square(off));
  const auto spread = spread_of(y, weights);
  out.explained = spread > 0 ? 1 - out.linear.squares / spread : 0;
  return out;
}

// --- What every fit refuses -------------------------------------------------------------------

Result<> enough(std::size_t points, std::string_view noun) {
  if (points < kLeastPoints)
    return fail(Code::invalid, fmt::format("{} {}", points, noun),
                fmt::format("a curve takes at least {}", kLeastPoints));
  if (points > kMostPoints)
    return fail(Code::too_large, fmt::format("{} {}", points, noun),
                fmt::format("at most {}; leave out every other", kMostPoints));
  return {};
}

Result<> at_least_zero(double value, std::string_view what, std::size_t index) {
  if (value >= 0 && std::isfinite(value)) return {};
  return fail(Code::invalid, fmt::format("point {} has {} {}", index + 1, value, what),
              "numbers of 0 or more");
}

Result<> different(const std::vector<double>& x, std::string_view noun) {
  const auto count = std::set<double>(x.begin(), x.end()).size();
  if (count >= 3) return {};
  return fail(Code::invalid, fmt::format("the points have {} different {}", count, noun),
              "a curve takes at least 3");
}

Term constant(std::size_t points, Sign sign) { return {std::vector<double>(points, 1), sign}; }

// --- Losses -----------------------------------------------------------------------------------

struct Losses {
  std::vector<double> iterations, loss;
  std::vector<double> root;   // sqrt(n), or 1.
  std::vector<double> batch;  // Empty where the curve does not know it.
  std::size_t runs = 1;
};

Result<> check_losses(std::span<const LossPoint> points) {
  SOUK_TRY(enough(points.size(), "losses"));
  const auto& first = points.front();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& p = points[i];
    SOUK_TRY(at_least_zero(p.iterations, "iterations", i));
    SOUK_TRY(at_least_zero(p.loss, "as its loss", i));
    if (p.batch && !(*p.batch > 0 && std::isfinite(*p.batch)))
      return fail(Code::invalid, fmt::format("point {} has a batch of {}", i + 1, *p.batch),
                  "samples in a step, above 0");
    if (p.workers && *p.workers < 1)
      return fail(Code::invalid, fmt::format("point {} has {} workers", i + 1, *p.workers),
                  "1 or more");
    const std::pair<std::string_view, bool> known[] = {
        {"batch", p.batch.has_value() == first.batch.has_value()},
        {"workers", p.workers.has_value() == first.workers.has_value()}};
    for (const auto& [what, same] : known)
      if (!same)
        return fail(Code::invalid,
                    fmt::format("of points 1 and {} only one tells its {}", i + 1, what),
                    "tell it of all points, or of none");
  }
  return {};
}

Losses losses_of(std::span<const LossPoint> points) {
  Losses out;
  std::set<std::pair<double, std::int32_t>> runs;
  std::set<double> batches;
  for (const auto& p : points) {
    out.iterations.push_back(p.iterations);
    out.loss.push_back(p.loss);
    out.root.push_back(std::sqrt(p.workers.value_or(1)));
    out.batch.push_back(p.batch.value_or(0));
    runs.emplace(p.batch.value_or(0), p.workers.value_or(1));
    batches.insert(p.batch.value_or(0));
  }
  out.runs = runs.size();
  if (runs.size() < 3 || batches.size() < 2) out.batch.clear();
  return out;
}

std::vector<Term> terms_of(const Losses& l, double shift) {
  const auto n = l.loss.size();
  Term height{std::vector<double>(n), Sign::at_least_zero};
  for (std::size_t i = 0; i < n; ++i) height.values[i] = l.root[i] / (l.iterations[i] + shift);
  std::vector<Term> out{height, constant(n, Sign::at_least_zero)};
  if (l.batch.empty()) return out;
  Term by_batch{std::move(height.values), Sign::at_most_zero};
  for (std::size_t i = 0; i < n; ++i) by_batch.values[i] *= l.batch[i];
  out.push_back(std::move(by_batch));
  return out;
}

}  // namespace

double Saturating::at(double x) const { return end - scale / (x + shift); }

std::optional<double> Saturating::reaches(double y) const {
  const auto left = end - y;
  if (scale == 0 || left == 0 || (left > 0) != (scale > 0)) return std::nullopt;
  return std::max(0.0, scale / left - shift);
}

Result<Saturating> fit_saturating(std::span<const CurvePoint> points) {
  SOUK_TRY(enough(points.size(), "points"));
  std::vector<double> x, y;
  for (std::size_t i = 0; i < points.size(); ++i) {
    SOUK_TRY(at_least_zero(points[i].x, "as its x", i));
    if (!std::isfinite(points[i].y))
      return fail(Code::invalid, fmt::format("point {} has {} as its y", i + 1, points[i].y),
                  "a number");
    x.push_back(points[i].x);
    y.push_back(points[i].y);
  }
  SOUK_TRY(different(x, "x"));
  const auto terms = [&](double shift) {
    Term bend{std::vector<double>(x.size())};
    for (std::size_t i = 0; i < x.size(); ++i) bend.values[i] = -1 / (x[i] + shift);
    return std::vector<Term>{std::move(bend), constant(x.size(), Sign::any)};
  };
  const auto fit = robust_fit(terms, y, std::ranges::max(x));
  if (!(fit.explained >= kExplained))
    return fail(Code::invalid, "the points neither rise nor fall more than they scatter",
                "take more of them, or from further apart");
  if (fit.straight)
    return fail(Code::invalid, "the points do not bend: nothing tells where they end",
                "take some from further on");
  return Saturating{.end = fit.linear.coefficients[1],
                    .scale = fit.linear.coefficients[0],
                    .shift = fit.shift,
                    .rms = fit.rms};
}

std::optional<double> LossFit::iterations_to(double loss, double batch,
                                             std::int32_t workers) const {
  if (!(loss > curve.g5)) return std::nullopt;
  const auto out = iterations_until(loss, curve, workers, batch, 0);
  return std::isinf(out) ? std::nullopt : std::optional(out);
}

Result<LossFit> fit_convergence(std::span<const LossPoint> points) {
  SOUK_TRY(check_losses(points));
  const auto losses = losses_of(points);
  SOUK_TRY(different(losses.iterations, "iterations"));
  const auto fit = robust_fit([&](double shift) { return terms_of(losses, shift); }, losses.loss,
                              std::ranges::max(losses.iterations));
  const auto& c = fit.linear.coefficients;
  if (!(c[0] > 0 && fit.explained >= kExplained) || fit.straight)
    return fail(Code::invalid, "the loss does not fall, or no more than it scatters",
                "train for longer, or leave out what came before it began to fall");
  return LossFit{.curve = {.g1 = fit.shift,
                           .g2 = losses.batch.empty() ? 0 : c[2],
                           .g3 = c[0],
                           .g4 = std::nullopt,
                           .g5 = c[1]},
                 .rms = fit.rms,
                 .runs = losses.runs,
                 .by_batch = !losses.batch.empty()};
}

// --- Contention -------------------------------------------------------------------------------

namespace {

// How often workers ask at once, as far as one point tells.
struct AtOnce {
  std::int32_t workers = 0;
  double share = 0;    // P.
  double per_one = 0;  // MB/s by which what each gets differs between P = 0 and P = 1.
};

Result<std::vector<AtOnce>> shares_of(std::span<const BandwidthPoint> points, double request,
                                      double hub) {
  if (!(request > 0 && hub > 0 && std::isfinite(request) && std::isfinite(hub)))
    return fail(
        Code::invalid,
        fmt::format("one worker alone asks for {} MB/s, and the hub has {} MB/s", request, hub),
        "both are above 0");
  std::vector<AtOnce> out;
  for (const auto& p : points) {
    if (p.workers < 1 || !(p.mb_s > 0 && std::isfinite(p.mb_s)))
      return fail(Code::invalid, fmt::format("each of {} workers got {} MB/s", p.workers, p.mb_s),
                  "1 worker or more, above 0 MB/s");
    const auto per_one = request - hub / p.workers;
    if (per_one > 0) out.push_back({p.workers, (request - p.mb_s) / per_one, per_one});
  }
  if (!out.empty()) return out;
  return fail(
      Code::invalid, "no measurement has workers asking for more than the hub has",
      fmt::format("measure with more than {} workers, at least twice", std::floor(hub / request)));
}

}  // namespace

Result<ContentionFit> fit_contention(std::span<const BandwidthPoint> points, double request_mb_s,
                                     double hub_mb_s) {
  SOUK_ASSIGN(auto shares, shares_of(points, request_mb_s, hub_mb_s));
  if (std::ranges::all_of(shares, [](const AtOnce& s) { return s.share >= 1; }))
    return ContentionFit{.slope = 0, .base = 1, .points = shares.size()};
  std::erase_if(shares, [](const AtOnce& s) { return s.share <= 0 || s.share >= 1; });
  std::set<std::int32_t> numbers;
  for (const auto& s : shares) numbers.insert(s.workers);
  if (numbers.size() < 2)
    return fail(Code::invalid,
                fmt::format("{} of the measurements show workers that get less than they ask for "
                            "and more than an equal share",
                            shares.size()),
                "a line takes two different numbers of workers: measure with some in between");
  Term root{std::vector<double>(shares.size()), Sign::at_least_zero};
  std::vector<double> y, weights;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    root.values[i] = std::sqrt(shares[i].workers);
    y.push_back(shares[i].share);
    weights.push_back(shares[i].per_one * shares[i].per_one);  // Least squares of MB/s, then.
  }
  const std::vector<Term> terms{std::move(root), constant(shares.size(), Sign::any)};
  const auto fit = least_squares(terms, y, weights);
  return ContentionFit{.slope = fit.coefficients[0],
                       .base = fit.coefficients[1],
                       .rms_mb_s = std::sqrt(fit.squares / static_cast<double>(shares.size())),
                       .points = shares.size()};
}

}  // namespace souk::advisor
