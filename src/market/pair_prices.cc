#include "market/pair_prices.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace souk::market {
namespace {

using base::AccountId;
using base::Credits;
using base::Time;

Credits between(Credits low, Credits high) {
  return Credits(low.micro + (high.micro - low.micro) / 2);
}

// Of prices in order: the middle one, or half way between the two in the middle.
Credits middle_of(std::span<const Credits> prices) {
  CHECK(!prices.empty());
  const auto middle = prices.size() / 2;
  return prices.size() % 2 == 1 ? prices[middle] : between(prices[middle - 1], prices[middle]);
}

}  // namespace

template <class T>
PairPrices::Index PairPrices::Pool<T>::add(T item) {
  if (free.empty()) {
    at.push_back(std::move(item));
    return static_cast<Index>(at.size() - 1);
  }
  const auto i = free.back();
  free.pop_back();
  at[i] = std::move(item);
  return i;
}

// Puts `i` into the chain behind `behind`; kNone: at its front.
template <class T>
void PairPrices::link(Pool<T>& all, Link T::* member, Chain& chain, Index i, Index behind) {
  auto& own = all[i].*member;
  own.before = behind;
  own.after = behind == kNone ? chain.first : (all[behind].*member).after;
  (own.before == kNone ? chain.first : (all[own.before].*member).after) = i;
  (own.after == kNone ? chain.last : (all[own.after].*member).before) = i;
}

template <class T>
void PairPrices::unlink(Pool<T>& all, Link T::* member, Chain& chain, Index i) {
  const auto own = all[i].*member;
  (own.before == kNone ? chain.first : (all[own.before].*member).after) = own.after;
  (own.after == kNone ? chain.last : (all[own.after].*member).before) = own.before;
}

PairPrices::Index PairPrices::find_owner(AccountId account) const {
  const auto* known = owner_of_.find(account);
  return known == nullptr ? kNone : *known;
}

PairPrices::Index PairPrices::owner_of(AccountId account) {
  if (const auto known = find_owner(account); known != kNone) return known;
  return owner_of_[account] = owners_.add({.account = account, .median = {}});
}

void PairPrices::forget_owner(Index owner) {
  owner_of_.erase(owners_[owner].account);
  owners_[owner].group = kNone;
  drop_median(owners_[owner]);  // Its place may soon be somebody else's.
  if (owners_[owner].stale) std::erase(stale_, owner);
  owners_.drop(owner);
}

PairPrices::Index PairPrices::find(const OwnerPair& pair) const {
  const auto owner = find_owner(pair.borrower);
  if (owner == kNone) return kNone;
  auto i = owners_[owner].first[borrower];
  while (i != kNone && pairs_[i].known.pair != pair) i = pairs_[i].next_of_owner[borrower];
  return i;
}

void PairPrices::changed(Index owner) const {
  if (!std::exchange(owners_[owner].stale, true)) stale_.push_back(owner);
}

bool PairPrices::older(Index a, Index b) const {
  const auto &x = pairs_[a].known, &y = pairs_[b].known;
  return x.at != y.at ? x.at < y.at : x.pair < y.pair;
}

void PairPrices::into_time(Index pair) {
  auto behind = in_time_.last;
  while (behind != kNone && older(pair, behind)) behind = pairs_[behind].in_time.before;
  link(pairs_, &Pair::in_time, in_time_, pair, behind);
}

void PairPrices::note(Time at, const OwnerPair& pair, Credits price) {
  while (in_time_.first != kNone && pairs_[in_time_.first].known.at + kPairsFor <= at)
    remove(in_time_.first);
  const auto i = find(pair);
  if (i == kNone) {
    make_room(pair);
    return add({pair, price, at});
  }
  auto& p = pairs_[i];
  if (p.known.price != price)
    for (const auto owner : p.owner) changed(owner);
  p.known.price = price;
  unlink(pairs_, &Pair::in_time, in_time_, i);
  p.known.at = at;
  into_time(i);
}

void PairPrices::make_room(const OwnerPair& pair) {
  for (const auto role : {borrower, lender}) {
    const auto owner = find_owner(role == borrower ? pair.borrower : pair.lender);
    if (owner == kNone || owners_[owner].pairs[role] < kPairsPerOwner) continue;
    auto oldest = owners_[owner].first[role];
    for (auto i = oldest; i != kNone; i = pairs_[i].next_of_owner[role])
      if (older(i, oldest)) oldest = i;
    remove(oldest);
  }
  if (size_ >= kPairsKept) remove(oldest_uncounted());
}

// Of the pairs that do not count; where all count, or none does, of all.
PairPrices::Index PairPrices::oldest_uncounted() const {
  const auto most = largest();
  const auto& group = groups_[most];
  if (group.owners < kLeastOwners || group.size == size_) return in_time_.first;
  const auto counted = [&](Index i) { return owners_[pairs_[i].owner[borrower]].group == most; };
  if (size_ - group.size > kPairsKept / 8) {
    auto i = in_time_.first;
    while (counted(i)) i = pairs_[i].in_time.after;
    return i;
  }
  auto oldest = kNone;  // They are few: it takes less to look at each.
  for (auto g = in_order_.first; g != kNone; g = groups_[g].in_order.after) {
    if (g == most) continue;
    for (auto i = groups_[g].pairs.first; i != kNone; i = pairs_[i].in_group.after)
      if (oldest == kNone || older(i, oldest)) oldest = i;
  }
  return oldest;
}

