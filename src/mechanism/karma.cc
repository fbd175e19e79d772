#include "mechanism/karma.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "base/check.h"
#include "mechanism/own_reserve.h"
#include "mechanism/owners.h"
#include "mechanism/params.h"

namespace souk::mechanism {
namespace {

constexpr std::int64_t kTurns = std::int64_t{1} << 22;
constexpr int kSharings = 4;

// A user in one of the queues of a step; the one in front is served next.
struct Waiting {
  std::int64_t karma = 0;
  std::uint32_t user = 0;
};
struct RicherFirst {
  bool operator()(const Waiting& a, const Waiting& b) const {
    return a.karma != b.karma ? a.karma < b.karma : a.user > b.user;
  }
};
struct PoorerFirst {
  bool operator()(const Waiting& a, const Waiting& b) const {
    return a.karma != b.karma ? a.karma > b.karma : a.user > b.user;
  }
};
template <class Order>
using Queue = std::priority_queue<Waiting, std::vector<Waiting>, Order>;

// The slots of one step that are not anybody's own: lent ones, then common ones.
class Pool {
 public:
  Pool(std::int64_t common, std::vector<std::int64_t> lent, std::span<std::int64_t> karma)
      : common_(common), lent_(std::move(lent)), karma_(karma) {
    std::vector<Waiting> lenders;
    for (std::uint32_t i = 0; i < lent_.size(); ++i) {
      if (lent_[i] > 0) lenders.push_back({karma[i], i});
      left_ += lent_[i];
    }
    left_ += common;
    lenders_ = Queue<PoorerFirst>({}, std::move(lenders));
  }

  [[nodiscard]] std::int64_t left() const { return left_; }

  // At most `turn` slots, all from one lender; lenders are paid.
  std::int64_t take(std::int64_t turn) {
    std::int64_t taken = 0;
    if (lenders_.empty()) {
      taken = std::min(turn, common_);
      common_ -= taken;
    } else {
      const auto user = lenders_.top().user;
      lenders_.pop();
      taken = std::min(turn, lent_[user]);
      lent_[user] -= taken;
      karma_[user] = std::min(kMostKarma, karma_[user] + taken * kKarmaPerSlot);
      if (lent_[user] > 0) lenders_.push({karma_[user], user});
    }
    left_ -= taken;
    return taken;
  }

