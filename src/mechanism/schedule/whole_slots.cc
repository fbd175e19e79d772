#include "mechanism/schedule/whole_slots.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <queue>
#include <utility>

#include "mechanism/sharing/own_reserve.h"

namespace souk::mechanism {
namespace {

constexpr double kRounding = 1e-6;  // Of a slot: solvers leave this much beside a whole number.
constexpr std::int64_t kMostSlotTurns = std::int64_t{1} << 17;

// The asks of one type, and the bids that can run on them. Gangs are not its business: they may
// have slots of several types.
class Shelf {
 public:
  Shelf(const Book& book, std::span<const std::uint32_t> jobs, const SlotTypes& types,
        std::uint32_t type)
      : place_(jobs.size(), kNowhere) {
    for (std::uint32_t a = 0; a < book.asks.size(); ++a)
      if (types.of_ask[a] == type) {
        part_.asks.push_back(book.asks[a]);
        asks_.push_back(a);
      }
    for (std::uint32_t i = 0; i < jobs.size(); ++i)
      if (types.of_job(i)[type] > 0) {
        place_[i] = static_cast<std::uint32_t>(part_.bids.size());
        part_.bids.push_back(book.bids[jobs[i]]);
        part_.bids.back().gang = 1;
        bids_.push_back(jobs[i]);
      }
    slots_.emplace(part_);
  }
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;

  [[nodiscard]] std::int64_t room(std::size_t job, std::int64_t enough) {
    return place_[job] == kNowhere || enough <= 0 ? 0 : slots_->room(place_[job], enough);
  }
  std::int64_t give(std::size_t job, std::int64_t most) {
    return place_[job] == kNowhere || most <= 0 ? 0 : slots_->give(place_[job], 1, most);
  }
  void add_trades(std::vector<Trade>& out) const {
    for (auto t : slots_->trades()) {
      t.bid = bids_[t.bid];
      t.ask = asks_[t.ask];
      out.push_back(t);
    }
  }

 private:
  static constexpr auto kNowhere = static_cast<std::uint32_t>(-1);
  Book part_;
  std::vector<std::uint32_t> bids_, asks_;  // Where they stand in the whole book.
  std::vector<std::uint32_t> place_;        // Of each job, in part_.
  std::optional<OwnReserve> slots_;         // Keeps a pointer to part_.
};

class Dealer {
 public:
  Dealer(const Book& book, std::span<const std::uint32_t> jobs, const SlotTypes& types,
         const Entitlement& entitlement)
      : book_(book), jobs_(jobs), types_(types), due_(entitlement.slots), key_(entitlement.owed) {
    for (std::uint32_t j = 0; j < types.types; ++j) shelves_.emplace_back(book, jobs, types, j);
    got_.assign(jobs.size(), 0);
    out_.entitled.assign(jobs.size(), 0);
    out_.received.assign(jobs.size(), 0);
    by_speed_.resize(jobs.size() * types.types);
    std::int64_t wanted = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      wanted += bid(i).units;
      const auto order = speeds_of(i);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::sort(order, {}, [&](auto j) { return std::pair(-rate(i, j), j); });
      for (std::size_t j = 0; j < types.types; ++j) out_.entitled[i] += due(i, j) * rate(i, j);
      key_[i] += out_.entitled[i];
    }
    const auto offered = std::accumulate(types.units.begin(), types.units.end(), std::int64_t{0});
    turn_ = 1 + std::min(wanted, offered) / kMostSlotTurns;
  }

  SlotDeal run() {
    for (const auto i : in_line()) give_whole(i);
    deal(&Dealer::turn_on_parts);
    deal(&Dealer::turn_on_rest);
    for (const auto& shelf : shelves_) shelf.add_trades(out_.trades);
    if (types_.mixed) give_single_asks();
    std::ranges::sort(out_.trades, {}, [](const Trade& t) { return std::pair(t.bid, t.ask); });
    return std::move(out_);
  }

 private:
  [[nodiscard]] const Bid& bid(std::size_t job) const { return book_.bids[jobs_[job]]; }
  [[nodiscard]] double rate(std::size_t job, std::size_t type) const {
    return types_.of_job(job)[type];
  }
  // What is still due to the job of this type.
  double& due(std::size_t job, std::size_t type) { return due_[job * types_.types + type]; }
  std::span<std::uint32_t> speeds_of(std::size_t job) {
    return std::span(by_speed_).subspan(job * types_.types, types_.types);
  }
  [[nodiscard]] std::int64_t wants(std::size_t job) const { return bid(job).units - got_[job]; }
  // The fewest slots more that are of any use to it.
  [[nodiscard]] std::int64_t needs(std::size_t job) const {
    return got_[job] == 0 ? least(bid(job)) : 1;
  }

  // Who is owed most first.
  [[nodiscard]] std::vector<std::uint32_t> in_line() const {
    std::vector<std::uint32_t> out(jobs_.size());
    std::iota(out.begin(), out.end(), 0);
    const auto place = [&](auto i) { return std::pair(-key_[i], i); };
    if (!std::ranges::is_sorted(out, {}, place)) std::ranges::sort(out, {}, place);
    return out;
  }

