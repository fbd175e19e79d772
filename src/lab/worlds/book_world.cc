#include "lab/worlds/book_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/strategies/regret.h"
#include "lab/worlds/external.h"
#include "mechanism/auction/sides.h"

namespace souk::lab {
namespace {

using mechanism::Book;

constexpr std::size_t kHistory = 256;  // Prices that traders remember.

struct Trader {
  const Population* population;
  std::uint64_t index;  // In its population.
  std::uint64_t id;     // Among all, from 1.
  bool buys;
  std::unique_ptr<Strategy> strategy;
  double mark;  // In [0, 1): who comes when supply or demand shrinks.
  double doom;  // In [0, 1): who vanishes in a fault.
  double value = 0;
  std::int32_t units = 0;
  std::int32_t left = 0;
  double quoted = 0;
  bool traded = false;
  double money = 0;  // Paid and received.
  double wanted = 0, had = 0;
};

// Which trader a bid or ask belongs to.
struct Orders {
  Book book;
  std::vector<Trader*> bidders, askers;
};

class BookWorld {
 public:
  BookWorld(const Scenario& s, const mechanism::Mechanism& rule, std::uint64_t seed,
            const Watch& watch)
      : s_(s),
        rule_(rule),
        seed_(seed),
        watch_(watch),
        lowest_(s.lowest_price()),
        highest_(s.highest_price()) {
    reference_ = (lowest_ + highest_) / 2;
    for (const auto* side : {&s.borrowers, &s.lenders})
      for (const auto& p : *side)
        for (std::int32_t i = 0; i < p.count; ++i) add(p, static_cast<std::uint64_t>(i));
    for (const auto& shock : s.shocks)
      if (shock.dies.empty() && !record_.shock_end) record_.shock_end = shock.at + shock.length;
    record_.end = static_cast<double>(s.periods);
  }

  Result<Record> run() {
    for (std::int64_t period = 0; period < s_.periods; ++period) {
      if (watch_.progress)
        watch_.progress(static_cast<double>(period) / static_cast<double>(s_.periods));
      SOUK_TRY(one_period(static_cast<std::uint64_t>(period)));
    }
    for (const auto& t : traders_) {
      record_.credits.push_back(t.population->credits + t.money);
      if (t.buys && t.wanted > 0) record_.access.push_back(t.had / t.wanted);
    }
    if (searched_ > 0) {
      record_.regret = regret_.price / searched_;
      record_.false_name_gain = regret_.names / searched_;
    }
    return std::move(record_);
  }

 private:
  void add(const Population& p, std::uint64_t index) {
    auto random = stream(seed_, p.name + "/mark", index);
    const auto mark = random.unit();
    traders_.push_back({.population = &p,
                        .index = index,
                        .id = traders_.size() + 1,
                        .buys = !p.lends,
                        .strategy = make_strategy(p.strategy),
                        .mark = mark,
                        .doom = random.unit()});
  }

  [[nodiscard]] bool gone(const Trader& t, double period) const {
    if (t.buys) return false;
    return std::ranges::any_of(
               s_.shocks,
               [&](const Shock& k) { return k.dies == t.population->name && period >= k.at; }) ||
           std::ranges::any_of(s_.faults, [&](const Fault& f) {
             return (f.lenders.empty() || f.lenders == t.population->name) && period >= f.at &&
                    t.doom < f.share;
           });
  }

  void draw(Trader& t, std::uint64_t period) {
    const auto& p = *t.population;
    const auto now = static_cast<double>(period);
    if (period == 0 || !p.keep) {
      auto random = stream(seed_, p.name, t.index, period);
      t.value =
          std::max(0.0, p.prices.draw(random, t.index) + p.prices.shared(seed_, p.name, period));
      t.units = std::max(1, static_cast<std::int32_t>(std::lround(p.units.draw(random, t.index))));
    }
    // Twice the demand is twice the units; half the supply is half the sellers.
    const auto factor = t.buys ? s_.demand_at(now) : s_.supply_at(now);
    const auto whole = std::floor(factor);
    const auto times = whole + (t.mark < factor - whole ? 1 : 0);
    t.left = gone(t, now) ? 0 : static_cast<std::int32_t>(t.units * times);
    t.wanted += t.left;
  }

