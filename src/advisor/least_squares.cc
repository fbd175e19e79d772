#include "advisor/least_squares.h"

#include <cmath>
#include <optional>

#include "base/check.h"

namespace souk::advisor {
namespace {

using Column = std::vector<double>;

double product(const Column& a, const Column& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void subtract(Column& from, double times, const Column& what) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= times * what[i];
}

// A column of which less than this is left beside the others says what they say.
constexpr double kNothing = 1e-10;

// Without regard to signs: modified Gram-Schmidt, which keeps its digits where the normal equations
// would lose half of them.
LinearFit unsigned_fit(std::vector<Column> columns, Column rest) {
  const auto n = columns.size();
  LinearFit out{.coefficients = Column(n, 0)};
  std::vector<Column> upper(n, Column(n, 0));
  Column projected(n, 0);
  std::vector<bool> used(n, false);
  for (std::size_t k = 0; k < n; ++k) {
    auto& column = columns[k];
    const auto before = std::sqrt(product(column, column));
    for (std::size_t i = 0; i < k; ++i) {
      if (!used[i]) continue;
      upper[i][k] = product(columns[i], column);
      subtract(column, upper[i][k], columns[i]);
    }
    const auto length = std::sqrt(product(column, column));
    if (!(length > kNothing * before)) continue;
    used[k] = true;
    upper[k][k] = length;
    for (auto& value : column) value /= length;
    projected[k] = product(column, rest);
    subtract(rest, projected[k], column);
  }
  for (std::size_t k = n; k-- > 0;) {
    if (!used[k]) continue;
    auto left = projected[k];
    for (std::size_t j = k + 1; j < n; ++j) left -= upper[k][j] * out.coefficients[j];
    out.coefficients[k] = left / upper[k][k];
  }
  out.squares = product(rest, rest);
  return out;
}

bool keeps_signs(const LinearFit& fit, std::span<const Term> terms) {
  for (std::size_t k = 0; k < terms.size(); ++k)
    if ((terms[k].sign == Sign::at_least_zero && fit.coefficients[k] < 0) ||
        (terms[k].sign == Sign::at_most_zero && fit.coefficients[k] > 0))
      return false;
  return true;
}

Column weighted(std::span<const double> values, std::span<const double> weights) {
  CHECK(values.size() == weights.size());
  Column out(values.begin(), values.end());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] *= std::sqrt(weights[i]);
  return out;
}

}  // namespace

LinearFit least_squares(std::span<const Term> terms, std::span<const double> y,
                        std::span<const double> weights) {
  CHECK(terms.size() <= kMostTerms);
  std::vector<Column> columns;
  for (const auto& term : terms) columns.push_back(weighted(term.values, weights));
  const auto right = weighted(y, weights);
  std::optional<LinearFit> best;
  // Bit k of `left_out`: without term k. The best with signs is the best without regard to them on
  // some set of terms; with none left out it is the best of all.
  for (std::size_t left_out = 0; left_out < std::size_t{1} << terms.size(); ++left_out) {
    auto some = columns;
    bool sensible = true;
    for (std::size_t k = 0; k < terms.size(); ++k) {
      if ((left_out >> k & 1) == 0) continue;
      sensible &= terms[k].sign != Sign::any;
      some[k].assign(some[k].size(), 0);
    }
    if (!sensible) continue;
    auto fit = unsigned_fit(std::move(some), right);
    if (!keeps_signs(fit, terms) || (best && best->squares <= fit.squares)) continue;
    best = std::move(fit);
    if (left_out == 0) break;
  }
  CHECK(best);  // With all signed terms left out nothing is wrong.
  return *std::move(best);
}

}  // namespace souk::advisor
