#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace souk::mechanism::testing {

// max c x so that A x <= b, x >= 0, with b >= 0: the textbook's tableau with Bland's rule. Slow,
// plain, and of another kind than what it is there to check. Empty: unbounded.
inline std::optional<double> dense_simplex(const std::vector<std::vector<double>>& a,
                                           const std::vector<double>& b,
                                           const std::vector<double>& c) {
  constexpr double eps = 1e-11;
  const auto rows = b.size(), cols = c.size();
  std::vector<std::vector<double>> t(rows + 1, std::vector<double>(cols + rows + 1, 0));
  std::vector<std::size_t> basis(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < cols; ++k) t[r][k] = a[r][k];
    t[r][cols + r] = 1;
    t[r].back() = b[r];
    basis[r] = cols + r;
  }
  for (std::size_t k = 0; k < cols; ++k) t[rows][k] = -c[k];
  while (true) {
    std::size_t in = 0;
    while (in < cols + rows && t[rows][in] >= -eps) ++in;
    if (in == cols + rows) return t[rows].back();
    std::optional<std::size_t> out;
    for (std::size_t r = 0; r < rows; ++r) {
      if (t[r][in] <= eps) continue;
      const auto ratio = t[r].back() / t[r][in];
      const auto best = out ? t[*out].back() / t[*out][in] : 0;
      if (!out || ratio < best - eps || (std::abs(ratio - best) <= eps && basis[r] < basis[*out]))
        out = r;
    }
    if (!out) return std::nullopt;
    const auto pivot = t[*out][in];
    for (auto& v : t[*out]) v /= pivot;
    for (std::size_t r = 0; r <= rows; ++r) {
      if (r == *out || t[r][in] == 0) continue;
      const auto f = t[r][in];
      for (std::size_t k = 0; k < t[r].size(); ++k) t[r][k] -= f * t[*out][k];
    }
    basis[*out] = in;
  }
}

}  // namespace souk::mechanism::testing
