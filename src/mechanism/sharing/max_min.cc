#include "mechanism/sharing/max_min.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "mechanism/sharing/own_reserve.h"
#include "mechanism/sharing/owners.h"

namespace souk::mechanism {
namespace {

constexpr std::int64_t kMostTurns = std::int64_t{1} << 22;

// A turn of an owner or of a bid; the lowest is next.
struct Turn {
  std::int64_t then = 0;  // Slots held after it.
  std::uint32_t who = 0;

  auto operator<=>(const Turn&) const = default;
};
using Turns = std::vector<Turn>;

// One owner's bids that may still get something, as a heap with the next one in front.
class Share {
 public:
  Share(const Book& book, std::span<const std::uint32_t> bids, std::span<Turn> turns)
      : turns_(turns) {
    for (std::size_t i = 0; i < bids.size(); ++i) turns[i] = {least(book.bids[bids[i]]), bids[i]};
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
    const auto most = std::min(bid.units - before, std::max<std::int64_t>(needs, turn));
    const auto got = slots.give(next.who, needs, most);
    held_ += got;
    // Slots never come back, so a bid that finds too few is done.
    if (got == 0 || before + got == bid.units) {
      turns_ = turns_.first(turns_.size() - 1);
      return;
    }
    next.then = before + got + 1;
    std::ranges::push_heap(turns_, std::greater{});
  }

 private:
  std::span<Turn> turns_;  // `who` is a bid.
  std::int64_t held_ = 0;
};

// Turns in order. Owners take theirs in turn and are mostly one slot on afterwards, so that turns
// nearly always join behind the last one: such runs cost nothing to sort, a heap has the others.
class Line {
 public:
  [[nodiscard]] bool empty() const { return now_.empty() && next_.empty() && others_.empty(); }

  void push(Turn turn) {
    if (next_.turns.empty() || next_.turns.back() < turn)
      next_.turns.push_back(turn);
    else
      others_.push(turn);
  }

  // Requires that it is not empty.
  std::uint32_t pop() {
    if (now_.empty()) {
      now_.turns.clear();
      now_.at = 0;
      std::swap(now_, next_);
    }
    Run* best = now_.empty() ? nullptr : &now_;
    if (!next_.empty() && (!best || next_.front() < best->front())) best = &next_;
    if (best && (others_.empty() || best->front() < others_.top()))
      return best->turns[best->at++].who;
    const auto who = others_.top().who;
    others_.pop();
    return who;
  }

 private:
  struct Run {
    Turns turns;
    std::size_t at = 0;  // Those before are done.
    [[nodiscard]] bool empty() const { return at == turns.size(); }
    [[nodiscard]] const Turn& front() const { return turns[at]; }
  };
  Run now_, next_;
  std::priority_queue<Turn, Turns, std::greater<>> others_;
};

// The owners in order of their first bids.
std::vector<std::uint32_t> in_line(const Book& book, const Owners& owners) {
  constexpr auto kNobody = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> whose(book.bids.size(), kNobody), out;
  for (std::uint32_t i = 0; i < owners.size(); ++i) whose[owners.bids(i).front()] = i;
  out.reserve(owners.size());
  for (const auto owner : whose)
    if (owner != kNobody) out.push_back(owner);
  return out;
}

std::int64_t slots_per_turn(const Book& book) {
  std::int64_t wanted = 0, offered = 0;
  for (const auto& bid : book.bids) wanted += std::max(bid.units, 0);
  for (const auto& ask : book.asks) offered += std::max(ask.units, 0);
  return 1 + std::min(wanted, offered) / kMostTurns;
}

}  // namespace

Outcome MaxMin::clear(const Book& book, base::Random&) const {
  OwnReserve slots(book);
  const Owners owners(book);
  const auto turn = slots_per_turn(book);
  Turns turns(book.bids.size());  // Of bids: each share has its part, in line.
  auto rest = std::span(turns);
  std::vector<Share> shares;
  shares.reserve(owners.size());
  Line line;
  for (const auto owner : in_line(book, owners)) {
    const auto bids = owners.bids(owner);
    shares.emplace_back(book, bids, rest.first(bids.size()));
    rest = rest.subspan(bids.size());
    line.push({shares.back().then(slots), static_cast<std::uint32_t>(shares.size() - 1)});
  }
  while (!line.empty()) {
    const auto who = line.pop();
    auto& share = shares[who];
    share.take(book, slots, turn);
    if (share.wants()) line.push({share.then(slots), who});
  }
  return {slots.trades(), std::nullopt};
}

}  // namespace souk::mechanism
