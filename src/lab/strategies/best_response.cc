#include "lab/strategies/best_response.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "base/check.h"
#include "mechanism/auction/sides.h"

namespace souk::lab {
namespace {

using mechanism::Book;

struct Lines {
  double intercept = 0, slope = 1;
};

// A trader of one period, as everybody knows it but for its value.
struct Seat {
  std::uint32_t population;  // Of all, borrowers first.
  bool first;                // The one of its population who tries other lines.
  double value;              // In micro-credits, as prices here are.
  std::int32_t units;
};

struct Period {
  std::vector<Seat> buyers, sellers;
  std::uint64_t seed;
};

struct Totals {
  std::vector<double> gains;  // Of the first trader of each population.
  double gain = 0, most = 0;
};

constexpr std::array<std::uint64_t, 12> kPrimes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};

double halton(std::uint64_t n, std::uint64_t base) {
  double out = 0, share = 1;
  for (++n; n > 0; n /= base) {
    share /= static_cast<double>(base);
    out += share * static_cast<double>(n % base);
  }
  return out;
}

class Search {
 public:
  Search(const Scenario& s, const mechanism::Mechanism& rule, const BestResponseOptions& options)
      : rule_(rule), options_(options), scale_(s.highest_price() * 1e6) {
    for (const auto* side : {&s.borrowers, &s.lenders})
      for (const auto& p : *side) populations_.push_back(&p);
    for (const auto seed : s.seeds)
      for (std::int64_t t = 0; t < s.periods; ++t) deal(seed, static_cast<std::uint64_t>(t));
  }

  Result<> accepts() const {
    return rule_.accepts(book_of(periods_.front(), std::vector<Lines>(populations_.size())));
  }

  BestResponses run() {
    std::vector<Lines> lines(populations_.size());
    BestResponses out;
    const auto honest = play(lines, lines);
    out.truthful = honest.gain / std::max(honest.most, 1e-9);
    while (out.rounds < options_.rounds && !out.settled) {
      ++out.rounds;
      if (options_.progress) options_.progress(out.rounds);
      double moved = 0;
      for (std::size_t p = 0; p < populations_.size(); ++p) {
        // Wide steps at first; then from where the last round ended.
        const auto best = improve(lines, p, out.rounds == 1 ? options_.step : options_.step / 4);
        moved = std::max({moved, std::abs(best.slope - lines[p].slope),
                          std::abs(best.intercept - lines[p].intercept)});
        lines[p] = best;
      }
      out.settled = moved <= options_.finest;
    }
    const auto last = play(lines, lines);
    out.efficiency = last.gain / std::max(last.most, 1e-9);
    const auto count = static_cast<double>(periods_.size());
    for (std::size_t p = 0; p < populations_.size(); ++p)
      out.play.push_back({populations_[p]->name, populations_[p]->lends,
                          lines[p].intercept * scale_ / 1e6, lines[p].slope,
                          last.gains[p] / count / 1e6});
    return out;
  }

 private:
  // Values are spread evenly over what they may be (a Halton sequence, a base for each trader,
  // moved by a random shift): lines differ by less than plain draws would show.
  void deal(std::uint64_t seed, std::uint64_t t) {
    Period period{.seed = 0};
    auto random = stream(seed, "clear", t);
    period.seed = random.next();
    std::size_t number = 0;
    for (std::uint32_t p = 0; p < populations_.size(); ++p) {
      const auto& population = *populations_[p];
      for (std::int32_t i = 0; i < population.count; ++i, ++number) {
        const auto index = static_cast<std::uint64_t>(i);
        auto draw = stream(seed, population.name, index, population.keep ? 0 : t);
        double own = 0;
        if (population.keep || number >= kPrimes.size()) {
          own = population.prices.draw(draw, index);
        } else {
          auto shift = stream(1, population.name + "/shift", index);
          const auto u = halton(periods_.size(), kPrimes[number]) + shift.unit();
          own = population.prices.quantile(u - std::floor(u), index);
        }
        const auto value = std::max(0.0, own + population.prices.shared(seed, population.name, t));
        const auto units = std::max(1L, std::lround(population.units.draw(draw, index)));
        (population.lends ? period.sellers : period.buyers)
            .push_back({p, i == 0, std::round(value * 1e6), static_cast<std::int32_t>(units)});
      }
    }
    periods_.push_back(std::move(period));
  }

  [[nodiscard]] Credits price(const Seat& seat, const Lines& line, bool buys) const {
    const auto quoted = line.intercept * scale_ + line.slope * seat.value;
    const auto safe = buys ? std::min(quoted, seat.value) : std::max(quoted, seat.value);
    return Credits(std::max<std::int64_t>(0, std::llround(safe)));
  }

  [[nodiscard]] Book book_of(const Period& period, const std::vector<Lines>& first,
                             const std::vector<Lines>* others = nullptr) const {
    const auto& rest = others ? *others : first;
    Book book{.reference = Credits(std::llround(scale_ / 2))};
    std::uint64_t id = 0;
    for (const auto& b : period.buyers) {
      const auto gang = populations_[b.population]->gang ? b.units : 1;
      book.bids.push_back(
          {++id, price(b, (b.first ? first : rest)[b.population], true), b.units, gang, id});
    }
    for (const auto& a : period.sellers)
      book.asks.push_back({++id, price(a, (a.first ? first : rest)[a.population], false), a.units});
    return book;
  }

