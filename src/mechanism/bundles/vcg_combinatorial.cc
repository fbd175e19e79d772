#include "mechanism/bundles/vcg_combinatorial.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "mechanism/bundles/bundles.h"

namespace souk::mechanism {
namespace {

constexpr std::string_view kVcgCombinatorial = "vcg-combinatorial";

using Set = std::uint64_t;  // Of bids, by position.

constexpr Set only(std::size_t bid) { return Set{1} << bid; }

// The best choice of bids that have no good in common. Worths are limits in the high bits, and in
// the low ones a bit per bid, the highest for the first, so that no two choices are worth the same
// and of equal limits the earlier bids win.
class Winners {
 public:
  using Worth = __int128;

  explicit Winners(const Book& book) {
    for (std::size_t i = 0; i < book.bids.size(); ++i) {
      worths_.push_back((static_cast<Worth>(book.bids[i].limit.micro) << kBits) |
                        static_cast<Worth>(Set{1} << (kBits - 1 - i)));
      conflicts_.push_back(0);
    }
    std::vector<Set> wanting(book.items.size());
    for (std::size_t i = 0; i < book.bids.size(); ++i)
      for (const auto item : book.bundles[i]) wanting[item] |= only(i);
    for (const auto set : wanting)
      for (auto rest = set; rest != 0; rest &= rest - 1)
        conflicts_[static_cast<std::size_t>(std::countr_zero(rest))] |= set;
    for (std::size_t i = 0; i < conflicts_.size(); ++i) conflicts_[i] &= ~only(i);
  }

  // The best among `bids`.
  Set best(Set bids) {
    best_ = 0;
    best_worth_ = 0;
    search(bids, 0, 0);
    return best_;
  }

 private:
  static constexpr int kBits = static_cast<int>(VcgCombinatorial::kMostBids);
  static_assert(VcgCombinatorial::kMostBids < 64);

  // Completes `chosen`, which is worth `worth`, from `open`, whose bids conflict with none of it.
  void search(Set open, Set chosen, Worth worth) {
    Worth bound = worth;
    std::size_t busiest = 0;
    int most = -1;
    for (auto rest = open; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(rest));
      bound += worths_[i];
      if (const auto conflicts = std::popcount(conflicts_[i] & open); conflicts > most) {
        most = conflicts;
        busiest = i;
      }
    }
    if (bound <= best_worth_) return;
    if (most <= 0) {  // Nothing conflicts any more: take all.
      best_ = chosen | open;
      best_worth_ = bound;
      return;
    }
    // The bid with the most conflicts wins, which settles the most others, or it does not.
    const auto without = open & ~only(busiest);
    search(without & ~conflicts_[busiest], chosen | only(busiest), worth + worths_[busiest]);
    search(without, chosen, worth);
  }

  std::vector<Worth> worths_;
  std::vector<Set> conflicts_;  // For each bid, those it has a good in common with.
  Set best_ = 0;
  Worth best_worth_ = 0;
};

std::int64_t limits(const Book& book, Set bids) {
  std::int64_t sum = 0;
  for (; bids != 0; bids &= bids - 1)
    sum += book.bids[static_cast<std::size_t>(std::countr_zero(bids))].limit.micro;
  return sum;
}

}  // namespace

base::Result<> VcgCombinatorial::accepts(const Book& book) const {
  return accepts_bundles(kVcgCombinatorial, book, kMostBids, kMostItems);
}

base::Result<> VcgCombinatorial::fit_for_live() const {
  return bundles_are_not_live(kVcgCombinatorial);
}

Outcome VcgCombinatorial::clear(const Book& book, base::Random&) const {
  CHECK(accepts(book));
  Winners winners(book);
  const auto all = only(book.bids.size()) - 1;
  const auto best = winners.best(all);
  Outcome out;
  for (auto rest = best; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    const auto others = limits(book, best & ~only(i));
    const auto alone = limits(book, winners.best(all & ~only(i)));
    out.awards.push_back({static_cast<std::uint32_t>(i), Credits(alone - others)});
  }
  return out;
}

}  // namespace souk::mechanism
