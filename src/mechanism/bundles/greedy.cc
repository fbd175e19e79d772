#include "mechanism/bundles/greedy.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "mechanism/auction/power.h"
#include "mechanism/bundles/bundles.h"

namespace souk::mechanism {
namespace {

constexpr std::string_view kGreedy = "greedy";

// |bundle|^l for each bid, in units of 2^-32.
std::vector<std::uint64_t> weights(const Book& book, std::int64_t l_ppm) {
  std::vector<std::uint64_t> out;
  out.reserve(book.bundles.size());
  for (const auto& bundle : book.bundles) {
    const auto log = static_cast<__int128>(log2_of(bundle.size())) * l_ppm / 1'000'000;
    out.push_back(times_exp2(std::uint64_t{1} << 32, static_cast<Log2>(log)));
  }
  return out;
}

// Bids by limit / weight, highest first, then by position. Compared crosswise: nothing is divided.
std::vector<std::uint32_t> ranked(const Book& book, const std::vector<std::uint64_t>& weight) {
  std::vector<std::uint32_t> order(book.bids.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](auto a, auto b) {
    const auto one = static_cast<__int128>(book.bids[a].limit.micro) * weight[b];
    const auto other = static_cast<__int128>(book.bids[b].limit.micro) * weight[a];
    return one != other ? one > other : a < b;
  });
  return order;
}

using GoodsTaken = std::vector<bool>;  // For each good.

bool free_of(const GoodsTaken& taken, const std::vector<std::uint32_t>& bundle) {
  return std::ranges::none_of(bundle, [&](auto item) { return taken[item]; });
}

void take(GoodsTaken& taken, const std::vector<std::uint32_t>& bundle) {
  for (const auto item : bundle) taken[item] = true;
}

// The first bid of `after` that wins now, if goods are `taken`, and wants something of `bundle`.
std::optional<std::uint32_t> rival(const Book& book, std::span<const std::uint32_t> after,
                                   GoodsTaken taken, const std::vector<std::uint32_t>& bundle) {
  GoodsTaken own(book.items.size());
  take(own, bundle);
  for (const auto i : after) {
    if (!free_of(taken, book.bundles[i])) continue;
    if (!free_of(own, book.bundles[i])) return i;
    take(taken, book.bundles[i]);
  }
  return std::nullopt;
}

}  // namespace

Greedy::Greedy(std::int64_t l_ppm) : l_ppm_(l_ppm) { CHECK(l_ppm >= 0 && l_ppm <= 1'000'000); }

base::Result<> Greedy::accepts(const Book& book) const {
  return accepts_bundles(kGreedy, book, kMostBids, kMostItems);
}

base::Result<> Greedy::fit_for_live() const { return bundles_are_not_live(kGreedy); }

Outcome Greedy::clear(const Book& book, base::Random&) const {
  CHECK(accepts(book));
  const auto weight = weights(book, l_ppm_);
  const auto order = ranked(book, weight);
  GoodsTaken taken(book.items.size());
  Outcome out;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const auto i = order[at];
    if (!free_of(taken, book.bundles[i])) continue;
    Award award{i, {}};
    if (const auto next = rival(book, std::span(order).subspan(at + 1), taken, book.bundles[i]))
      award.pays = Credits(static_cast<std::int64_t>(
          static_cast<__int128>(book.bids[*next].limit.micro) * weight[i] / weight[*next]));
    out.awards.push_back(award);
    take(taken, book.bundles[i]);
  }
  std::ranges::sort(out.awards, {}, &Award::bid);
  return out;
}

base::Result<std::unique_ptr<Mechanism>> make_greedy(const base::Arguments& given) {
  return std::make_unique<Greedy>(given.micro("l"));
}

}  // namespace souk::mechanism
