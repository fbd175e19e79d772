#include "server/routes/book_view.h"

#include <functional>
#include <map>
#include <utility>

namespace souk::server {
namespace {

void add_level(std::vector<wire::BookLevel>& levels, const wire::BookLevel& level) {
  if (levels.size() < kBookLevels)
    levels.push_back(level);
  else
    levels.back().slots += level.slots;
}

// Cheapest first; at price 0 those that take any price before those that ask for nothing.
std::vector<wire::BookLevel> asks_of(const market::State& s, const market::SlotClass& c,
                                     base::Time now) {
  std::map<std::pair<base::Credits, bool>, std::int64_t> at;
  for (const auto& row : s.index.classes[c.id.value - 1].supply) {
    if (!row.usable || row.free <= 0 || row.paused_until > now) continue;
    const auto& offer = s.offers.at(row.offer);
    const auto& open = market::opening_of(row, offer, now);
    if (open && open->contains(now)) at[{row.reserve, offer.terms.reserve.has_value()}] += row.free;
  }
  std::vector<wire::BookLevel> out;
  for (const auto& [key, slots] : at)
    add_level(out, {.price = key.first, .slots = slots, .market = !key.second});
  return out;
}

}  // namespace

wire::Book book_view(const market::State& s, const market::SlotClass& c, base::Time now) {
  wire::Book out{.class_ = c.name,
                 .at = now,
                 .suggested = s.suggested(c.id, now, now),
                 .last = s.prices[c.id.value - 1].last(),
                 .asks = asks_of(s, c, now)};
  std::map<base::Credits, std::int64_t, std::greater<>> wanted;
  for (const auto& [key, slots] : s.index.wanted_at(c.id)) wanted[key.first] += slots;
  for (const auto& [price, slots] : wanted)
    if (slots > 0) add_level(out.bids, {.price = price, .slots = slots});
  return out;
}

}  // namespace souk::server