  Result<> one_period(std::uint64_t period) {
    for (auto& t : traders_) draw(t, period);
    std::vector<Trader*> order;
    for (auto& t : traders_) order.push_back(&t);
    auto shuffle = stream(seed_, "order", period);
    shuffle.shuffle(order);
    const auto truth = truthful(order);
    note_optimum(truth);
    for (std::int32_t round = 0; round < s_.rounds; ++round) {
      const auto number =
          period * static_cast<std::uint64_t>(s_.rounds) + static_cast<std::uint64_t>(round);
      SOUK_TRY(one_round(order, period, number));
    }
    return maybe_search(truth, period);
  }

  // The book in which everybody says what is true.
  [[nodiscard]] Book truthful(const std::vector<Trader*>& order) const {
    Book book{.reference = as_price(reference_)};
    for (const auto* t : order) {
      if (t->left <= 0) continue;
      if (t->buys)
        book.bids.push_back(
            {t->id, as_price(t->value), t->left, t->population->gang ? t->left : 1, t->id});
      else
        book.asks.push_back({t->id, as_price(t->value), t->left});
    }
    return book;
  }

  void note_optimum(Book truth) {
    for (auto& b : truth.bids) b.gang = 1;
    for (const auto& a : truth.asks) record_.offered += a.units;
    const auto crossing = mechanism::cross(truth);
    equilibrium_ = 0;
    if (crossing.units == 0) return;
    auto left = crossing.units;
    for (const auto& lot : crossing.bids) record_.most_gain += in_credits(lot.price) * lot.units;
    for (const auto& lot : crossing.asks) {
      const auto n = std::min<std::int64_t>(left, lot.units);
      record_.most_gain -= in_credits(lot.price) * static_cast<double>(n);
      left -= n;
    }
    equilibrium_ = (in_credits(crossing.low()) + in_credits(crossing.high())) / 2;
  }

  [[nodiscard]] Situation situation(const Trader& t) const {
    return {.buys = t.buys,
            .value = t.value,
            .lowest = lowest_,
            .highest = highest_,
            .last_price = history_.empty() ? std::nullopt : std::optional(history_.back()),
            .history = history_};
  }

  void place(Orders& orders, Trader& t, std::uint64_t number) const {
    const auto now = situation(t);
    auto random = stream(seed_, t.population->name + "/price", t.index, number);
    t.quoted = t.strategy->quote(now, random);
    t.traded = false;
    const auto names = std::min(t.strategy->names(), t.left);
    for (std::int32_t n = 0; n < names; ++n) {
      const auto units = t.left / names + (n < t.left % names ? 1 : 0);
      const auto price = as_price(names == 1 ? t.quoted : t.strategy->quote_of(n, now, t.quoted));
      const auto owner = t.id * 64 + static_cast<std::uint64_t>(n);
      if (t.buys) {
        orders.book.bids.push_back({t.id, price, units, t.population->gang ? units : 1, owner});
        orders.bidders.push_back(&t);
      } else {
        orders.book.asks.push_back({t.id, price, units});
        orders.askers.push_back(&t);
      }
    }
  }

  Result<> one_round(const std::vector<Trader*>& order, std::uint64_t period,
                     std::uint64_t number) {
    SOUK_TRY(watch_.go_on(record_.trades.size()));
    Orders orders;
    orders.book.reference = as_price(reference_);
    orders.book.standing = standing_;
    for (auto* t : order)
      if (t->left > 0) place(orders, *t, number);
    record_.events += orders.bidders.size() + orders.askers.size() + 1;
    SOUK_TRY(rule_.accepts(orders.book));
    auto random = stream(seed_, "clear", number);
    auto outcome = rule_.clear(orders.book, random);
    if (const auto good = mechanism::verify(orders.book, outcome); !good)
      return std::unexpected(good.error());
    standing_ = std::move(outcome.standing);
    const auto price = settle(orders, outcome, static_cast<double>(period));
    teach(orders, price);
    move_reference(orders.book);
    return {};
  }