  void play_one(const Period& period, const std::vector<Lines>& first,
                const std::vector<Lines>& rest, Totals& out, bool with_most) const {
    const auto book = book_of(period, first, &rest);
    base::Random random(period.seed);
    const auto outcome = rule_.clear(book, random);
    for (const auto& t : outcome.trades) {
      const auto &b = period.buyers[t.bid], &a = period.sellers[t.ask];
      if (b.first)
        out.gains[b.population] += (b.value - static_cast<double>(t.pays.micro)) * t.units;
      if (a.first)
        out.gains[a.population] += (static_cast<double>(t.gets.micro) - a.value) * t.units;
      out.gain += (b.value - a.value) * t.units;
    }
    for (const auto& fee : outcome.fees) {
      const auto& who = fee.side == mechanism::Side::buyers ? period.buyers[fee.index]
                                                            : period.sellers[fee.index];
      if (who.first) out.gains[who.population] -= static_cast<double>(fee.amount.micro);
    }
    if (with_most) out.most += most_of(period);
  }

  [[nodiscard]] double most_of(const Period& period) const {
    auto book = book_of(period, std::vector<Lines>(populations_.size()));
    for (auto& b : book.bids) b.gang = 1;
    const auto crossing = mechanism::cross(book);
    auto left = crossing.units;
    double out = 0;
    for (const auto& lot : crossing.bids) out += static_cast<double>(lot.price.micro) * lot.units;
    for (const auto& lot : crossing.asks) {
      const auto n = std::min<std::int64_t>(left, lot.units);
      out -= static_cast<double>(lot.price.micro) * static_cast<double>(n);
      left -= n;
    }
    return out;
  }

  // Everybody by `rest`, but the first of each population by `first`. Chunks are summed in order,
  // so that the number of threads changes nothing.
  [[nodiscard]] Totals play(const std::vector<Lines>& first, const std::vector<Lines>& rest,
                            bool with_most = true) const {
    constexpr std::size_t chunk = 512;
    const auto chunks = (periods_.size() + chunk - 1) / chunk;
    std::vector<Totals> parts(chunks, Totals{.gains = std::vector<double>(populations_.size())});
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (auto c = next++; c < chunks; c = next++)
        for (auto i = c * chunk; i < std::min(periods_.size(), (c + 1) * chunk); ++i)
          play_one(periods_[i], first, rest, parts[c], with_most);
    };
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    const auto wanted = options_.threads > 0 ? static_cast<std::size_t>(options_.threads) : cores;
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 1; i < std::min(wanted, chunks); ++i) threads.emplace_back(work);
      work();
    }
    Totals out{.gains = std::vector<double>(populations_.size())};
    for (const auto& part : parts) {
      for (std::size_t p = 0; p < out.gains.size(); ++p) out.gains[p] += part.gains[p];
      out.gain += part.gain;
      out.most += part.most;
    }
    return out;
  }

  // Climbs: tries a step in each direction, moves to the best, and halves the step where none is
  // better.
  [[nodiscard]] Lines improve(const std::vector<Lines>& rest, std::size_t p, double step) const {
    auto first = rest;
    const auto gain = [&](const Lines& line) {
      first[p] = line;
      return play(first, rest, false).gains[p];
    };
    auto at = rest[p];
    auto best = gain(at);
    while (step >= options_.finest) {
      auto better = at;
      for (const auto& [di, ds] :
           {std::pair(1., 0.), std::pair(-1., 0.), std::pair(0., 1.), std::pair(0., -1.),
            std::pair(.5, -1.), std::pair(-.5, 1.), std::pair(1., 1.), std::pair(-1., -1.)}) {
        const Lines candidate{at.intercept + di * step, std::max(0.0, at.slope + ds * step)};
        if (const auto g = gain(candidate); g > best) {
          best = g;
          better = candidate;
        }
      }
      if (better.intercept == at.intercept && better.slope == at.slope)
        step /= 2;
      else
        at = better;
    }
    return at;
  }

  const mechanism::Mechanism& rule_;
  const BestResponseOptions& options_;
  const double scale_;  // Micro-credits of the highest price: intercepts are shares of it.
  std::vector<const Population*> populations_;
  std::vector<Period> periods_;
};

}  // namespace

Result<BestResponses> search_best_responses(const Scenario& scenario,
                                            const MechanismChoice& mechanism,
                                            const BestResponseOptions& options) {
  if (scenario.world != World::book)
    return base::fail(base::Code::invalid, "best responses are searched in a book",
                      "use a scenario with `world: book`", "world");
  SOUK_ASSIGN(const auto rule, mechanism::make(mechanism.name, mechanism.params));
  Search search(scenario, *rule, options);
  SOUK_TRY(search.accepts());
  auto out = search.run();
  out.mechanism = mechanism.label;
  return out;
}

}  // namespace souk::lab
