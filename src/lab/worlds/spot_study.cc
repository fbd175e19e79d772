#include "lab/worlds/spot_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "advisor/spot_move.h"
#include "base/check.h"
#include "base/text.h"
#include "base/time.h"
#include "lab/files/lines.h"
#include "lab/report/statistics.h"

namespace souk::lab {
namespace {

using advisor::SpotPlace;
using base::Code;
using base::Duration;
using base::fail;
using base::Result;
using base::Time;

constexpr auto kPriceColumns = "timestamp,region,az,instance_type,product,spot_price_usd_per_hour";

struct SpotRun {
  double cost = 0;
  int moves = 0;
  bool late = false;
};

// Prices by period and place, from one start to the deadline.
class Window {
 public:
  Window(const SpotStudy& s, Time start, std::size_t periods) : study_(s) {
    for (const auto& series : s.series) {
      places_.push_back({.rate = s.rates.at(series.type)});
      auto& row = prices_.emplace_back();
      for (std::size_t k = 0; k < periods; ++k)
        row.push_back(series.at(start + Duration(s.period.us * static_cast<std::int64_t>(k))));
    }
  }

  // With `moves` false it stays where it first went.
  [[nodiscard]] SpotRun run(double work, double deadline_s, bool moves) {
    const auto period = study_.period.seconds(), restart = study_.restart.seconds();
    SpotRun out;
    std::optional<std::size_t> here;
    double spent_s = 0;
    for (std::size_t k = 0; work > 0; ++k) {
      look(k);
      auto to = here.value_or(0);
      if (!moves && !here)
        to = cheapest_alone(work, deadline_s);
      else if (moves)
        to = advisor::spot_move(places_, here, {work, deadline_s - spent_s, period, restart});
      const bool moved = here && to != *here;
      out.moves += moved;
      const auto lost = here == to ? 0 : restart;  // The first start takes as long.
      const auto needed = lost + work / places_[to].rate;
      const auto used = std::min(period, needed);
      work -= std::max(0.0, used - lost) * places_[to].rate;
      if (used == needed) work = 0;
      out.cost += places_[to].price * used / base::kSecondsPerHour;
      spent_s += used;
      here = to;
    }
    out.late = spent_s > deadline_s * (1 + 1e-9);
    return out;
  }

  // The least cost of the work within the deadline: for a value L of work, each period does what
  // gains most; L is the least at which the work is done, and the last period is cut.
  [[nodiscard]] double hindsight(double work, double deadline_s) {
    const auto period = study_.period.seconds();
    const auto periods =
        std::min(prices_.front().size(), static_cast<std::size_t>(std::ceil(deadline_s / period)));
    const auto done = [&](double value, double& cost) {
      double sum = 0;
      cost = 0;
      for (std::size_t k = 0; k < periods; ++k) {
        look(k);
        const auto length = std::min(period, deadline_s - static_cast<double>(k) * period);
        double best = 0;
        const SpotPlace* chosen = nullptr;
        for (const auto& p : places_)
          if (const auto gain = value * p.rate - p.price / base::kSecondsPerHour; gain > best) {
            best = gain;
            chosen = &p;
          }
        if (chosen == nullptr) continue;
        sum += chosen->rate * length;
        cost += chosen->price / base::kSecondsPerHour * length;
      }
      return sum;
    };
    double low = 0, high = 1, cost = 0;
    while (done(high, cost) < work && high < 1e12) high *= 2;
    for (int i = 0; i < 100; ++i) {
      const auto middle = (low + high) / 2;
      (done(middle, cost) < work ? low : high) = middle;
    }
    const auto most = done(high, cost);
    double below_cost = 0;
    const auto below = done(low, below_cost);
    if (most <= below) return cost;
    // Between the two: parts of the periods that only the higher value does.
    return below_cost + (cost - below_cost) * std::clamp((work - below) / (most - below), 0.0, 1.0);
  }

 private:
  // At the prices of the start, of those that make the deadline without another; else the fastest.
  [[nodiscard]] std::size_t cheapest_alone(double work, double deadline_s) const {
    std::size_t best = 0;
    const auto worth = [&](const SpotPlace& p) {
      const bool late = study_.restart.seconds() + work / p.rate > deadline_s;
      return std::pair(late, late ? -p.rate : p.price / p.rate);
    };
    for (std::size_t i = 1; i < places_.size(); ++i)
      if (worth(places_[i]) < worth(places_[best])) best = i;
    return best;
  }

  void look(std::size_t k) {
    for (std::size_t i = 0; i < places_.size(); ++i)
      places_[i].price = prices_[i][std::min(k, prices_[i].size() - 1)];
  }