  // Returns the mean price, if anything traded.
  std::optional<double> settle(const Orders& orders, const mechanism::Outcome& outcome,
                               double now) {
    double paid = 0, units = 0;
    for (const auto& t : outcome.trades) {
      auto& buyer = *orders.bidders[t.bid];
      auto& seller = *orders.askers[t.ask];
      const auto pays = in_credits(t.pays) * t.units, gets = in_credits(t.gets) * t.units;
      buyer.left -= t.units;
      seller.left -= t.units;
      buyer.had += t.units;
      buyer.traded = seller.traded = true;
      buyer.money -= pays;
      seller.money += gets;
      record_.gain += (buyer.value - seller.value) * t.units;
      record_.buyers_gain += buyer.value * t.units - pays;
      record_.sellers_gain += gets - seller.value * t.units;
      record_.platform += pays - gets;
      record_.used += t.units;
      paid += pays;
      units += t.units;
      record_.trades.push_back({.time = now,
                                .bid = buyer.id,
                                .ask = seller.id,
                                .units = t.units,
                                .pays = t.pays,
                                .gets = t.gets,
                                .limit = orders.book.bids[t.bid].limit,
                                .reserve = orders.book.asks[t.ask].reserve,
                                .value = as_price(buyer.value),
                                .cost = as_price(seller.value),
                                .equilibrium = equilibrium_});
    }
    record_.events += outcome.trades.size();
    for (const auto& fee : outcome.fees) {
      const bool buys = fee.side == mechanism::Side::buyers;
      auto& who = *(buys ? orders.bidders : orders.askers)[fee.index];
      const auto amount = in_credits(fee.amount);
      who.money -= amount;
      (buys ? record_.buyers_gain : record_.sellers_gain) -= amount;
      record_.platform += amount;
    }
    if (units == 0) return std::nullopt;
    const auto price = paid / units;
    record_.prices.push_back({now, price, equilibrium_});
    history_.push_back(price);
    if (history_.size() > kHistory) history_.erase(history_.begin());
    return price;
  }

  static void teach(const Orders& orders, std::optional<double> price) {
    const Trader* before = nullptr;
    for (const auto* side : {&orders.bidders, &orders.askers})
      for (auto* t : *side) {
        if (t == before) continue;  // Its other name.
        before = t;
        t->strategy->learn({t->buys, t->value, t->quoted, t->traded, price});
      }
  }

  void move_reference(const Book& book) {
    double demand = 0, supply = 0;
    for (const auto& b : book.bids)
      if (in_credits(b.limit) >= reference_) demand += b.units;
    for (const auto& a : book.asks)
      if (in_credits(a.reserve) <= reference_) supply += a.units;
    if (demand + supply == 0) return;
    constexpr double most = .1;
    reference_ *= 1 + most * (demand - supply) / (demand + supply);
  }

  Result<> maybe_search(const Book& truth, std::uint64_t period) {
    const auto books = static_cast<std::uint64_t>(s_.regret.books);
    const auto periods = static_cast<std::uint64_t>(s_.periods);
    if (books == 0 || period % std::max<std::uint64_t>(1, periods / books) != 0) return {};
    if (!rule_.accepts(truth)) return {};
    auto book = truth;
    book.standing = standing_;
    auto random = stream(seed_, "regret", period);
    const auto found = search_regret(rule_, book, s_.regret, random.next(), watch_.stop);
    if (found.traders == 0) return {};
    regret_.price += found.price;
    regret_.names += found.names;
    searched_ += 1;
    return {};
  }

  const Scenario& s_;
  const mechanism::Mechanism& rule_;
  const std::uint64_t seed_;
  const Watch& watch_;
  const double lowest_, highest_;
  std::vector<Trader> traders_;
  double reference_ = 0, equilibrium_ = 0;
  std::vector<double> history_;
  mechanism::Standing standing_;
  Record record_;
  Regret regret_;
  double searched_ = 0;
};

}  // namespace

Result<> Watch::go_on(std::size_t trades) const {
  if (stop.stop_requested()) return base::fail(base::Code::unavailable, "the run was stopped");
  if (trades <= most_trades) return {};
  return base::fail(base::Code::too_large, fmt::format("more than {} trades", most_trades),
                    "use fewer agents or seeds, or a shorter horizon");
}

Result<Record> run_book(const Scenario& scenario, const MechanismChoice& mechanism,
                        std::uint64_t seed, const Watch& watch) {
  SOUK_ASSIGN(const auto rule, make_mechanism(mechanism.name, mechanism.params));
  auto out = BookWorld(scenario, *rule, seed, watch).run();
  if (!out) {
    auto error = std::move(out).error();
    error.message = fmt::format("{}, seed {}: {}", mechanism.label, seed, error.message);
    return std::unexpected(std::move(error));
  }
  return out;
}

}  // namespace souk::lab
