#include "mechanism/schedule/slot_types.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "mechanism/sharing/own_reserve.h"

namespace souk::mechanism {
namespace {

// Of a job's fastest rate. What is slower than this counts as this fast: nobody could tell.
constexpr double kSlowest = 1e-6;

// What a slot is expected to cost: who asks for the market's price gets the suggested one.
double cost_of(const Book& book, const Ask& ask) {
  const auto cost = ask.reserve > Credits() ? ask.reserve : book.reference;
  return static_cast<double>(std::max<std::int64_t>(cost.micro, 1));
}

// Groups of asks that are alike, cut into few.
class Cutter {
 public:
  // A column of `rows` numbers for each group, which counts as often as it has slots.
  Cutter(std::vector<double> columns, std::size_t rows, std::vector<double> weights)
      : columns_(std::move(columns)), rows_(rows), weights_(std::move(weights)) {}

  // The part that each group is in, counted in order of the groups.
  [[nodiscard]] std::vector<std::uint32_t> cut(std::size_t most) const {
    Cluster all;
    for (std::uint32_t g = 0; g < weights_.size(); ++g) all.groups.push_back(g);
    measure(all);
    std::vector<Cluster> parts{std::move(all)};
    while (parts.size() < most) {
      auto& widest = *std::ranges::max_element(parts, {}, &Cluster::spread);
      if (widest.spread <= 0) break;
      auto other = split(widest);
      if (!other.groups.empty()) parts.push_back(std::move(other));
    }
    std::ranges::sort(parts, {}, [](const Cluster& p) { return p.groups.front(); });
    std::vector<std::uint32_t> out(weights_.size());
    for (std::uint32_t k = 0; k < parts.size(); ++k)
      for (const auto g : parts[k].groups) out[g] = k;
    return out;
  }

 private:
  struct Cluster {
    std::vector<std::uint32_t> groups;  // Ascending.
    std::size_t row = 0;                // In which they differ most.
    double mean = 0, spread = 0;        // There: the sum of the squares of the differences.
  };

  [[nodiscard]] double at(std::uint32_t group, std::size_t row) const {
    return columns_[group * rows_ + row];
  }

  void measure(Cluster& part) const {
    std::vector<double> sum(rows_, 0), squares(rows_, 0);
    double weight = 0;
    for (const auto g : part.groups) {
      weight += weights_[g];
      for (std::size_t r = 0; r < rows_; ++r) sum[r] += weights_[g] * at(g, r);
    }
    for (auto& s : sum) s /= weight;
    for (const auto g : part.groups)
      for (std::size_t r = 0; r < rows_; ++r)
        squares[r] += weights_[g] * (at(g, r) - sum[r]) * (at(g, r) - sum[r]);
    part.row = static_cast<std::size_t>(std::ranges::max_element(squares) - squares.begin());
    part.mean = sum[part.row];
    part.spread = squares[part.row];
  }

  // Takes from `part` what is above its mean. Nothing, if only rounding was between them.
  [[nodiscard]] Cluster split(Cluster& part) const {
    Cluster above;
    std::vector<std::uint32_t> rest;
    for (const auto g : part.groups)
      (at(g, part.row) > part.mean ? above.groups : rest).push_back(g);
    if (above.groups.empty() || rest.empty()) {
      part.spread = 0;
      return {};
    }
    part.groups = std::move(rest);
    measure(part);
    measure(above);
    return above;
  }

  std::vector<double> columns_;
  std::size_t rows_;
  std::vector<double> weights_;
};

class Typing {
 public:
  Typing(const Book& book, std::span<const std::uint32_t> jobs, bool by_reserve)
      : book_(book), jobs_(jobs), by_reserve_(by_reserve), fastest_(jobs.size(), 1) {
    find_usable();
  }

  SlotTypes run(std::size_t most) {
    auto groups = group(most == 1);
    std::uint32_t count = 0;
    for (const auto g : groups)
      if (g != SlotTypes::kNone) count = std::max(count, g + 1);
    if (count > most) {
      const auto part = cutter(groups, count).cut(most);
      count = 0;
      for (auto& g : groups) {
        if (g == SlotTypes::kNone) continue;
        g = part[g];
        count = std::max(count, g + 1);
      }
    }
    return describe(std::move(groups), count);
  }

 private:
  [[nodiscard]] const Bid& bid(std::size_t job) const { return book_.bids[jobs_[job]]; }

  // Asks that some job accepts and can run on, and each job's fastest rate on them.
  void find_usable() {
    usable_.assign(book_.asks.size(), false);
    Credits highest = bid(0).limit;
    for (std::size_t i = 0; i < jobs_.size(); ++i) highest = std::max(highest, bid(i).limit);
    if (book_.rates.empty()) {
      for (std::size_t a = 0; a < usable_.size(); ++a)
        usable_[a] = book_.asks[a].units > 0 && book_.asks[a].reserve <= highest;
      return;
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      fastest_[i] = 0;
      for (std::size_t a = 0; a < usable_.size(); ++a) {
        const auto rate = rate_of(book_, jobs_[i], a);
        if (rate == 0 || book_.asks[a].units <= 0 || book_.asks[a].reserve > bid(i).limit) continue;
        usable_[a] = true;
        fastest_[i] = std::max(fastest_[i], rate);
      }
    }
  }

  [[nodiscard]] double relative(std::size_t job, std::size_t ask) const {
    const auto rate = rate_of(book_, jobs_[job], ask);
    return rate == 0 ? 0 : std::clamp(rate / fastest_[job], kSlowest, 1.0);
  }

