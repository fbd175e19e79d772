#include "advisor/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace souk::advisor {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kFewestLosses = 6;

// Solves the normal equations of `rows` x = `values` for N unknowns, by elimination with pivots.
// Nothing where the rows do not tell the unknowns apart.
template <std::size_t N>
std::optional<std::array<double, N>> least_squares(std::span<const std::array<double, N>> rows,
                                                   std::span<const double> values) {
  std::array<std::array<double, N + 1>, N> m{};
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t k = 0; k < N; ++k) m[i][k] += rows[r][i] * rows[r][k];
      m[i][N] += rows[r][i] * values[r];
    }
  std::array<double, N> scale{};
  for (std::size_t i = 0; i < N; ++i) scale[i] = m[i][i];
  for (std::size_t i = 0; i < N; ++i) {
    auto pivot = i;
    for (auto k = i + 1; k < N; ++k)
      if (std::abs(m[k][i]) > std::abs(m[pivot][i])) pivot = k;
    std::swap(m[i], m[pivot]);
    if (std::abs(m[i][i]) <= 1e-12 * scale[i]) return std::nullopt;
    for (std::size_t k = 0; k < N; ++k) {
      if (k == i) continue;
      const auto factor = m[k][i] / m[i][i];
      for (auto c = i; c <= N; ++c) m[k][c] -= factor * m[i][c];
    }
  }
  std::array<double, N> out{};
  for (std::size_t i = 0; i < N; ++i) out[i] = m[i][N] / m[i][i];
  return out;
}

struct Fit {
  Convergence curve;
  double error = std::numeric_limits<double>::infinity();  // Sum of squares.
};

double predicted(const Convergence& g, const LossSample& s) {
  const auto spread = g.g4 ? s.heterogeneity + *g.g4 : 1;
  return (g.g2 * s.batch + g.g3) * std::sqrt(spread * s.machines) / (s.iterations + g.g1) + g.g5;
}

// The best g2, g3 and g5 for `curve`'s g1 and g4. Largest batch and loss weigh one each, so that
// the equations are well conditioned.
Fit fit_rest(std::span<const LossSample> samples, Convergence curve, double most_batch,
             bool batches_differ) {
  std::vector<std::array<double, 3>> three;
  std::vector<std::array<double, 2>> two;
  std::vector<double> losses;
  for (const auto& s : samples) {
    const auto spread = curve.g4 ? s.heterogeneity + *curve.g4 : 1;
    const auto height = std::sqrt(spread * s.machines) / (s.iterations + curve.g1);
    three.push_back({height * s.batch / most_batch, height, 1});
    two.push_back({height, 1});
    losses.push_back(s.loss);
  }
  curve.g2 = 0;
  const auto all = batches_differ ? least_squares<3>(three, losses) : std::nullopt;
  if (all && (*all)[0] <= 0) {
    curve.g2 = (*all)[0] / most_batch;
    curve.g3 = (*all)[1];
    curve.g5 = (*all)[2];
  } else {
    const auto some = least_squares<2>(two, losses);
    if (!some) return {};
    curve.g3 = (*some)[0];
    curve.g5 = (*some)[1];
  }
  if (!(curve.g3 > 0)) return {};
  Fit out{.curve = curve, .error = 0};
  for (const auto& s : samples) out.error += std::pow(predicted(curve, s) - s.loss, 2);
  return out;
}

// `count` values around `center`, a factor of `width` at most from it.
std::vector<double> around(double center, double width, int count) {
  std::vector<double> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = center * std::pow(width, 2.0 * static_cast<double>(i) / (count - 1) - 1);
  return out;
}

Result<> check(std::span<const LossSample> samples) {
  if (samples.size() < kFewestLosses)
    return fail(Code::invalid, fmt::format("{} losses are too few for a curve", samples.size()),
                fmt::format("use {} or more", kFewestLosses));
  for (const auto& s : samples)
    if (!(s.iterations > 0 && s.machines >= 1 && s.batch > 0 && s.heterogeneity >= 0 &&
          std::isfinite(s.loss)))
      return fail(Code::invalid,
                  fmt::format("a loss of {} after {} iterations of {} machines with batch {}",
                              s.loss, s.iterations, s.machines, s.batch),
                  "iterations, machines and batch are above 0, and the loss is a number");
  return {};
}

}  // namespace

Result<Hub> fit_contention(Hub hub, const Traffic& traffic,
                           std::span<const NetworkSample> samples) {
  std::vector<std::array<double, 2>> rows;
  std::vector<double> shares;
  for (const auto& s : samples) {
    const auto fair = hub.bandwidth_mb_s / s.machines;
    if (!(traffic.request_mb_s > fair)) continue;
    const auto share = (traffic.request_mb_s - s.mb_s) / (traffic.request_mb_s - fair);
    if (share >= 1) continue;
    rows.push_back({std::sqrt(s.machines), 1});
    shares.push_back(share);
  }
  const auto line = least_squares<2>(rows, shares);
  if (!line)
    return fail(Code::invalid,
                fmt::format("{} of {} samples tell of contention, of too few sizes", rows.size(),
                            samples.size()),
                fmt::format("measure two sizes of cluster that ask for more than {} MB/s",
                            hub.bandwidth_mb_s));
  if ((*line)[0] < 0)
    return fail(Code::invalid, "workers get more of the network the more there are",
                "measure again: something else changed between these runs");
  hub.contention_slope = (*line)[0];
  hub.contention_base = (*line)[1];
  return hub;
}

Result<Convergence> fit_convergence(std::span<const LossSample> samples, bool with_heterogeneity) {
  SOUK_TRY(check(samples));
  const auto [least, most] = std::ranges::minmax_element(samples, {}, &LossSample::batch);
  const auto last = std::ranges::max_element(samples, {}, &LossSample::iterations)->iterations;
  Fit best;
  const auto grid = [&](double g1, double g1_width, double g4, double g4_width, int count) {
    for (const auto one : around(g1, g1_width, count))
      for (const auto four : around(g4, g4_width, with_heterogeneity ? count : 2)) {
        Convergence curve{.g1 = one};
        if (with_heterogeneity) curve.g4 = four;
        const auto fit = fit_rest(samples, curve, most->batch, least->batch < most->batch);
        if (fit.error < best.error) best = fit;
      }
  };
  grid(last / 10, 1'000, 0.3, 100, 41);
  for (double width = 2; width > 1 + 1e-9 && std::isfinite(best.error); width = std::sqrt(width))
    grid(best.curve.g1, width, best.curve.g4.value_or(1), width, 9);
  if (!std::isfinite(best.error))
    return fail(Code::invalid, "no curve falls through these losses",
                "are they of a training that learns? give more of its course");
  return best.curve;
}

}  // namespace souk::advisor
