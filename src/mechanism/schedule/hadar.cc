#include "mechanism/schedule/hadar.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "mechanism/schedule/allocation.h"

namespace souk::mechanism {
namespace {

constexpr double kAcross = .9;  // Of the speed, for a job whose workers are of several types.

using Counts = std::vector<int>;  // Machines by type.

struct Placement {
  Counts workers;
  double payoff = 0;
};

// One way to have dealt with the jobs so far. Ways form a tree: each knows the one that it adds a
// job to.
struct Way {
  Counts used;
  double payoff = 0;
  std::size_t from = 0;  // Index in the list of all ways.
  std::size_t job = 0;   // That it places; the first way places none.
  Counts workers;
};

class Round {
 public:
  Round(const ScheduleInstance& s, std::size_t ways)
      : s_(s), m_(s.types()), n_(s.jobs()), ways_(ways) {
    order_.resize(n_);
    std::iota(order_.begin(), order_.end(), 0);
    std::vector<double> urgency(n_);
    most_ = 0;
    least_ = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n_; ++i) {
      const auto worth = worth_at(i, std::ranges::max(s.rates(i))) / s.scale[i];
      most_ = std::max(most_, worth);
      least_ = std::min(least_, worth / 4);
      urgency[i] = worth / work(i);
    }
    std::ranges::sort(order_, {}, [&](std::size_t i) { return std::pair(-urgency[i], i); });
    prices_.resize(m_);
    for (std::size_t j = 0; j < m_; ++j)
      for (int used = 0; used <= static_cast<int>(s.capacity[j]); ++used)
        prices_[j].push_back(least_ * std::pow(most_ / least_, used / s.capacity[j]));
    by_speed_.resize(n_ * m_);
    for (std::size_t i = 0; i < n_; ++i) {
      const auto mine = std::span(by_speed_).subspan(i * m_, m_);
      std::iota(mine.begin(), mine.end(), 0);
      std::ranges::sort(mine, {}, [&](std::size_t j) { return std::pair(-s.rates(i)[j], j); });
    }
  }

  Schedule run() {
    std::vector<Way> all{{.used = Counts(m_, 0)}};
    std::vector<std::size_t> open{0};
    for (const auto job : order_)
      if (!deal_with(job, open, all)) break;
    auto at = open.front();
    Schedule out{.shares = std::vector<double>(n_ * m_, 0),
                 .objective = all[at].payoff,
                 .bound = all[at].payoff};
    out.at_once = true;
    auto used = all[at].used;
    std::vector<bool> placed(n_, false);
    for (; at != 0; at = all[at].from) put(all[at].job, all[at].workers, out, placed);
    fill(used, out, placed);
    for (std::size_t j = 0; j < m_; ++j) out.prices.push_back(price(j, used[j]));
    return out;
  }

 private:
  // Seconds left on its fastest type.
  [[nodiscard]] double work(std::size_t i) const {
    return s_.steps[i] / std::ranges::max(s_.rates(i));
  }
  [[nodiscard]] double worth_at(std::size_t i, double speed) const {
    const auto stay = (s_.elapsed.empty() ? 0 : s_.elapsed[i]) + s_.steps[i] / speed;
    const auto done = s_.done.empty() ? 0 : s_.done[i];
    return s_.weights[i] * work(i) * (1 + done / s_.steps[i]) / stay;
  }
  [[nodiscard]] double price(std::size_t j, int used) const {
    return prices_[j][static_cast<std::size_t>(used)];
  }

  [[nodiscard]] double free_of(const Counts& used) const {
    double out = 0;
    for (std::size_t j = 0; j < m_; ++j) out += std::floor(s_.capacity[j]) - used[j];
    return out;
  }

  // The best placement with so many machines in use: for each speed, the cheapest machines that are
  // no slower.
  [[nodiscard]] std::optional<Placement> best(std::size_t i, const Counts& used) const {
    std::optional<Placement> out;
    if (free_of(used) < s_.scale[i]) return out;
    std::vector<std::pair<double, std::size_t>> offers;  // Price and type, of those fast enough.
    for (std::size_t k = 0; k < m_; ++k) {
      const auto slowest = by_speed_[i * m_ + k];
      if (s_.rates(i)[slowest] == 0) break;
      offers.emplace_back(price(slowest, used[slowest]), slowest);
      std::ranges::sort(offers);
      if (auto p = take(i, offers, used); p && (!out || p->payoff > out->payoff))
        out = std::move(p);
      // And all of one type, dearer or not.
      const std::vector one{std::pair(price(slowest, used[slowest]), slowest)};
      if (auto p = take(i, one, used); p && (!out || p->payoff > out->payoff)) out = std::move(p);
    }
    return out;
  }

