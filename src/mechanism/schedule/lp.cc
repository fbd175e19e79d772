#include "mechanism/schedule/lp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "base/check.h"
#include "mechanism/schedule/lp_solution.h"

// Names: a job's first row (its rate) has slack r and dual l, its second (its time) v and q; a
// type's row has u and p; x has the dual z. At the optimum x z = r l = v q = u p = 0, and each step
// aims at making them all equal to a number that shrinks (Mehrotra's predictor and corrector).

namespace souk::mechanism {
namespace {

constexpr int kMostSteps = 120;
constexpr int kMostIdle = 4;    // Steps without a better point or bound, near the end.
constexpr double kNear = 1e-5;  // As a share of the objective: from here on every step counts.

struct Point {
  std::vector<double> x, z, r, l, v, q, u, p;
  double t = 0;
};

// The right-hand sides of a Newton step.
struct Sides {
  std::vector<double> x, r, v, u;  // Of the complementarities.
};

// M is the number of types where the compiler is to know it, so that it can unroll the loops over
// types, which are all there is inside; 0: any.
template <std::size_t M>
class Solver {
 public:
  explicit Solver(const SharesProgram& program)
      : m_(types_of(program)), n_(program.jobs), s_(program) {
    scale_rows();
    begin();
  }

  // The best point and the best bound may come from different steps: the last ones lose digits.
  SharesSolution run(double tolerance) {
    auto best = certified();
    int idle = 0;
    for (int k = 1; k <= kMostSteps && idle < kMostIdle && step(); ++k) {
      best.steps = k;
      const auto far = distance();
      if (!std::isfinite(far)) break;
      if (far > std::max(kNear, tolerance)) continue;
      const auto before = gap(best);
      take_better(best, certified());
      if (gap(best) <= tolerance) break;
      idle = gap(best) < .9 * before ? 0 : idle + 1;
    }
    return best;
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t i, std::size_t j) const { return i * m_ + j; }
  [[nodiscard]] double gain(std::size_t ij) const {
    return s_.gain.empty() ? 0 : s_.gain[ij] / gain_unit_;
  }
  [[nodiscard]] bool used(std::size_t ij) const { return a_[ij] > 0; }

  // Every job's row is divided by its largest rate, and t is measured in a unit of its own, so that
  // jobs of a step a second and of a thousand look alike.
  void scale_rows() {
    a_ = s_.rate;
    row_unit_.assign(n_, 1);
    double most_level = 0, most_gain = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const auto row = std::span(a_).subspan(i * m_, m_);
      const auto most = std::ranges::max(row);
      if (most > 0) row_unit_[i] = most;
      for (auto& a : row) a /= row_unit_[i];
      CHECK(most > 0 || s_.level[i] == 0);
      most_level = std::max(most_level, s_.level[i] / row_unit_[i]);
    }
    for (std::size_t ij = 0; ij < s_.gain.size(); ++ij)
      if (used(ij)) most_gain = std::max(most_gain, s_.gain[ij]);
    t_unit_ = most_level > 0 ? 1 / most_level : 0;
    gain_unit_ = most_gain > 0 ? most_gain : 1;
    t_gain_ = t_unit_ > 0 ? 1 : 0;
    h_.resize(n_);
    b_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      h_[i] = s_.level[i] / row_unit_[i] * t_unit_;
      b_[i] = s_.least[i] / row_unit_[i];
    }
  }