  // The group of each ask. Two columns of rates that only a hash takes to be equal may meet in one:
  // then the type has their mean.
  [[nodiscard]] std::vector<std::uint32_t> group(bool all_in_one) const {
    std::vector<std::uint32_t> out(book_.asks.size(), SlotTypes::kNone);
    if (all_in_one || (book_.rates.empty() && !by_reserve_)) {
      for (std::size_t a = 0; a < out.size(); ++a)
        if (usable_[a]) out[a] = 0;
      return out;
    }
    std::vector<std::uint64_t> hash(book_.asks.size(), 0);
    const auto mix = [&](std::size_t ask, std::uint64_t value) {
      auto& h = hash[ask];
      h = (h ^ value) * 0x9e3779b97f4a7c15;
      h ^= h >> 29;
    };
    if (!book_.rates.empty())
      for (const auto job : jobs_)
        for (std::size_t a = 0; a < hash.size(); ++a)
          mix(a, std::bit_cast<std::uint64_t>(rate_of(book_, job, a)));
    if (by_reserve_)
      for (std::size_t a = 0; a < hash.size(); ++a)
        mix(a, static_cast<std::uint64_t>(book_.asks[a].reserve.micro));
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    for (std::size_t a = 0; a < hash.size(); ++a)
      if (usable_[a])
        out[a] = known.try_emplace(hash[a], static_cast<std::uint32_t>(known.size())).first->second;
    return out;
  }

  [[nodiscard]] Cutter cutter(std::span<const std::uint32_t> groups, std::size_t count) const {
    const auto rates = book_.rates.empty() ? 0 : jobs_.size();
    const auto rows = rates + (by_reserve_ ? 1 : 0);
    double dearest = 1;
    for (const auto& ask : book_.asks) dearest = std::max(dearest, cost_of(book_, ask));
    std::vector<double> columns(count * rows), weights(count, 0);
    for (std::size_t a = 0; a < groups.size(); ++a) {
      if (groups[a] == SlotTypes::kNone) continue;
      auto* column = &columns[groups[a] * rows];
      // Any ask speaks for its group.
      if (weights[groups[a]] == 0) {
        for (std::size_t i = 0; i < rates; ++i) column[i] = relative(i, a);
        if (by_reserve_) column[rates] = cost_of(book_, book_.asks[a]) / dearest;
      }
      weights[groups[a]] += book_.asks[a].units;
    }
    return {std::move(columns), rows, std::move(weights)};
  }

  [[nodiscard]] SlotTypes describe(std::vector<std::uint32_t> of_ask, std::size_t count) const {
    SlotTypes out{.types = count,
                  .of_ask = std::move(of_ask),
                  .units = std::vector<std::int64_t>(count, 0),
                  .costs = std::vector<double>(count, 0)};
    std::vector<Credits> cheapest(count, Credits(std::numeric_limits<std::int64_t>::max()));
    for (std::size_t a = 0; a < out.of_ask.size(); ++a) {
      const auto type = out.of_ask[a];
      if (type == SlotTypes::kNone) continue;
      out.units[type] += book_.asks[a].units;
      out.costs[type] += cost_of(book_, book_.asks[a]) * book_.asks[a].units;
      cheapest[type] = std::min(cheapest[type], book_.asks[a].reserve);
    }
    for (std::size_t j = 0; j < count; ++j) out.costs[j] /= static_cast<double>(out.units[j]);
    add_rates(out);
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      for (std::size_t j = 0; j < count; ++j)
        if (cheapest[j] > bid(i).limit) out.rates[i * count + j] = 0;
    out.fastest = fastest_;
    return out;
  }

  void add_rates(SlotTypes& out) const {
    out.rates.assign(jobs_.size() * out.types, book_.rates.empty() ? 1 : 0);
    if (book_.rates.empty()) return;
    std::vector<char> never(out.types);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const auto row = std::span(out.rates).subspan(i * out.types, out.types);
      std::ranges::fill(never, 0);
      for (std::size_t a = 0; a < out.of_ask.size(); ++a) {
        const auto type = out.of_ask[a];
        if (type == SlotTypes::kNone) continue;
        const auto rate = relative(i, a);
        never[type] |= rate == 0;
        row[type] += rate * book_.asks[a].units;
      }
      for (std::size_t j = 0; j < out.types; ++j) {
        out.mixed |= never[j] && row[j] > 0;
        row[j] = never[j] ? 0 : row[j] / static_cast<double>(out.units[j]);
      }
    }
  }

  const Book& book_;
  std::span<const std::uint32_t> jobs_;
  bool by_reserve_;
  std::vector<double> fastest_;
  std::vector<bool> usable_;  // By ask.
};

}  // namespace

std::vector<std::uint32_t> runnable(const Book& book) {
  std::vector<std::int64_t> most(book.bids.size(), 0);
  if (book.rates.empty()) {
    most = within_limits(book, bids_lowest_first(book), asks_by_reserve(book));
  } else {
    for (std::size_t i = 0; i < most.size(); ++i)
      for (std::size_t a = 0; a < book.asks.size(); ++a)
        if (book.asks[a].units > 0 && book.asks[a].reserve <= book.bids[i].limit &&
            rate_of(book, i, a) > 0)
          most[i] += book.asks[a].units;
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < most.size(); ++i) {
    const auto& bid = book.bids[i];
    if (bid.units >= least(bid) && most[i] >= least(bid)) out.push_back(i);
  }
  return out;
}

SlotTypes slot_types(const Book& book, std::span<const std::uint32_t> jobs, bool by_reserve,
                     std::size_t most) {
  CHECK(!jobs.empty() && most > 0);
  return Typing(book, jobs, by_reserve).run(most);
}

}  // namespace souk::mechanism
