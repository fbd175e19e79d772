#include "mechanism/sharing/karma.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "mechanism/sharing/own_reserve.h"
#include "mechanism/sharing/owners.h"

namespace souk::mechanism {
namespace {

constexpr int kSharings = 4;

// Many users who each have something to hand in, one piece after the other: the next piece of a
// user is always worth a slot's karma less than the one before.
struct Pieces {
  std::vector<std::int64_t> worth;  // Of each user's first piece.
  std::vector<std::int64_t> count;  // How many it has.
};

// How many pieces worth more than `level` a user has.
std::int64_t above(const Pieces& pieces, std::size_t user, std::int64_t level) {
  const auto over = pieces.worth[user] - level;
  if (over <= 0) return 0;
  return std::min(pieces.count[user], (over - 1) / kKarmaPerSlot + 1);
}

// Takes the `n` pieces that are worth most, ties in order of users, and says how many of each. What
// picking them one by one would give, but in time that does not depend on `n`.
std::vector<std::int64_t> best_pieces(const Pieces& pieces, std::int64_t n) {
  __int128 total = 0;
  for (const auto count : pieces.count) total += count;
  if (total <= n) return pieces.count;
  const auto taken_above = [&](std::int64_t level) {
    __int128 sum = 0;
    for (std::size_t i = 0; i < pieces.count.size(); ++i) sum += above(pieces, i, level);
    return sum;
  };
  // The lowest level above which there are no more than n: all there is above it goes.
  const auto [least, most] = std::ranges::minmax(pieces.worth);
  auto high = most, low = least;
  for (std::size_t i = 0; i < pieces.count.size(); ++i)
    low = std::min(low, pieces.worth[i] - pieces.count[i] * kKarmaPerSlot);
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (taken_above(middle) <= n)
      high = middle;
    else
      low = middle + 1;
  }
  std::vector<std::int64_t> taken(pieces.count.size());
  for (std::size_t i = 0; i < taken.size(); ++i) n -= taken[i] = above(pieces, i, low);
  // Of the pieces on the level, the first users' go.
  for (std::size_t i = 0; i < taken.size() && n > 0; ++i)
    if (taken[i] < pieces.count[i] && pieces.worth[i] - taken[i] * kKarmaPerSlot == low) {
      ++taken[i];
      --n;
    }
  return taken;
}

// An owner of a book, by the number it has in a step.
struct User {
  std::uint64_t id = 0;
  std::span<const std::uint32_t> bids;
};

// Everybody who shares, in order of id: owners and standing are both in that order.
std::vector<User> users_of(const Book& book, const Owners& owners) {
  std::vector<User> out;
  out.reserve(owners.size() + book.standing.size());
  std::size_t i = 0;
  const auto add_owners_up_to = [&](std::uint64_t id) {
    for (; i < owners.size() && owners.id(i) <= id; ++i)
      out.push_back({owners.id(i), owners.bids(i)});
  };
  for (const auto& [id, karma] : book.standing) {
    add_owners_up_to(id);
    if (out.empty() || out.back().id != id) out.push_back({id, {}});
  }
  add_owners_up_to(std::numeric_limits<std::uint64_t>::max());
  return out;
}

std::vector<std::int64_t> karma_of(const Book& book, std::span<const User> users,
                                   std::int64_t initial) {
  __int128 sum = 0;
  for (const auto& [id, karma] : book.standing) sum += karma;
  if (!book.standing.empty())
    initial = static_cast<std::int64_t>(sum / static_cast<__int128>(book.standing.size()));
  std::vector<std::int64_t> out;
  out.reserve(users.size());
  auto at = book.standing.begin();  // Users are in order of id, as the standing is.
  for (const auto& user : users) {
    while (at != book.standing.end() && at->first < user.id) ++at;
    const bool stands = at != book.standing.end() && at->first == user.id;
    out.push_back(stands ? at->second : initial);
  }
  return out;
}

// What each bid could use of what its owner may get: all it wants, at first, and less once it was
// seen that there are no slots for it.
class Uses {
 public:
  Uses(const Book& book, std::span<const User> users)
      : book_(book),
        users_(users),
        bids_(bids_lowest_first(book)),
        asks_(asks_by_reserve(book)),
        most_(within_limits(book, bids_, asks_)),
        assigned_(book.bids.size()) {
    if (!bids_.empty()) supply_ = std::min(kMostKarmaSlots, most_[bids_.back().index]);
    for (std::size_t i = 0; i < most_.size(); ++i) {
      most_[i] = std::min<std::int64_t>(most_[i], book.bids[i].units);
      if (most_[i] < least(book.bids[i])) most_[i] = 0;
    }
  }

  // The slots that the highest limit accepts.
  [[nodiscard]] std::int64_t supply() const { return supply_; }
  // For each user.
  [[nodiscard]] std::vector<std::int64_t> demands() const { return by_user(most_); }