  // A point inside: every job runs a little everywhere, and duals that hold with room to spare.
  void begin() {
    double workers = 0;
    for (const auto s : s_.scale) workers += s;
    std::vector<double> share(m_);
    for (std::size_t j = 0; j < m_; ++j)
      share[j] =
          std::min(.5 / static_cast<double>(m_), .5 * s_.capacity[j] / std::max(workers, 1e-300));
    y_.u = s_.capacity;
    y_.x.assign(n_ * m_, 0);
    y_.v.assign(n_, 1);
    double room = std::numeric_limits<double>::infinity();
    std::vector<double> had(n_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j) {
        if (!used(at(i, j))) continue;
        y_.x[at(i, j)] = share[j];
        y_.v[i] -= share[j];
        y_.u[j] -= s_.scale[i] * share[j];
        had[i] += a_[at(i, j)] * share[j];
      }
      if (h_[i] > 0) room = std::min(room, (had[i] - b_[i]) / h_[i]);
    }
    y_.t = t_unit_ > 0 ? room - .5 * std::abs(room) : 0;
    y_.r.resize(n_);
    for (std::size_t i = 0; i < n_; ++i)
      y_.r[i] = std::max(had[i] - h_[i] * y_.t - b_[i], .1 * (had[i] + std::abs(b_[i])) + 1e-12);
    begin_duals(workers);
  }

  void begin_duals(double workers) {
    double levels = 0;
    for (const auto h : h_) levels += h;
    const bool gains = !s_.gain.empty();
    const auto many = static_cast<double>(std::max<std::size_t>(n_, 1));
    y_.l.assign(n_, gains ? 1 : 1 / many);
    if (levels > 0)
      for (std::size_t i = 0; i < n_; ++i) y_.l[i] = t_gain_ / levels;
    // About what a share of everything is worth.
    double worth = 0;
    for (std::size_t i = 0; i < n_; ++i) worth += y_.l[i] + (gains ? 1 : 0);
    y_.p.assign(m_, worth / std::max(workers, 1e-300));
    y_.q.resize(n_);
    y_.z.assign(n_ * m_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      double most = 0;
      for (std::size_t j = 0; j < m_; ++j)
        if (used(at(i, j))) most = std::max(most, surplus(i, j));
      y_.q[i] = 1.1 * most + .1 * (y_.l[i] + (gains ? 1 : 0));
      for (std::size_t j = 0; j < m_; ++j)
        if (used(at(i, j))) y_.z[at(i, j)] = y_.q[i] - surplus(i, j);
    }
  }

  // What a whole share of type j is worth to job i beyond its price.
  [[nodiscard]] double surplus(std::size_t i, std::size_t j) const {
    return gain(at(i, j)) + y_.l[i] * a_[at(i, j)] - s_.scale[i] * y_.p[j];
  }

  [[nodiscard]] double products() const {
    double sum = 0;
    for (std::size_t ij = 0; ij < y_.x.size(); ++ij) sum += y_.x[ij] * y_.z[ij];
    for (std::size_t i = 0; i < n_; ++i) sum += y_.r[i] * y_.l[i] + y_.v[i] * y_.q[i];
    for (std::size_t j = 0; j < m_; ++j) sum += y_.u[j] * y_.p[j];
    return sum;
  }
  [[nodiscard]] double count() const {
    return static_cast<double>(
        static_cast<std::size_t>(std::ranges::count_if(a_, [](double a) { return a > 0; })) +
        2 * n_ + m_);
  }

  // The products as a share of the objective: an estimate of the gap.
  [[nodiscard]] double distance() const {
    double objective = t_gain_ * y_.t;
    if (!s_.gain.empty())
      for (std::size_t ij = 0; ij < y_.x.size(); ++ij) objective += gain(ij) * y_.x[ij];
    return products() / std::max(std::abs(objective), 1e-300);
  }

  // --- A Newton step ----------------------------------------------------------------------------

  // What the rows and the duals' rows lack.
  void residuals() {
    row_.assign(n_, 0);
    time_.assign(n_, 0);
    cap_ = s_.capacity;
    dual_.assign(n_ * m_, 0);
    dual_t_ = -t_gain_;
    for (std::size_t i = 0; i < n_; ++i) {
      row_[i] = b_[i] + h_[i] * y_.t + y_.r[i];
      time_[i] = 1 - y_.v[i];
      dual_t_ += h_[i] * y_.l[i];
      for (std::size_t j = 0; j < m_; ++j) {
        const auto ij = at(i, j);
        if (!used(ij)) continue;
        row_[i] -= a_[ij] * y_.x[ij];
        time_[i] -= y_.x[ij];
        cap_[j] -= s_.scale[i] * y_.x[ij];
        dual_[ij] = unless_rounding(
            y_.q[i] - surplus(i, j) - y_.z[ij],
            y_.q[i] + y_.z[ij] + y_.l[i] * a_[ij] + s_.scale[i] * y_.p[j] + std::abs(gain(ij)));
      }
      row_[i] = unless_rounding(row_[i], std::abs(b_[i]) + h_[i] * std::abs(y_.t) + y_.r[i]);
      time_[i] = unless_rounding(time_[i], 1);
    }
    dual_t_ = unless_rounding(dual_t_, t_gain_ * std::sqrt(static_cast<double>(n_)));
    for (std::size_t j = 0; j < m_; ++j)
      cap_[j] =
          unless_rounding(cap_[j] - y_.u[j], s_.capacity[j] * std::sqrt(static_cast<double>(n_)));
  }

  // A residual of the size of its terms' last digit says nothing, and the step would blow it up.
  static double unless_rounding(double residual, double size) {
    return std::abs(residual) <= 8 * std::numeric_limits<double>::epsilon() * size ? 0 : residual;
  }

  // Eliminating x leaves each job a weighted least-squares problem in its two duals: an equation
  // a_j dl - dq = w_j of weight theta_j for each type, and one for each dual alone. Near the
  // optimum the weights differ by twenty orders of magnitude. So nothing is inverted: by Jacobi's
  // theorem the solution is the mean of the solutions of all pairs of equations, weighted by
  // theta_j theta_g (a_j - a_g)^2, and such a mean of positive terms loses no digits.

  // The part of the small system, of types and t, that comes from job i.
  bool factor() {
    const auto k = m_ + 1;
    theta_.assign(n_ * m_, 0);
    per_pair_.resize(n_);
    own_row_.resize(n_);
    own_time_.resize(n_);
    small_.assign(k * k, 0);
    for (std::size_t j = 0; j < m_; ++j) small_[j * k + j] = y_.u[j] / y_.p[j];
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j)
        if (used(at(i, j))) theta_[at(i, j)] = y_.x[at(i, j)] / y_.z[at(i, j)];
      own_row_[i] = y_.r[i] / y_.l[i];
      own_time_[i] = y_.v[i] / y_.q[i];
      per_pair_[i] = 1 / pairs_without(i, m_);
      if (!(per_pair_[i] > 0) || !std::isfinite(per_pair_[i])) return false;
      add_to_small(i);
    }
    if (t_unit_ == 0) small_[m_ * k + m_] = 1;
    return true;
  }

  // The sum of the weights of all pairs of job i's equations, those with type `except` left out.
  [[nodiscard]] double pairs_without(std::size_t i, std::size_t except) const {
    const auto row = own_row_[i], time = own_time_[i];
    double out = row * time;
    for (std::size_t j = 0; j < m_; ++j) {
      if (j == except) continue;
      const auto theta = theta_[at(i, j)], a = a_[at(i, j)];
      out += theta * (row + time * a * a);
      for (std::size_t g = 0; g < j; ++g) {
        const auto apart = a_[at(i, g)] - a;
        if (g != except) out += theta * theta_[at(i, g)] * apart * apart;
      }
    }
    return out;
  }

  void add_to_small(std::size_t i) {
    const auto k = m_ + 1;
    const auto s = s_.scale[i], row = own_row_[i], time = own_time_[i];
    double thetas = time;
    for (std::size_t j = 0; j < m_; ++j) {
      const auto theta = theta_[at(i, j)], a = a_[at(i, j)];
      thetas += theta;
      if (theta == 0) continue;
      small_[j * k + j] += s * s * theta * (pairs_without(i, j) * per_pair_[i]);
      double first = time * a;
      for (std::size_t g = 0; g < m_; ++g) first += theta_[at(i, g)] * (a - a_[at(i, g)]);
      const auto to_t = -theta * s * h_[i] * (first * per_pair_[i]);
      small_[j * k + m_] += to_t;
      small_[m_ * k + j] += to_t;
      for (std::size_t g = 0; g < j; ++g) {
        const auto b = a_[at(i, g)];
        double both = row + time * a * b;
        for (std::size_t f = 0; f < m_; ++f)
          both += theta_[at(i, f)] * (a_[at(i, f)] - a) * (a_[at(i, f)] - b);
        const auto part = s * s * theta * (theta_[at(i, g)] * both * per_pair_[i]);
        small_[j * k + g] -= part;
        small_[g * k + j] -= part;
      }
    }
    small_[m_ * k + m_] -= h_[i] * h_[i] * (thetas * per_pair_[i]);
  }

  // The solution of job i's equations: `w` by type, and the right-hand sides of its own two.
  void solve_job(std::size_t i, const double* w, double row_side, double time_side, double& dl,
                 double& dq) const {
    const auto row = own_row_[i], time = own_time_[i];
    dl = time * row_side;
    dq = row * time_side;
    for (std::size_t j = 0; j < m_; ++j) {
      const auto theta = theta_[at(i, j)], a = a_[at(i, j)];
      if (theta == 0) continue;
      dl += theta * (row_side + a * (time * w[j] + time_side));
      dq += theta * (a * row_side - row * w[j] + a * a * time_side);
      for (std::size_t g = 0; g < j; ++g) {
        const auto weight = theta * theta_[at(i, g)] * (a - a_[at(i, g)]);
        dl += weight * (w[j] - w[g]);
        dq += weight * (a_[at(i, g)] * w[j] - a * w[g]);
      }
    }
    dl *= per_pair_[i];
    dq *= per_pair_[i];
  }

  // By how much that solution misses the equation of type j. By the same theorem a mean over pairs,
  // of which those with j miss it by nothing and are left out: a large theta_j multiplies this.
  [[nodiscard]] double miss(std::size_t i, std::size_t j, const double* w, double row_side,
                            double time_side) const {
    const auto row = own_row_[i], time = own_time_[i], a = a_[at(i, j)];
    double out = time * a * row_side - row * time_side - row * time * w[j];
    for (std::size_t f = 0; f < m_; ++f) {
      const auto theta = theta_[at(i, f)], b = a_[at(i, f)];
      if (f == j || theta == 0) continue;
      out += theta * ((a - b) * row_side + row * (w[f] - w[j]));
      out += theta * b * ((a - b) * time_side + time * (a * w[f] - b * w[j]));
      for (std::size_t g = 0; g < f; ++g) {
        const auto c = a_[at(i, g)];
        if (g != j)
          out += theta * theta_[at(i, g)] * (b - c) *
                 ((w[f] - w[j]) * (a - c) + (w[g] - w[j]) * (b - a));
      }
    }
    return out * per_pair_[i];
  }

  // Gauss with the largest pivot; `small_` is kept.
  [[nodiscard]] bool solve_small(std::vector<double>& side) const {
    auto a = small_;
    const auto k = side.size();
    for (std::size_t c = 0; c < k; ++c) {
      std::size_t pivot = c;
      for (auto r = c + 1; r < k; ++r)
        if (std::abs(a[r * k + c]) > std::abs(a[pivot * k + c])) pivot = r;
      if (!(std::abs(a[pivot * k + c]) > 0)) return false;
      for (std::size_t g = 0; g < k; ++g) std::swap(a[c * k + g], a[pivot * k + g]);
      std::swap(side[c], side[pivot]);
      for (auto r = c + 1; r < k; ++r) {
        const auto f = a[r * k + c] / a[c * k + c];
        if (f == 0) continue;
        for (auto g = c; g < k; ++g) a[r * k + g] -= f * a[c * k + g];
        side[r] -= f * side[c];
      }
    }
    for (auto c = k; c-- > 0;) {
      for (auto g = c + 1; g < k; ++g) side[c] -= a[c * k + g] * side[g];
      side[c] /= a[c * k + c];
    }
    return std::ranges::all_of(side, [](double v) { return std::isfinite(v); });
  }

  // The change that makes the products what `to` says, to first order, and the residuals zero.
  bool direction(const Sides& to, Point& d) {
    std::vector<double> side(m_ + 1, 0);
    w_.assign(n_ * m_, 0);
    d.l.resize(n_);
    d.q.resize(n_);
    side[m_] = dual_t_;
    for (std::size_t j = 0; j < m_; ++j) side[j] = -cap_[j] + to.u[j] / y_.p[j];
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j)
        if (used(at(i, j))) w_[at(i, j)] = dual_[at(i, j)] - to.x[at(i, j)] / y_.x[at(i, j)];
      double dl = 0, dq = 0;
      solve_job(i, &w_[i * m_], row_side(to, i), time_side(to, i), dl, dq);
      for (std::size_t j = 0; j < m_; ++j)
        if (used(at(i, j)))
          side[j] += s_.scale[i] * theta_[at(i, j)] *
                     miss(i, j, &w_[i * m_], row_side(to, i), time_side(to, i));
      side[m_] += h_[i] * dl;
    }
    if (t_unit_ == 0) side[m_] = 0;
    if (!solve_small(side)) return false;
    back_substitute(to, side, d);
    return true;
  }

  [[nodiscard]] double row_side(const Sides& to, std::size_t i) const {
    return row_[i] + to.r[i] / y_.l[i];
  }
  [[nodiscard]] double time_side(const Sides& to, std::size_t i) const {
    return -time_[i] + to.v[i] / y_.q[i];
  }

  void back_substitute(const Sides& to, const std::vector<double>& dp, Point& d) {
    d.p.assign(dp.begin(), dp.end() - 1);
    d.t = dp.back();
    d.x.assign(n_ * m_, 0);
    d.z.assign(n_ * m_, 0);
    d.r.resize(n_);
    d.v.resize(n_);
    d.u.resize(m_);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < m_; ++j)
        if (used(at(i, j))) w_[at(i, j)] += s_.scale[i] * d.p[j];
      const auto row = row_side(to, i) + h_[i] * d.t;
      solve_job(i, &w_[i * m_], row, time_side(to, i), d.l[i], d.q[i]);
      d.r[i] = (to.r[i] - y_.r[i] * d.l[i]) / y_.l[i];
      d.v[i] = (to.v[i] - y_.v[i] * d.q[i]) / y_.q[i];
      for (std::size_t j = 0; j < m_; ++j) {
        const auto ij = at(i, j);
        if (!used(ij)) continue;
        d.x[ij] = theta_[ij] * miss(i, j, &w_[i * m_], row, time_side(to, i));
        d.z[ij] = (to.x[ij] - y_.z[ij] * d.x[ij]) / y_.x[ij];
      }
    }
    for (std::size_t j = 0; j < m_; ++j) d.u[j] = (to.u[j] - y_.u[j] * d.p[j]) / y_.p[j];
  }

  static void shorten(const std::vector<double>& v, const std::vector<double>& d, double& most) {
    for (std::size_t i = 0; i < v.size(); ++i)
      if (d[i] < 0) most = std::min(most, -v[i] / d[i]);
  }
  // How far one can go until something is zero: the point itself, and the duals.
  [[nodiscard]] double primal_room(const Point& d) const {
    double most = std::numeric_limits<double>::infinity();
    shorten(y_.x, d.x, most);
    shorten(y_.r, d.r, most);
    shorten(y_.v, d.v, most);
    shorten(y_.u, d.u, most);
    return most;
  }
  [[nodiscard]] double dual_room(const Point& d) const {
    double most = std::numeric_limits<double>::infinity();
    shorten(y_.z, d.z, most);
    shorten(y_.l, d.l, most);
    shorten(y_.q, d.q, most);
    shorten(y_.p, d.p, most);
    return most;
  }

  [[nodiscard]] double products_after(const Point& d, double primal, double dual) const {
    double sum = 0;
    const auto add = [&](const std::vector<double>& a, const std::vector<double>& da,
                         const std::vector<double>& b, const std::vector<double>& db) {
      for (std::size_t i = 0; i < a.size(); ++i)
        sum += (a[i] + primal * da[i]) * (b[i] + dual * db[i]);
    };
    add(y_.x, d.x, y_.z, d.z);
    add(y_.r, d.r, y_.l, d.l);
    add(y_.v, d.v, y_.q, d.q);
    add(y_.u, d.u, y_.p, d.p);
    return sum;
  }

  // target - a b, less what the predictor says the second order adds.
  static void aim(const std::vector<double>& a, const std::vector<double>& b, double target,
                  const std::vector<double>* da, const std::vector<double>* db,
                  std::vector<double>& out) {
    out.resize(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      out[i] = target - a[i] * b[i] - (da != nullptr ? (*da)[i] * (*db)[i] : 0);
  }
  void aim_all(double target, const Point* d, Sides& to) const {
    aim(y_.x, y_.z, target, d ? &d->x : nullptr, d ? &d->z : nullptr, to.x);
    aim(y_.r, y_.l, target, d ? &d->r : nullptr, d ? &d->l : nullptr, to.r);
    aim(y_.v, y_.q, target, d ? &d->v : nullptr, d ? &d->q : nullptr, to.v);
    aim(y_.u, y_.p, target, d ? &d->u : nullptr, d ? &d->p : nullptr, to.u);
  }

  // False: no step can be made any more.
  bool step() {
    residuals();
    if (!factor()) return false;
    const auto total = products();
    const auto mu = total / count();
    aim_all(0, nullptr, sides_);
    if (!direction(sides_, predictor_)) return false;
    const auto primal = std::min(1.0, primal_room(predictor_));
    const auto dual = std::min(1.0, dual_room(predictor_));
    const auto after = std::max(products_after(predictor_, primal, dual), 0.0);
    const auto sigma = std::pow(after / total, 3);
    aim_all(sigma * mu, &predictor_, sides_);
    if (!direction(sides_, corrector_)) return false;
    const auto near = std::max(.9, 1 - .1 * after / total);
    const auto go = std::min(1.0, near * primal_room(corrector_));
    const auto go_dual = std::min(1.0, near * dual_room(corrector_));
    if (!(std::max(go, go_dual) > 1e-10)) return false;
    move(corrector_, go, go_dual);
    return true;
  }

  void move(const Point& d, double primal, double dual) {
    const auto add = [](std::vector<double>& v, const std::vector<double>& by, double share) {
      for (std::size_t i = 0; i < v.size(); ++i) v[i] += share * by[i];
    };
    add(y_.x, d.x, primal);
    add(y_.r, d.r, primal);
    add(y_.v, d.v, primal);
    add(y_.u, d.u, primal);
    y_.t += primal * d.t;
    add(y_.z, d.z, dual);
    add(y_.l, d.l, dual);
    add(y_.q, d.q, dual);
    add(y_.p, d.p, dual);
  }

  // --- What has been reached --------------------------------------------------------------------

  // The point moved inside the rows it may have left by rounding, and a bound from its duals alone.
  [[nodiscard]] SharesSolution certified() const {
    auto out = fitted(s_, y_.x);
    bound(out);
    return out;
  }

  void bound(SharesSolution& out) const {
    double levels = 0;
    for (std::size_t i = 0; i < n_; ++i) levels += h_[i] * y_.l[i];
    // The duals of the levels must sum to what t is worth.
    const auto fix = t_unit_ > 0 ? t_gain_ / levels : 1;
    const auto unit = s_.gain.empty() ? t_unit_ : gain_unit_;  // Of the objective.
    double sum = 0;
    for (std::size_t j = 0; j < m_; ++j) sum += fix * y_.p[j] * s_.capacity[j];
    for (std::size_t i = 0; i < n_; ++i) {
      double most = 0;
      for (std::size_t j = 0; j < m_; ++j)
        if (used(at(i, j)))
          most = std::max(most,
                          gain(at(i, j)) + fix * (y_.l[i] * a_[at(i, j)] - s_.scale[i] * y_.p[j]));
      sum += most - fix * y_.l[i] * b_[i];
    }
    out.bound = sum * unit;
    out.prices.resize(m_);
    for (std::size_t j = 0; j < m_; ++j) out.prices[j] = fix * y_.p[j] * unit;
  }

  using Types = std::conditional_t<M == 0, std::size_t, std::integral_constant<std::size_t, M>>;
  static Types types_of(const SharesProgram& program) {
    if constexpr (M == 0) return program.types;
    return {};
  }

  const Types m_;
  const std::size_t n_;
  const SharesProgram& s_;
  std::vector<double> a_, b_, h_, row_unit_;  // Rates, least and level, scaled.
  double t_unit_ = 0, t_gain_ = 0, gain_unit_ = 1;
  Point y_, predictor_, corrector_;
  Sides sides_;
  std::vector<double> row_, time_, cap_, dual_;
  double dual_t_ = 0;
  std::vector<double> theta_, own_row_, own_time_, per_pair_, w_;  // Of the jobs' equations.
  std::vector<double> small_;
};

}  // namespace

SharesSolution solve(const SharesProgram& program, double tolerance) {
  if (program.jobs == 0) return {.prices = std::vector<double>(program.types, 0)};
  CHECK(program.rate.size() == program.jobs * program.types &&
        program.least.size() == program.jobs && program.level.size() == program.jobs &&
        program.scale.size() == program.jobs && program.capacity.size() == program.types);
  CHECK(program.gain.empty() || program.gain.size() == program.rate.size());
  CHECK(program.gain.empty() || std::ranges::max(program.level) == 0);
  return program.types == 3 ? Solver<3>(program).run(tolerance) : Solver<0>(program).run(tolerance);
}

}  // namespace souk::mechanism