void PairPrices::add(const PairPrice& known) {
  const auto a = owner_of(known.pair.borrower), b = owner_of(known.pair.lender);
  const auto group = common_group(a, b);
  const auto i = pairs_.add({.known = known, .owner = {a, b}, .next_of_owner = {}});
  for (const auto role : {borrower, lender}) {
    auto& owner = owners_[pairs_[i].owner[role]];
    pairs_[i].next_of_owner[role] = std::exchange(owner.first[role], i);
    ++owner.pairs[role];
    changed(pairs_[i].owner[role]);
  }
  auto& g = groups_[group];
  link(pairs_, &Pair::in_group, g.pairs, i, g.pairs.last);
  ++g.size;
  ++size_;
  into_time(i);
  // It has grown, and the others have not.
  if (largest_ && *largest_ != group && larger(g, groups_[*largest_])) largest_ = group;
}

void PairPrices::remove(Index pair) {
  const auto p = pairs_[pair];
  const auto group = owners_[p.owner[borrower]].group;
  unlink(pairs_, &Pair::in_time, in_time_, pair);
  unlink(pairs_, &Pair::in_group, groups_[group].pairs, pair);
  for (const auto role : {borrower, lender}) {
    auto& owner = owners_[p.owner[role]];
    auto* at = &owner.first[role];
    while (*at != pair) at = &pairs_[*at].next_of_owner[role];
    *at = p.next_of_owner[role];
    --owner.pairs[role];
    changed(p.owner[role]);
  }
  pairs_.drop(pair);
  --size_;
  --groups_[group].size;
  bool both_stay = p.owner[borrower] != p.owner[lender];
  for (const auto role : {borrower, lender}) {
    const auto& owner = owners_[p.owner[role]];
    if (owner.pairs[borrower] + owner.pairs[lender] > 0) continue;
    both_stay = false;
    --groups_[group].owners;
    forget_owner(p.owner[role]);
    if (p.owner[borrower] == p.owner[lender]) break;
  }
  if (both_stay) split(p.owner[borrower], p.owner[lender]);
  // With more than half of all owners it is still the largest.
  if (largest_ == group && 2 * groups_[group].owners <= owner_of_.size()) largest_.reset();
  if (groups_[group].size > 0) return;
  drop_group(group);
}

// The group that both are in, which is made or joined if need be.
PairPrices::Index PairPrices::common_group(Index a, Index b) {
  auto& of_a = owners_[a].group;
  auto& of_b = owners_[b].group;
  if (of_a == kNone && of_b == kNone) {
    of_a = groups_.add({});
    link(groups_, &Group::in_order, in_order_, of_a, kNone);
    ++groups_[of_a].owners;
  }
  if (of_a != kNone && of_b != kNone && of_a != of_b)
    groups_[of_a].size < groups_[of_b].size ? merge(of_a, of_b) : merge(of_b, of_a);
  for (auto* joins : {&of_a, &of_b})
    if (*joins == kNone) ++groups_[*joins = of_a == kNone ? of_b : of_a].owners;
  return of_a;
}

void PairPrices::merge(Index from, Index into) {
  auto& small = groups_[from];
  auto& large = groups_[into];
  for (auto i = small.pairs.first; i != kNone;) {
    for (const auto owner : pairs_[i].owner) {
      owners_[owner].group = into;
      changed(owner);
    }
    const auto next = pairs_[i].in_group.after;
    link(pairs_, &Pair::in_group, large.pairs, i, large.pairs.last);
    i = next;
  }
  large.size += small.size;
  large.owners += small.owners;
  if (largest_ == from) largest_ = into;
  drop_group(from);
}

void PairPrices::drop_group(Index group) {
  unlink(groups_, &Group::in_order, in_order_, group);
  groups_.drop(group);
  if (medians_of_ == group) medians_of_ = kNone;
}

// `a` and `b` were in one group, and a pair of them is gone. Are they still? Searches from both
// sides in turn, so that it takes as long as the smaller part is large.
void PairPrices::split(Index a, Index b) {
  reached_[0].assign(1, a);
  reached_[1].assign(1, b);
  owners_[a].side = 1;
  owners_[b].side = 2;
  std::array<std::size_t, 2> done{};
  std::uint8_t side = 0;
  bool linked = false;
  for (; !linked && done[side] < reached_[side].size(); side ^= 1)
    linked = reach(reached_[side][done[side]++], side);
  for (const auto& owners : reached_)
    for (const auto owner : owners) owners_[owner].side = 0;
  if (!linked) set_apart(reached_[side]);
}