  // Hands each user's share to its bids, and them what there is. Says what each user could use, and
  // remembers it for the next demands().
  std::vector<std::int64_t> hand_out(std::span<const std::int64_t> shares) {
    for (std::size_t user = 0; user < users_.size(); ++user) {
      auto left = shares[user];
      for (const auto i : users_[user].bids) {
        const auto got = std::min(left, most_[i]);
        assigned_[i] = got < least(book_.bids[i]) ? 0 : got;
        left -= assigned_[i];
      }
      if (left > 0)
        for (const auto i : users_[user].bids) most_[i] = assigned_[i];
    }
    served_ = serve_lowest_first(book_, bids_, asks_, assigned_);
    std::vector<std::int64_t> used(book_.bids.size());
    for (const auto& bid : served_) used[bid.index] = bid.units;
    for (std::size_t i = 0; i < used.size(); ++i)
      if (used[i] < assigned_[i]) most_[i] = used[i];
    return by_user(used);
  }

  // What was handed out last.
  [[nodiscard]] std::vector<Trade> trades() const {
    return pair_up_at_reserve(book_, served_, asks_);
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> by_user(const std::vector<std::int64_t>& units) const {
    std::vector<std::int64_t> out;
    out.reserve(users_.size());
    for (const auto& user : users_) {
      std::int64_t sum = 0;
      for (const auto i : user.bids) sum += units[i];
      out.push_back(sum);
    }
    return out;
  }

  const Book& book_;
  std::span<const User> users_;
  Lots bids_, asks_, served_;
  std::vector<std::int64_t> most_, assigned_;  // For each bid.
  std::int64_t supply_ = 0;
};

}  // namespace

Karma::Karma(std::int64_t alpha_ppm) : alpha_ppm_(alpha_ppm) {
  CHECK(alpha_ppm >= 0 && alpha_ppm <= 1'000'000);
}

std::vector<std::int64_t> Karma::step(std::int64_t slots, std::span<const std::int64_t> demands,
                                      std::span<std::int64_t> karma) const {
  CHECK(slots >= 0 && slots <= kMostKarmaSlots && demands.size() == karma.size());
  const auto users = static_cast<std::int64_t>(demands.size());
  if (users == 0) return {};
  const auto guaranteed = static_cast<std::int64_t>(static_cast<__int128>(slots) * alpha_ppm_ /
                                                    (static_cast<__int128>(1'000'000) * users));
  const auto common = slots - guaranteed * users;
  const auto earned =
      static_cast<std::int64_t>(static_cast<__int128>(common) * kKarmaPerSlot / users);
  std::vector<std::int64_t> got(demands.size());
  // The richest borrows next, and is then poorer by a slot's worth. The poorest lends next, and is
  // then richer: with the sign turned the same order.
  Pieces wanted, lent;
  __int128 can_borrow = 0, can_lend = 0;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    CHECK(demands[i] >= 0 && karma[i] >= 0 && karma[i] <= kMostKarma);
    karma[i] = earned > kMostKarma - karma[i] ? kMostKarma : karma[i] + earned;
    got[i] = std::min(demands[i], guaranteed);
    wanted.worth.push_back(karma[i]);
    wanted.count.push_back(std::min(demands[i] - got[i], karma[i] / kKarmaPerSlot));
    lent.worth.push_back(-karma[i]);
    lent.count.push_back(guaranteed - got[i]);
    can_borrow += wanted.count.back();
    can_lend += lent.count.back();
  }
  const auto borrowed = static_cast<std::int64_t>(std::min(can_borrow, can_lend + common));
  const auto taken = best_pieces(wanted, borrowed), given = best_pieces(lent, borrowed);
  for (std::size_t i = 0; i < demands.size(); ++i) {
    got[i] += taken[i];
    karma[i] = std::min(kMostKarma, karma[i] + (given[i] - taken[i]) * kKarmaPerSlot);
  }
  return got;
}

KarmaShares::KarmaShares(std::int64_t alpha_ppm, std::int64_t initial_karma)
    : karma_(alpha_ppm), initial_(initial_karma) {
  CHECK(initial_karma >= 0 && initial_karma <= kMostKarma);
}

base::Result<> KarmaShares::accepts(const Book& book) const {
  SOUK_TRY(Mechanism::accepts(book));
  for (const auto& [id, karma] : book.standing)
    if (karma < 0 || karma > kMostKarma)
      return base::fail(base::Code::invalid, fmt::format("owner {} stands at {}", id, karma),
                        fmt::format("karma is in millionths of a slot, from 0 to {}", kMostKarma),
                        "standing");
  return {};
}

Outcome KarmaShares::clear(const Book& book, base::Random&) const {
  const Owners owners(book);
  const auto users = users_of(book, owners);
  const auto before = karma_of(book, users, initial_);
  Uses uses(book, users);
  auto karma = before;
  for (int i = 0; i < kSharings; ++i) {
    karma = before;
    const auto shares = karma_.step(uses.supply(), uses.demands(), karma);
    const auto used = uses.hand_out(shares);
    if (used == shares) break;
    if (i + 1 < kSharings) continue;
    // With no time left to share again, who got something pays for that and no more.
    karma = before;
    CHECK(karma_.step(uses.supply(), used, karma) == used);
  }
  Outcome out{.trades = uses.trades()};
  for (std::size_t u = 0; u < users.size(); ++u)
    out.standing.emplace_hint(out.standing.end(), users[u].id, karma[u]);
  return out;
}

base::Result<std::unique_ptr<Mechanism>> make_karma(const base::Arguments& given) {
  static_assert(kKarmaPerSlot == 1'000'000, "so that millionths of a slot are karma");
  return std::make_unique<KarmaShares>(given.micro("alpha"), given.micro("credits"));
}

}  // namespace souk::mechanism
