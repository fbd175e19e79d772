#include "mechanism/own_reserve.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace souk::mechanism {

std::vector<Trade> pair_up_at_reserve(const Book& book, std::span<const Lot> bids,
                                      std::span<const Lot> asks) {
  auto trades = pair_up(bids, asks, {}, {});
  for (auto& t : trades) t.pays = t.gets = book.asks[t.ask].reserve;
  return trades;
}

OwnReserve::Node OwnReserve::join(const Node& left, const Node& right) {
  return {left.sum + right.sum, std::min(left.least, left.sum + right.least)};
}

OwnReserve::OwnReserve(const Book& book)
    : book_(&book),
      bids_(bids_by_limit(book)),
      asks_(asks_by_reserve(book)),
      accepts_(book.bids.size()),
      given_(book.bids.size()) {
  std::vector<std::int64_t> offered;  // At each distinct reserve.
  std::size_t at = 0;
  const auto next_reserve = [&] {
    const auto reserve = asks_[at].price;
    offered.push_back(0);
    for (; at < asks_.size() && asks_[at].price == reserve; ++at) offered.back() += asks_[at].units;
  };
  for (auto i = bids_.size(); i-- > 0;) {
    while (at < asks_.size() && asks_[at].price <= bids_[i].price) next_reserve();
    accepts_[bids_[i].index] = static_cast<std::uint32_t>(offered.size());
  }
  leaves_ = std::bit_ceil(std::max<std::size_t>(offered.size(), 1));
  tree_.resize(2 * leaves_);
  for (std::size_t i = 0; i < offered.size(); ++i) tree_[leaves_ + i] = {offered[i], offered[i]};
  for (auto i = leaves_; i-- > 1;) tree_[i] = join(tree_[2 * i], tree_[2 * i + 1]);
}

std::int64_t OwnReserve::room(std::size_t bid) const {
  if (accepts_[bid] == 0) return 0;
  // The least sum of a beginning that includes the dearest reserve the bid accepts.
  auto node = leaves_ + accepts_[bid] - 1;
  auto least = tree_[node].sum;
  for (; node > 1; node /= 2) {
    if (node % 2 == 1)
      least += tree_[node - 1].sum;
    else
      least = std::min(least, tree_[node].sum + tree_[node + 1].least);
  }
  return std::max<std::int64_t>(least, 0);
}

void OwnReserve::give(std::size_t bid, std::int64_t units) {
  CHECK(units > 0 && accepts_[bid] > 0);
  given_[bid] += units;
  CHECK(given_[bid] <= book_->bids[bid].units);
  auto node = leaves_ + accepts_[bid] - 1;
  tree_[node].sum -= units;
  tree_[node].least = tree_[node].sum;
  for (node /= 2; node > 0; node /= 2) tree_[node] = join(tree_[2 * node], tree_[2 * node + 1]);
}

std::vector<Trade> OwnReserve::trades() const {
  Lots served;
  for (auto end = bids_.size(); end > 0;) {
    auto first = end - 1;  // Of the bids with this limit: among equals the earlier one goes first.
    while (first > 0 && bids_[first - 1].price == bids_[end - 1].price) --first;
    for (auto i = first; i < end; ++i)
      if (const auto units = given_[bids_[i].index]; units > 0)
        served.push_back({bids_[i].price, bids_[i].index, static_cast<std::int32_t>(units)});
    end = first;
  }
  return pair_up_at_reserve(*book_, served, asks_);
}

}  // namespace souk::mechanism
