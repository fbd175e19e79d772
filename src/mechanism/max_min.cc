#include "mechanism/max_min.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "mechanism/own_reserve.h"
#include "mechanism/owners.h"
#include "mechanism/params.h"

namespace souk::mechanism {
namespace {

constexpr std::int64_t kTurns = std::int64_t{1} << 22;

// Who is next: whoever would hold the fewest slots after its turn.
struct Turn {
  std::int64_t then = 0;  // Slots held after it.
  std::uint32_t who = 0;

  auto operator<=>(const Turn&) const = default;
};

// One owner's bids that may still get something, as a heap with the next one in front.
class Share {
 public:
  Share(const Book& book, std::span<const std::uint32_t> bids) {
    turns_.reserve(bids.size());
    for (const auto i : bids) turns_.push_back({least(book.bids[i]), i});
    std::ranges::make_heap(turns_, std::greater{});
  }

  [[nodiscard]] bool wants() const { return !turns_.empty(); }
  // What this owner would hold after the turn of its next bid.
  [[nodiscard]] std::int64_t then(const OwnReserve& slots) const {
    return held_ + turns_.front().then - slots.given(turns_.front().who);
  }

  // Its next bid takes its turn of at most `turn` slots, more if it must be whole.
  void take(const Book& book, OwnReserve& slots, std::int64_t turn) {
    std::ranges::pop_heap(turns_, std::greater{});
    auto& next = turns_.back();
    const auto& bid = book.bids[next.who];
    const auto before = slots.given(next.who);
    const auto needs = before == 0 ? least(bid) : 1;
    const auto got =
        std::min({slots.room(next.who), bid.units - before, std::max<std::int64_t>(needs, turn)});
    if (got >= needs) {
      slots.give(next.who, got);
      held_ += got;
    }
    // Room never grows again, so a bid that finds none is done.
    if (got < needs || before + got == bid.units) {
      turns_.pop_back();
      return;
    }
    next.then = before + got + 1;
    std::ranges::push_heap(turns_, std::greater{});
  }

 private:
  std::vector<Turn> turns_;  // `who` is a bid.
  std::int64_t held_ = 0;
};

std::int64_t slots_per_turn(const Book& book) {
  std::int64_t wanted = 0, offered = 0;
  for (const auto& bid : book.bids) wanted += std::max(bid.units, 0);
  for (const auto& ask : book.asks) offered += std::max(ask.units, 0);
  return 1 + std::min(wanted, offered) / kTurns;
}

}  // namespace

Outcome MaxMin::clear(const Book& book, base::Random&) const {
  OwnReserve slots(book);
  const Owners owners(book);
  const auto turn = slots_per_turn(book);
  std::vector<Share> shares;
  std::vector<Turn> turns;
  shares.reserve(owners.size());
  turns.reserve(owners.size());
  for (std::uint32_t i = 0; i < owners.size(); ++i) {
    shares.emplace_back(book, owners.bids(i));
    turns.push_back({shares[i].then(slots), i});
  }
  std::priority_queue next(std::greater<Turn>{}, std::move(turns));
  while (!next.empty()) {
    const auto who = next.top().who;
    next.pop();
    auto& share = shares[who];
    share.take(book, slots, turn);
    if (share.wants()) next.push({share.then(slots), who});
  }
  return {slots.trades(), std::nullopt};
}

base::Result<std::unique_ptr<Mechanism>> make_max_min(const Params& params) {
  SOUK_TRY(only_params("max-min", params, {}));
  return std::make_unique<MaxMin>();
}

}  // namespace souk::mechanism