  void count(std::size_t job, std::int64_t slots, double speed) {
    got_[job] += slots;
    out_.received[job] += static_cast<double>(slots) * speed;
    key_[job] -= static_cast<double>(slots) * speed;
  }
  std::int64_t take(std::size_t job, std::size_t type, std::int64_t most) {
    const auto slots = shelves_[type].give(job, most);
    due(job, type) -= static_cast<double>(slots);
    count(job, slots, rate(job, type));
    return slots;
  }

  void give_whole(std::size_t job) {
    const auto whole = [&](std::size_t type) {
      const auto slots = due(job, type);
      return slots > 0 ? static_cast<std::int64_t>(slots + kRounding) : 0;
    };
    std::int64_t found = 0;
    for (std::size_t j = 0; j < types_.types; ++j) found += shelves_[j].room(job, whole(j));
    if (found < needs(job)) return;
    for (std::size_t j = 0; j < types_.types; ++j) take(job, j, std::min(wants(job), whole(j)));
  }

  // Takes up to `slots` of the fastest, those first of which something is due to it.
  void take_fastest(std::size_t job, std::int64_t slots) {
    for (const bool of_due : {true, false})
      for (const auto j : speeds_of(job))
        if (slots > 0 && (due(job, j) > kRounding) == of_due) slots -= take(job, j, slots);
  }
  [[nodiscard]] bool has(std::size_t job, std::int64_t slots) {
    std::int64_t found = 0;
    for (auto& shelf : shelves_) found += shelf.room(job, slots - found);
    return found >= slots;
  }

  // One turn of a job; false: it is done.
  bool turn_on_parts(std::size_t job) {
    const auto row = std::span(due_).subspan(job * types_.types, types_.types);
    if (wants(job) == 0 || std::accumulate(row.begin(), row.end(), 0.0) <= kRounding) return false;
    if (needs(job) > 1) {
      if (!has(job, needs(job))) return false;
      take_fastest(job, needs(job));
      return true;
    }
    for (const auto j : speeds_of(job))
      if (row[j] > kRounding && take(job, j, std::min(wants(job), turn_)) > 0) return true;
    return false;
  }
  bool turn_on_rest(std::size_t job) {
    if (wants(job) == 0) return false;
    if (!has(job, needs(job))) return false;
    take_fastest(job, std::min(wants(job), std::max(needs(job), turn_)));
    return true;
  }

  void deal(bool (Dealer::*turn)(std::size_t)) {
    // Of equal keys the earlier job comes first.
    using Turn = std::pair<double, std::uint32_t>;
    const auto later = [](const Turn& a, const Turn& b) {
      return std::pair(a.first, b.second) < std::pair(b.first, a.second);
    };
    std::vector<Turn> waiting;
    for (std::uint32_t i = 0; i < jobs_.size(); ++i)
      if (wants(i) > 0) waiting.emplace_back(key_[i], i);
    std::priority_queue line(later, std::move(waiting));
    while (!line.empty()) {
      const auto job = line.top().second;
      line.pop();
      // Slots never come back, so who finds too few is done.
      if ((this->*turn)(job)) line.emplace(key_[job], job);
    }
  }

  // Where a job can run on some slots of a type only, they are looked at one by one.
  void give_single_asks() {
    std::vector<std::int64_t> left;
    for (const auto& ask : book_.asks) left.push_back(ask.units);
    for (const auto& t : out_.trades) left[t.ask] -= t.units;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> more;
    for (const auto i : in_line()) {
      std::vector<std::pair<double, std::uint32_t>> able;
      std::int64_t found = 0;
      for (std::uint32_t a = 0; a < left.size() && wants(i) > 0; ++a) {
        const auto speed = rate_of(book_, jobs_[i], a);
        if (left[a] <= 0 || speed == 0 || book_.asks[a].reserve > bid(i).limit) continue;
        able.emplace_back(-speed, a);
        found += left[a];
      }
      if (found < needs(i)) continue;
      std::ranges::sort(able);
      for (const auto& [speed, a] : able) {
        const auto slots = std::min(wants(i), left[a]);
        if (slots == 0) break;
        left[a] -= slots;
        more[{jobs_[i], a}] += slots;
        count(i, slots, -speed / types_.fastest[i]);
      }
    }
    join(std::move(more));
  }

  void join(std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> more) {
    for (auto& t : out_.trades)
      if (const auto extra = more.extract({t.bid, t.ask}))
        t.units += static_cast<std::int32_t>(extra.mapped());
    for (const auto& [pair, slots] : more) {
      const auto reserve = book_.asks[pair.second].reserve;
      out_.trades.push_back(
          {pair.first, pair.second, static_cast<std::int32_t>(slots), reserve, reserve});
    }
  }

  const Book& book_;
  std::span<const std::uint32_t> jobs_;
  const SlotTypes& types_;
  std::vector<double> due_;  // Jobs x types: entitled to and not yet had.
  std::vector<double> key_;  // By job: what it is owed, now and from before.
  std::deque<Shelf> shelves_;
  std::vector<std::int64_t> got_;
  std::vector<std::uint32_t> by_speed_;  // The types of each job, fastest first.
  std::int64_t turn_ = 1;                // Slots of one turn.
  SlotDeal out_;
};

}  // namespace

SlotDeal whole_slots(const Book& book, std::span<const std::uint32_t> jobs, const SlotTypes& types,
                     const Entitlement& entitlement) {
  return Dealer(book, jobs, types, entitlement).run();
}

}  // namespace souk::mechanism
