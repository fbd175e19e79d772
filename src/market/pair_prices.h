#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/id_map.h"
#include "base/time.h"

namespace souk::market {

// Who paid whom.
struct OwnerPair {
  base::AccountId borrower;
  base::AccountId lender;

  auto operator<=>(const OwnerPair&) const = default;
  SOUK_FIELDS(OwnerPair, borrower, lender)
};

// What one borrower last paid one lender.
struct PairPrice {
  OwnerPair pair;
  base::Credits price;
  base::Time at;

  SOUK_FIELDS(PairPrice, pair, price, at)
};

inline constexpr std::size_t kPairsKept = 256;                // In all,
inline constexpr std::size_t kPairsPerOwner = 8;              // of one borrower or lender,
inline constexpr base::Duration kPairsFor = base::hours(24);  // and for this long.
inline constexpr std::size_t kLeastOwners = 4;                // Who make a going rate.

// What pairs of owners last paid, and the going rate that follows from it (prices.h says why):
// owners that trade with each other, directly or through others, are a group; the largest group
// makes the rate, if it has kLeastOwners; of two of a size the one with the oldest account. The
// rate is the median over the group's owners of the median price of each owner's pairs. Where there
// is no room for another pair the oldest goes, first of those that do not count for the rate.
//
// Nearly every payment of a busy market is of a pair that is not known any more. So nothing here is
// computed from all pairs for each: groups are merged and split as pairs come and go, and what is
// asked for is searched where it is. Pure; what it answers depends on what was noted alone.
class PairPrices {
 public:
  using Item = PairPrice;

  // `pair` paid `price`. Time does not run backwards from one call to the next.
  void note(base::Time at, const OwnerPair& pair, base::Credits price);

  // Nothing where too few owners trade with each other to say.
  [[nodiscard]] std::optional<base::Credits> rate() const;
  // Is this account one of those who make the rate?
  [[nodiscard]] bool counts(base::AccountId account) const;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::vector<PairPrice> list() const;  // In order of the pairs.
  // Holds these pairs from now on; false, and nothing changes, where no history leads to them.
  [[nodiscard]] bool assign(std::span<const PairPrice> items);

 private:
  using Index = std::uint16_t;
  static constexpr Index kNone = 0xffff;
  enum Role : std::uint8_t { borrower, lender };

  struct Link {
    Index before = kNone, after = kNone;
  };
  struct Chain {
    Index first = kNone, last = kNone;
  };
  struct Pair {
    PairPrice known;
    std::array<Index, 2> owner{};        // By role.
    std::array<Index, 2> next_of_owner;  // Of the same borrower, of the same lender.
    Link in_time, in_group;
  };
  struct Owner {
    base::AccountId account;
    Index group = kNone;                       // Of nobody any more: none.
    std::array<Index, 2> first{kNone, kNone};  // By the role that it has in them.
    std::array<std::uint16_t, 2> pairs{};
    std::uint8_t side = 0;  // Of a search (split); 0: not reached.
    // What of it lies in medians_, and whether that has to be looked at again.
    mutable std::optional<base::Credits> median;
    mutable bool stale = false;
  };
  struct Group {
    Chain pairs;
    std::uint16_t size = 0, owners = 0;  // In pairs, and in owners.
    Link in_order;
  };
  // Things at places that stay the same while they exist.
  template <class T>
  struct Pool {
    std::vector<T> at;
    std::vector<Index> free;

    Index add(T item);
    void drop(Index i) { free.push_back(i); }
    T& operator[](Index i) { return at[i]; }
    const T& operator[](Index i) const { return at[i]; }
  };
  template <class T>
  static void link(Pool<T>& all, Link T::* member, Chain& chain, Index i, Index behind);
  template <class T>
  static void unlink(Pool<T>& all, Link T::* member, Chain& chain, Index i);

  [[nodiscard]] Index find(const OwnerPair& pair) const;
  [[nodiscard]] Index find_owner(base::AccountId account) const;
  Index owner_of(base::AccountId account);
  void forget_owner(Index owner);
  void changed(Index owner) const;  // Its prices, or its group.

  void add(const PairPrice& known);
  void remove(Index pair);
  void into_time(Index pair);
  void make_room(const OwnerPair& pair);
  [[nodiscard]] Index oldest_uncounted() const;
  [[nodiscard]] bool older(Index a, Index b) const;

  Index common_group(Index a, Index b);
  void merge(Index from, Index into);
  void drop_group(Index group);
  void split(Index a, Index b);
  bool reach(Index owner, std::uint8_t side);
  void set_apart(const std::vector<Index>& owners);
  [[nodiscard]] Index largest() const;
  [[nodiscard]] bool larger(const Group& a, const Group& b) const;
  [[nodiscard]] base::AccountId oldest_account(const Group& group) const;
  [[nodiscard]] base::Credits median_of(const Owner& owner) const;
  void drop_median(const Owner& owner) const;
  void refresh_medians(Index group) const;

  Pool<Pair> pairs_;
  Pool<Owner> owners_;
  Pool<Group> groups_;
  base::IdMap<base::AccountId, Index> owner_of_;
  std::size_t size_ = 0;
  Chain in_time_;                              // Pairs by (time, pair).
  Chain in_order_;                             // Groups; which one comes first means nothing.
  std::array<std::vector<Index>, 2> reached_;  // Of split(), kept for their memory.
  // Of what is there now; nobody's but largest()'s.
  mutable std::optional<Index> largest_;
  // The medians of the owners of one group, in order, but for what changed since rate() was asked.
  mutable Index medians_of_ = kNone;
  mutable std::vector<base::Credits> medians_;
  mutable std::vector<Index> stale_;  // Owners whose median changed, or who came or left.
};

}  // namespace souk::market
