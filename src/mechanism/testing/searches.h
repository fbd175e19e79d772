#pragma once

#include <fmt/format.h>

#include <string>

#include "mechanism/testing/more_books.h"

// Searches for broken promises in many random books. Each gives the first that it finds in words,
// with its seed, or nothing.

namespace souk::mechanism::testing {

struct ManyBooks {
  std::uint64_t count = 0;  // Seeds from 1.
  Shape shape = {};
  std::int64_t scale = 1;  // All prices times this.
};

// `find(book, seed)` says what is wrong with a book.
template <class Find>
std::string first_found(const ManyBooks& books, Find find) {
  for (std::uint64_t seed = 1; seed <= books.count; ++seed) {
    base::Random random(seed);
    const auto book = scaled(random_book(random, books.shape), books.scale);
    if (const auto found = find(book, seed); !found.empty())
      return fmt::format("seed {}: {}", seed, found);
  }
  return {};
}

inline std::string first_lie(const Mechanism& mechanism, const ManyBooks& books, const Lies& lies,
                             const Claimed& claimed = everybody) {
  return first_found(books, [&](const Book& book, std::uint64_t seed) {
    return profitable_lie(mechanism, book, lies, claimed, seed);
  });
}

inline std::string first_names(const Mechanism& mechanism, const ManyBooks& books, const Lies& lies,
                               const Claimed& claimed = everybody) {
  return first_found(books, [&](const Book& book, std::uint64_t seed) {
    return profitable_names(mechanism, book, lies, claimed, seed);
  });
}

inline std::string first_twin(const Mechanism& mechanism, const ManyBooks& books) {
  return first_found(books, [&](const Book& book, std::uint64_t) {
    return profitable_twin(mechanism, book, books.shape.highest_micro);
  });
}

// What each unit of `owner` costs, cheapest first.
inline std::vector<Credits> unit_prices(const Book& book, const Outcome& outcome,
                                        std::uint64_t owner) {
  std::vector<Credits> out;
  for (const auto& t : outcome.trades)
    if (book.bids[t.bid].owner == owner) out.insert(out.end(), t.units, t.pays);
  std::ranges::sort(out);
  return out;
}

// Gives the bids of a book to a few owners; the first of them, 1, has no gang.
inline Book owned(Book book, base::Random& random) {
  for (auto& bid : book.bids) {
    bid.owner = 1 + random.below(3);
    if (bid.owner == 1) bid.gang = 1;
  }
  return book;
}

// Searches for a way in which owner 1 pays more for what it has because it wants more: more units
// of a bid, a higher limit, another bid anywhere in line, or a bid as two.
inline std::string first_raise(const Mechanism& mechanism, const ManyBooks& books) {
  return first_found(books, [&](const Book& plain, std::uint64_t seed) -> std::string {
    base::Random random(seed + 1'000'000);
    const auto book = owned(plain, random);
    const auto prices = [&](const Book& told) {
      base::Random draws(seed);
      const auto outcome = mechanism.clear(told, draws);
      auto out = unit_prices(told, outcome, 1);
      // A lump sum is part of what the last unit costs.
      for (const auto& fee : outcome.fees)
        if (fee.side == Side::buyers && told.bids[fee.index].owner == 1 && !out.empty())
          out.back() += fee.amount;
      return out;
    };
    const auto before = prices(book);
    if (before.empty()) return {};
    const auto raised = [&](const Book& told, std::string_view how) -> std::string {
      const auto after = prices(told);
      for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
        if (after[i] > before[i])
          return fmt::format("{}: unit {} costs {} rather than {}", how, i, after[i].micro,
                             before[i].micro);
      return {};
    };
    const auto highest = books.shape.highest_micro * books.scale;
    for (std::size_t i = 0; i < book.bids.size(); ++i) {
      if (book.bids[i].owner != 1) continue;
      auto more = book, higher = book, split = book;
      more.bids[i].units += static_cast<std::int32_t>(random.between(1, 4));
      if (auto found = raised(more, "more units"); !found.empty()) return found;
      higher.bids[i].limit += Credits(random.between(1, highest));
      if (auto found = raised(higher, "a higher limit"); !found.empty()) return found;
      if (book.bids[i].units < 2) continue;
      auto half = book.bids[i];
      half.units /= 2;
      split.bids[i].units -= half.units;
      split.bids.insert(split.bids.begin() + static_cast<std::ptrdiff_t>(i) + 1, half);
      if (auto found = raised(split, "one bid as two"); !found.empty()) return found;
    }
    for (int tries = 0; tries < 4; ++tries) {
      auto more = book;
      more.bids.insert(
          more.bids.begin() + static_cast<std::ptrdiff_t>(random.below(more.bids.size() + 1)),
          {.id = 99,
           .limit = Credits(random.between(0, highest)),
           .units = static_cast<std::int32_t>(random.between(1, 4)),
           .owner = 1});
      if (auto found = raised(more, "another bid"); !found.empty()) return found;
    }
    return {};
  });
}

// Outcomes that are not legal, or that a market could not settle.
inline std::string first_unsettled(const Mechanism& mechanism, const ManyBooks& books) {
  return first_found(books, [&](const Book& book, std::uint64_t seed) {
    if (auto wrong = fault(mechanism, book, seed); !wrong.empty()) return wrong;
    const auto settles = fit_to_settle(clear(mechanism, book).outcome);
    return settles ? std::string() : settles.error().message;
  });
}

// A trade at another price than the ask's reserve, or a slot left idle that a bid would have taken.
inline std::string mispriced_or_idle(const Cleared& out) {
  for (const auto& t : out.outcome.trades)
    if (t.pays != t.gets || t.gets != out.book.asks[t.ask].reserve)
      return fmt::format("bid {} does not pay the reserve of ask {}", t.bid, t.ask);
  for (std::size_t i = 0; i < out.book.bids.size(); ++i) {
    const auto& bid = out.book.bids[i];
    if (bid.gang > bid.units) continue;
    std::int64_t free = 0;
    for (std::size_t a = 0; a < out.book.asks.size(); ++a)
      if (out.book.asks[a].reserve <= bid.limit) free += out.book.asks[a].units - out.sold(a);
    const auto could_add = std::min<std::int64_t>(free, bid.units - out.bought(i));
    if (could_add > 0 && out.bought(i) + could_add >= bid.gang)
      return fmt::format("bid {} could have {} more", i, could_add);
  }
  return {};
}

// A bid that would gain by saying another limit, up to `highest_micro`, or another bundle.
inline std::string profitable_bundle_lie(const Mechanism& mechanism, const Book& book,
                                         std::int64_t highest_micro) {
  const auto honest = clear(mechanism, book).outcome;
  for (std::size_t i = 0; i < book.bids.size(); ++i)
    for (const auto& bundle : all_bundles(static_cast<std::uint32_t>(book.items.size())))
      for (std::int64_t lie = 0; lie <= highest_micro; ++lie) {
        auto told = book;
        told.bids[i].limit = Credits(lie);
        told.bundles[i] = bundle;
        if (bundle_gain(book, told, clear(mechanism, told).outcome, i) >
            bundle_gain(book, book, honest, i))
          return fmt::format("bid {} says {}", i, lie);
      }
  return {};
}

}  // namespace souk::mechanism::testing