 private:
  std::int64_t common_ = 0, left_ = 0;
  std::vector<std::int64_t> lent_;
  std::span<std::int64_t> karma_;
  Queue<PoorerFirst> lenders_;
};

// An owner of a book, by the number it has in a step.
struct User {
  std::uint64_t id = 0;
  std::span<const std::uint32_t> bids;
};

// Everybody who shares, in order of id.
std::vector<User> users_of(const Book& book, const Owners& owners) {
  std::vector<User> out;
  out.reserve(owners.size() + book.standing.size());
  for (std::size_t i = 0; i < owners.size(); ++i) out.push_back({owners.id(i), owners.bids(i)});
  for (const auto& [id, karma] : book.standing) out.push_back({id, {}});
  // An owner who bids and stands is in there twice; the entry with the bids is kept.
  std::ranges::sort(out, {}, [](const User& u) { return std::pair(u.id, u.bids.empty()); });
  const auto [from, to] = std::ranges::unique(out, {}, &User::id);
  out.erase(from, to);
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

// What everybody would take if it were alone.
std::vector<std::int64_t> demands_of(const Book& book, std::span<const User> users,
                                     const OwnReserve& untouched) {
  std::vector<std::int64_t> out;
  out.reserve(users.size());
  for (const auto& user : users) {
    std::int64_t demand = 0;
    for (const auto i : user.bids)
      if (const auto room = untouched.room(i); room >= least(book.bids[i]))
        demand += std::min<std::int64_t>(room, book.bids[i].units);
    out.push_back(demand);
  }
  return out;
}

std::int64_t slots_within_reach(const Book& book) {
  const auto most = std::ranges::max_element(book.bids, {}, &Bid::limit);
  if (most == book.bids.end()) return 0;
  std::int64_t slots = 0;
  for (const auto& ask : book.asks)
    if (ask.units > 0 && ask.reserve <= most->limit) slots += ask.units;
  return slots;
}

// Gives each user's bids at most its share, and says what each could use.
std::vector<std::int64_t> hand_out(const Book& book, std::span<const User> users,
                                   std::span<const std::int64_t> shares, OwnReserve& slots) {
  std::vector<std::int64_t> used(users.size());
  for (std::size_t user = 0; user < users.size(); ++user)
    for (const auto i : users[user].bids) {
      const auto got = std::min({slots.room(i), shares[user] - used[user],
                                 static_cast<std::int64_t>(book.bids[i].units)});
      if (got < least(book.bids[i])) continue;
      slots.give(i, got);
      used[user] += got;
    }
  return used;
}

}  // namespace

Karma::Karma(std::int64_t alpha_ppm) : alpha_ppm_(alpha_ppm) {
  CHECK(alpha_ppm >= 0 && alpha_ppm <= 1'000'000);
}

std::vector<std::int64_t> Karma::step(std::int64_t slots, std::span<const std::int64_t> demands,
                                      std::span<std::int64_t> karma) const {
  CHECK(slots >= 0 && demands.size() == karma.size());
  const auto users = static_cast<std::int64_t>(demands.size());
  if (users == 0) return {};
  const auto guaranteed = static_cast<std::int64_t>(static_cast<__int128>(slots) * alpha_ppm_ /
                                                    (static_cast<__int128>(1'000'000) * users));
  const auto common = slots - guaranteed * users;
  const auto earned =
      static_cast<std::int64_t>(static_cast<__int128>(common) * kKarmaPerSlot / users);
  std::vector<std::int64_t> got(demands.size()), lent(demands.size());
  for (std::size_t i = 0; i < demands.size(); ++i) {
    CHECK(demands[i] >= 0 && karma[i] >= 0 && karma[i] <= kMostKarma);
    karma[i] = earned > kMostKarma - karma[i] ? kMostKarma : karma[i] + earned;
    got[i] = std::min(demands[i], guaranteed);
    lent[i] = guaranteed - got[i];
  }
  Pool pool(common, std::move(lent), karma);
  std::vector<Waiting> wanting;
  const auto may_borrow = [&](std::size_t i) {
    return got[i] < demands[i] && karma[i] >= kKarmaPerSlot;
  };
  for (std::uint32_t i = 0; i < demands.size(); ++i)
    if (may_borrow(i)) wanting.push_back({karma[i], i});
  Queue<RicherFirst> borrowers({}, std::move(wanting));
  const auto turn = 1 + pool.left() / kTurns;
  while (!borrowers.empty() && pool.left() > 0) {
    const auto user = borrowers.top().user;
    borrowers.pop();
    const auto taken =
        pool.take(std::min({turn, demands[user] - got[user], karma[user] / kKarmaPerSlot}));
    got[user] += taken;
    karma[user] -= taken * kKarmaPerSlot;
    if (may_borrow(user)) borrowers.push({karma[user], user});
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
  const OwnReserve untouched(book);
  auto slots = untouched;
  auto wanted = demands_of(book, users, untouched);
  const auto supply = slots_within_reach(book);
  auto karma = before;
  for (int i = 0; i < kSharings; ++i) {
    karma = before;
    const auto shares = karma_.step(supply, wanted, karma);
    slots = untouched;
    const auto used = hand_out(book, users, shares, slots);
    if (used == shares) break;
    for (std::size_t u = 0; u < users.size(); ++u)
      if (used[u] < shares[u]) wanted[u] = used[u];
    if (i + 1 < kSharings) continue;
    // With no time left to share again, who got something pays for that and no more.
    karma = before;
    CHECK(karma_.step(supply, used, karma) == used);
  }
  Outcome out{.trades = slots.trades()};
  for (std::size_t u = 0; u < users.size(); ++u)
    out.standing.emplace_hint(out.standing.end(), users[u].id, karma[u]);
  return out;
}

base::Result<std::unique_ptr<Mechanism>> make_karma(const Params& params) {
  SOUK_TRY(only_params("karma", params, {"alpha", "credits"}));
  SOUK_ASSIGN(const auto alpha_ppm, fraction_ppm(params, "alpha", 500'000));
  // Karma has six digits after the point too, as credits have.
  SOUK_ASSIGN(const auto credits, price_param(params, "credits"));
  return std::make_unique<KarmaShares>(alpha_ppm,
                                       credits ? credits->micro : 1'000'000 * kKarmaPerSlot);
}

}  // namespace souk::mechanism
