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