  const SpotStudy& study_;
  std::vector<SpotPlace> places_;
  std::vector<std::vector<double>> prices_;
};

SpotOutcome sum_up(const std::vector<SpotRun>& runs, const std::vector<double>& best) {
  SpotOutcome out;
  std::vector<double> costs, over, moves;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    costs.push_back(runs[i].cost);
    over.push_back(runs[i].cost / best[i] - 1);
    moves.push_back(runs[i].moves);
    out.late += runs[i].late;
  }
  out.cost = mean_of(costs);
  out.over = mean_of(over);
  out.moves = mean_of(moves);
  std::ranges::sort(over);
  out.over_p95 = quantile_of(over, .95);
  return out;
}

constexpr auto kLongestPeriod = base::hours(6);

Result<> check(const SpotStudy& s) {
  const auto need = [](bool well, std::string what, std::string hint) -> Result<> {
    if (well) return {};
    return fail(Code::invalid, std::move(what), std::move(hint));
  };
  SOUK_TRY(need(!s.series.empty(), "no prices of these types", "name types that the file has"));
  SOUK_TRY(need(s.hours > 0 && s.hours <= 1'000, fmt::format("{} hours of work", s.hours),
                "above 0, at most 1000"));
  SOUK_TRY(need(s.slack >= 1.05 && s.slack <= 100, fmt::format("a slack of {}", s.slack),
                "1.05 to 100: the job must have time to start"));
  SOUK_TRY(need(s.runs >= 1 && s.runs <= 100'000, fmt::format("{} runs", s.runs), "1 to 100000"));
  SOUK_TRY(need(s.restart.us >= 0 && s.period.us > s.restart.us,
                fmt::format("a period of {} is not longer than a restart of {}",
                            to_string(s.period), to_string(s.restart)),
                "give a longer --period or a shorter --restart; 5m and 3m by default"));
  return need(s.period <= kLongestPeriod,
              fmt::format("a period of {} is too long: whoever looks at prices so seldom has no "
                          "chance to move",
                          to_string(s.period)),
              fmt::format("give a --period of at most {}", to_string(kLongestPeriod)));
}

}  // namespace

double SpotSeries::at(Time t) const {
  CHECK(!prices.empty());
  const auto after = std::ranges::upper_bound(prices, t, {}, &std::pair<Time, double>::first);
  return after == prices.begin() ? prices.front().second : std::prev(after)->second;
}

Result<std::vector<SpotSeries>> read_spot_prices(std::string_view csv,
                                                 const std::map<std::string, double>& rates,
                                                 std::string_view name) {
  std::map<std::string, SpotSeries> found;
  Time first = base::kNever, last;
  SOUK_TRY(for_each_line(csv, [&](std::string_view line, std::size_t n) -> Result<> {
    if (n == 1) return {};  // The names of the columns.
    const auto cells = base::split(line, ',');
    if (cells.size() != 6)
      return bad_line(name, n, fmt::format("{} columns", cells.size()), kPriceColumns);
    const auto at = base::parse_time(cells[0]);
    if (!at) return bad_line(name, n, fmt::format("'{}' is not a time", cells[0]), kPriceColumns);
    const auto price = number(cells[5]);
    if (!price || *price <= 0)
      return bad_line(name, n, fmt::format("'{}' is not a price", cells[5]), kPriceColumns);
    first = std::min(first, *at);
    last = std::max(last, *at);
    const std::string type(cells[3]);
    if (!rates.contains(type)) return {};
    auto& series = found[fmt::format("{} {}", cells[2], type)];
    series.type = type;
    series.prices.emplace_back(*at, *price);
    return {};
  }));
  std::vector<SpotSeries> out;
  for (auto& [place, series] : found) {
    std::ranges::sort(series.prices);
    if (series.prices.front().first > first + (last - first) / 10 * 9) continue;
    series.place = place;
    out.push_back(std::move(series));
  }
  return out;
}

Result<SpotResult> study_spot(const SpotStudy& study,
                              const std::function<void(int runs)>& progress) {
  SOUK_TRY(check(study));
  Time first = base::kNever, last;
  double fastest = 0;
  for (const auto& s : study.series) {
    first = std::min(first, s.prices.front().first);
    last = std::max(last, s.prices.back().first);
    fastest = std::max(fastest, study.rates.at(s.type));
  }
  const auto work = study.hours * base::kSecondsPerHour * fastest;
  const auto deadline_s = study.hours * base::kSecondsPerHour * study.slack;
  const auto room = (last - first).us - static_cast<std::int64_t>(deadline_s * 1e6);
  if (room <= 0)
    return fail(Code::invalid, "the record is shorter than the deadline", "use fewer hours");
  const auto periods = static_cast<std::size_t>(std::ceil(deadline_s / study.period.seconds())) + 1;
  std::vector<SpotRun> stay, move;
  std::vector<double> best;
  for (int i = 0; i < study.runs; ++i) {
    Window window(study, first + Duration(room / study.runs * i), periods);
    stay.push_back(window.run(work, deadline_s, false));
    move.push_back(window.run(work, deadline_s, true));
    best.push_back(window.hindsight(work, deadline_s));
    if (progress) progress(i + 1);
  }
  return SpotResult{.runs = study.runs,
                    .places = static_cast<int>(study.series.size()),
                    .hindsight = mean_of(best),
                    .stays = sum_up(stay, best),
                    .moves = sum_up(move, best)};
}

}  // namespace souk::lab