  [[nodiscard]] std::optional<Placement> take(
      std::size_t i, const std::vector<std::pair<double, std::size_t>>& offers,
      const Counts& used) const {
    Placement out{.workers = Counts(m_, 0)};
    auto left = static_cast<int>(s_.scale[i]);
    auto speed = std::numeric_limits<double>::infinity();
    int types = 0;
    for (const auto& [each, j] : offers) {
      const auto got = std::min(left, static_cast<int>(s_.capacity[j]) - used[j]);
      if (got <= 0) continue;
      out.workers[j] = got;
      out.payoff -= got * each;
      speed = std::min(speed, s_.rates(i)[j]);
      ++types;
      if ((left -= got) == 0) break;
    }
    if (left > 0) return std::nullopt;
    out.payoff += worth_at(i, types > 1 ? kAcross * speed : speed);
    return out;
  }

  // To skip the job is to stay with a way; to place it is another. Keeps the best in `open`, best
  // first. False: there are no machines left in any way.
  bool deal_with(std::size_t job, std::vector<std::size_t>& open, std::vector<Way>& all) const {
    const auto ways = open.size();
    bool room = false;
    for (std::size_t k = 0; k < ways; ++k) {
      const auto w = open[k];
      room |= free_of(all[w].used) >= 1;
      auto placement = best(job, all[w].used);
      if (!placement || placement->payoff <= 0) continue;
      Way taken{.used = all[w].used,
                .payoff = all[w].payoff + placement->payoff,
                .from = w,
                .job = job,
                .workers = std::move(placement->workers)};
      for (std::size_t j = 0; j < m_; ++j) taken.used[j] += taken.workers[j];
      open.push_back(all.size());
      all.push_back(std::move(taken));
    }
    if (open.size() == ways) return room;
    std::ranges::sort(open, {}, [&](std::size_t w) { return std::pair(-all[w].payoff, w); });
    std::vector<std::size_t> kept;
    for (const auto w : open) {
      const bool known =
          std::ranges::any_of(kept, [&](std::size_t k) { return all[k].used == all[w].used; });
      if (!known) kept.push_back(w);
      if (kept.size() == ways_) break;
    }
    open = std::move(kept);
    return room;
  }

  void put(std::size_t job, const Counts& workers, Schedule& out, std::vector<bool>& placed) const {
    for (std::size_t j = 0; j < m_; ++j) out.shares[job * m_ + j] = workers[j] / s_.scale[job];
    placed[job] = true;
  }

  void fill(Counts& used, Schedule& out, std::vector<bool>& placed) const {
    for (const auto job : order_) {
      if (placed[job]) continue;
      const auto placement = best(job, used);
      if (!placement) continue;
      for (std::size_t j = 0; j < m_; ++j) used[j] += placement->workers[j];
      put(job, placement->workers, out, placed);
    }
  }

  const ScheduleInstance& s_;
  const std::size_t m_, n_, ways_;
  std::vector<std::size_t> order_;           // Of the jobs.
  std::vector<std::size_t> by_speed_;        // The types of each job, fastest first.
  double most_ = 0, least_ = 0;              // U_max, U_min.
  std::vector<std::vector<double>> prices_;  // By type and machines in use.
};

}  // namespace

Result<Schedule> Hadar::solve(const ScheduleInstance& s) const {
  SOUK_TRY(needs_field("hadar", "steps", !s.steps.empty() || s.jobs() == 0));
  for (std::size_t i = 0; i < s.jobs(); ++i)
    if (s.scale[i] != std::floor(s.scale[i]) || s.scale[i] > 1e6)
      return base::fail(base::Code::invalid, "hadar needs whole numbers of workers",
                        "up to a million", "scale");
  if (s.jobs() == 0) return Schedule{.prices = std::vector<double>(s.types(), 0)};
  return Round(s, ways_).run();
}

}  // namespace souk::mechanism