// Goes on from `owner` to all whom it traded with; true: the other side was there.
bool PairPrices::reach(Index owner, std::uint8_t side) {
  for (const auto role : {borrower, lender}) {
    for (auto i = owners_[owner].first[role]; i != kNone; i = pairs_[i].next_of_owner[role]) {
      const auto other = pairs_[i].owner[1 - role];
      if (owners_[other].side == 0) {
        owners_[other].side = static_cast<std::uint8_t>(side + 1);
        reached_[side].push_back(other);
      } else if (owners_[other].side != side + 1) {
        return true;
      }
    }
  }
  return false;
}

// They are a group of their own.
void PairPrices::set_apart(const std::vector<Index>& owners) {
  const auto old = owners_[owners.front()].group;
  const auto fresh = groups_.add({});
  link(groups_, &Group::in_order, in_order_, fresh, kNone);
  auto& from = groups_[old];
  auto& to = groups_[fresh];
  for (const auto owner : owners) {
    owners_[owner].group = fresh;
    changed(owner);
    for (auto i = owners_[owner].first[borrower]; i != kNone;
         i = pairs_[i].next_of_owner[borrower]) {
      unlink(pairs_, &Pair::in_group, from.pairs, i);
      link(pairs_, &Pair::in_group, to.pairs, i, to.pairs.last);
      --from.size;
      ++to.size;
    }
  }
  to.owners = static_cast<std::uint16_t>(owners.size());
  from.owners -= to.owners;
}

AccountId PairPrices::oldest_account(const Group& group) const {
  auto oldest = pairs_[group.pairs.first].known.pair.borrower;
  for (auto i = group.pairs.first; i != kNone; i = pairs_[i].in_group.after) {
    const auto& pair = pairs_[i].known.pair;
    oldest = std::min({oldest, pair.borrower, pair.lender});
  }
  return oldest;
}

bool PairPrices::larger(const Group& a, const Group& b) const {
  return a.owners != b.owners ? a.owners > b.owners : oldest_account(a) < oldest_account(b);
}

// Requires that there is one.
PairPrices::Index PairPrices::largest() const {
  if (largest_) return *largest_;
  auto most = in_order_.first;
  for (auto g = most; g != kNone; g = groups_[g].in_order.after)
    if (g != most && larger(groups_[g], groups_[most])) most = g;
  largest_ = most;
  return most;
}

Credits PairPrices::median_of(const Owner& owner) const {
  std::array<Credits, 2 * kPairsPerOwner> prices;  // Most owners have one or two.
  std::size_t count = 0;
  for (const auto role : {borrower, lender})
    for (auto i = owner.first[role]; i != kNone; i = pairs_[i].next_of_owner[role])
      prices[count++] = pairs_[i].known.price;
  std::sort(prices.begin(), prices.begin() + count);
  return middle_of(std::span(prices).first(count));
}

void PairPrices::drop_median(const Owner& owner) const {
  if (!owner.median) return;
  medians_.erase(std::ranges::lower_bound(medians_, *owner.median));
  owner.median.reset();
}

// Makes medians_ those of the owners of `group` now.
void PairPrices::refresh_medians(Index group) const {
  if (medians_of_ != group) {
    medians_of_ = group;
    medians_.clear();
    for (const auto& owner : owners_.at) owner.median.reset();
    for (Index i = 0; i < owners_.at.size(); ++i)
      if (owners_[i].group == group) changed(i);
  }
  for (const auto i : stale_) {
    const auto& owner = owners_[i];
    owner.stale = false;
    drop_median(owner);
    if (owner.group != group) continue;
    owner.median = median_of(owner);
    medians_.insert(std::ranges::upper_bound(medians_, *owner.median), *owner.median);
  }
  stale_.clear();
}

std::optional<Credits> PairPrices::rate() const {
  if (size_ == 0) return std::nullopt;
  const auto most = largest();
  if (groups_[most].owners < kLeastOwners) return std::nullopt;
  refresh_medians(most);
  return middle_of(medians_);
}

bool PairPrices::counts(AccountId account) const {
  const auto owner = find_owner(account);
  if (owner == kNone) return false;
  const auto most = largest();
  return owners_[owner].group == most && groups_[most].owners >= kLeastOwners;
}

std::vector<PairPrice> PairPrices::list() const {
  std::vector<PairPrice> out;
  out.reserve(size_);
  for (auto i = in_time_.first; i != kNone; i = pairs_[i].in_time.after)
    out.push_back(pairs_[i].known);
  std::ranges::sort(out, {}, &PairPrice::pair);
  return out;
}

bool PairPrices::assign(std::span<const PairPrice> items) {
  if (items.size() > kPairsKept) return false;
  PairPrices made;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& pair = items[i].pair;
    if (!pair.borrower || !pair.lender || (i > 0 && items[i - 1].pair >= pair)) return false;
    made.add(items[i]);
    const auto& p = made.pairs_[static_cast<Index>(i)];
    for (const auto role : {borrower, lender})
      if (made.owners_[p.owner[role]].pairs[role] > kPairsPerOwner) return false;
  }
  *this = std::move(made);
  return true;
}

}  // namespace souk::market
