#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "mechanism/testing/books.h"

// Books of bundles and further searches for lies, for tests of mechanisms.

namespace souk::mechanism::testing {

// Searches for a buyer who would gain by appearing as two, one right behind the other where it
// stands in line, under another name, at any limits and with any split of its units. Empty if there
// is none.
inline std::string profitable_twin(const Mechanism& mechanism, const Book& book,
                                   std::int64_t highest_micro) {
  base::Random random(1);
  const auto honest = mechanism.clear(book, random);
  for (std::size_t i = 0; i < book.bids.size(); ++i) {
    const auto truth = book.bids[i];
    const auto enough = buyer_gain(truth, honest, {i});
    auto told = book;
    told.bids.insert(told.bids.begin() + static_cast<std::ptrdiff_t>(i) + 1, truth);
    told.bids[i + 1].owner = 1'000'000;
    for (std::int64_t a = 0; a <= highest_micro + 1; ++a)
      for (std::int64_t b = 0; b <= highest_micro + 1; ++b)
        for (std::int32_t units = 1; units <= truth.units; ++units) {
          told.bids[i].limit = Credits(a), told.bids[i].units = units;
          told.bids[i + 1].limit = Credits(b), told.bids[i + 1].units = truth.units + 1 - units;
          const auto gain = buyer_gain(truth, mechanism.clear(told, random), {i, i + 1});
          if (gain > enough)
            return fmt::format("bid {} as {} x {} and {} x {} gains {} rather than {}", i, units, a,
                               truth.units + 1 - units, b, gain, enough);
        }
  }
  return {};
}

inline bool buyers(const Book&, Side side, std::size_t) { return side == Side::buyers; }

// A book of bundles; ids are position + 1.
struct BundleShape {
  std::uint64_t most_bids = 7;
  std::uint32_t items = 4;
  std::int64_t highest_micro = 20;
};
inline Book random_bundles(base::Random& random, const BundleShape& shape = {}) {
  Book book;
  for (std::uint32_t i = 0; i < shape.items; ++i)
    book.items.push_back(std::string(1, 'a' + i % 26));
  for (auto n = random.below(shape.most_bids + 1); n > 0; --n) {
    book.bids.push_back({book.bids.size() + 1, Credits(random.between(0, shape.highest_micro))});
    std::vector<std::uint32_t> bundle;
    while (bundle.empty())
      for (std::uint32_t item = 0; item < shape.items; ++item)
        if (random.chance(3)) bundle.push_back(item);
    book.bundles.push_back(std::move(bundle));
  }
  return book;
}

// The largest sum of limits of bids with no good in common, by trying every set of bids.
inline std::int64_t brute_force_bundles(const Book& book) {
  std::int64_t best = 0;
  for (std::uint32_t set = 0; set < 1u << book.bids.size(); ++set) {
    std::vector<int> uses(book.items.size());
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < book.bids.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      sum += book.bids[i].limit.micro;
      for (const auto item : book.bundles[i]) ++uses[item];
    }
    if (std::ranges::all_of(uses, [](int n) { return n <= 1; })) best = std::max(best, sum);
  }
  return best;
}

// What is wrong with how `mechanism` clears a book of bundles, or nothing: the outcome must be
// legal and repeatable, and what the bids are worth must be with the buyers and the operator,
// whole.
inline std::string bundle_fault(const Mechanism& mechanism, const Book& book) {
  if (const auto accepted = mechanism.accepts(book); !accepted) return accepted.error().message;
  base::Random random(1), other(2);
  const auto outcome = mechanism.clear(book, random);
  if (const auto legal = verify(book, outcome); !legal) return legal.error().message;
  if (mechanism.clear(book, other).awards != outcome.awards) return "a draw decided";
  const auto money = totals(book, outcome);
  std::int64_t kept = money.platform().micro;
  for (const auto& award : outcome.awards) kept += (book.bids[award.bid].limit - award.pays).micro;
  if (kept != money.gain.micro) return "micro-credits appeared or vanished";
  if (money.platform() < Credits()) return "the operator pays";
  return {};
}

// What `bid` gains if `truth` tells the one bundle it really wants and what that is worth to it.
inline std::int64_t bundle_gain(const Book& truth, const Book& told, const Outcome& outcome,
                                std::size_t bid) {
  for (const auto& award : outcome.awards) {
    if (award.bid != bid) continue;
    const bool useful = std::ranges::includes(told.bundles[bid], truth.bundles[bid]);
    return (useful ? truth.bids[bid].limit.micro : 0) - award.pays.micro;
  }
  return 0;
}

// Every bundle of `items` goods but the empty one.
inline std::vector<std::vector<std::uint32_t>> all_bundles(std::uint32_t items) {
  std::vector<std::vector<std::uint32_t>> out;
  for (std::uint32_t set = 1; set < 1u << items; ++set) {
    out.emplace_back();
    for (std::uint32_t item = 0; item < items; ++item)
      if (set >> item & 1) out.back().push_back(item);
  }
  return out;
}

}  // namespace souk::mechanism::testing
