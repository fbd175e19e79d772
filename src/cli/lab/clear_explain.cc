#include "cli/lab/clear_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/text.h"
#include "cli/shell/human.h"
#include "lab/report/choices.h"
#include "mechanism/auction/sides.h"

namespace souk::cli {
namespace {

using base::Credits;
using lab::NamedBook;
using mechanism::Outcome;
using mechanism::Side;

constexpr std::size_t kMostListed = 24;  // Names in one sentence.

class Explanation {
 public:
  Explanation(const NamedBook& book, const Outcome& outcome, std::string_view rule)
      : named_(book), book_(book.book), outcome_(outcome), rule_(rule) {
    count_trades();
    if (book_.items.empty()) {
      explain_sides();
      explain_crossing();
    } else {
      explain_goods();
    }
    explain_rule();
    explain_draws();
    explain_left_out();
    explain_promises();
  }

  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    lines_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  static std::string listed(std::span<const std::string> items) {
    const auto shown = std::min(items.size(), kMostListed);
    auto out = base::join(items.first(shown), ", ");
    if (shown < items.size()) out += fmt::format(" and {} more", items.size() - shown);
    return items.empty() ? "nobody" : out;
  }

  void count_trades() {
    bought_.resize(book_.bids.size());
    sold_.resize(book_.asks.size());
    for (const auto& t : outcome_.trades) {
      bought_[t.bid] += t.units;
      sold_[t.ask] += t.units;
    }
    for (const auto& award : outcome_.awards) bought_[award.bid] = book_.bids[award.bid].units;
  }

  std::string bid_text(const mechanism::Lot& lot) const {
    const auto gang = book_.bids[lot.index].gang;
    return fmt::format("{} {}{}{}", named_.bids[lot.index], to_string(lot.price),
                       lot.units > 1 ? fmt::format(" x{}", lot.units) : "",
                       gang > 1 ? fmt::format(" (gangs of {})", gang) : "");
  }
  std::string ask_text(const mechanism::Lot& lot) const {
    return fmt::format("{} {}{}", named_.asks[lot.index], to_string(lot.price),
                       lot.units > 1 ? fmt::format(" x{}", lot.units) : "");
  }

  void explain_sides() {
    std::vector<std::string> buyers, sellers;
    for (const auto& lot : mechanism::bids_by_limit(book_)) buyers.push_back(bid_text(lot));
    for (const auto& lot : mechanism::asks_by_reserve(book_)) sellers.push_back(ask_text(lot));
    say("Buyers, highest limit per unit first: {}.", listed(buyers));
    say("Sellers, lowest reserve per unit first: {}.", listed(sellers));
  }

  void explain_crossing() {
    const auto c = mechanism::cross(book_);
    for (const auto& lot : c.bids) could_trade_.insert({Side::buyers, lot.index});
    auto left = c.units;
    for (const auto& lot : c.asks) {
      if (left <= 0) break;
      could_trade_.insert({Side::sellers, lot.index});
      left -= lot.units;
    }
    const auto next = [](const std::optional<Credits>& price) {
      return price ? to_string(*price) : std::string("none");
    };
    if (c.units == 0) {
      say("They do not cross, k = 0: no buyer bids as much as a seller asks.");
      return;
    }
    say("They cross at k = {}: the last unit that can trade is wanted at b_k = {} and offered at "
        "s_k = {}; the next ones are b_(k+1) = {} and s_(k+1) = {}.",
        c.units, to_string(c.last_bid), to_string(c.last_ask), next(c.next_bid), next(c.next_ask));
    say("So any price from lo = {} to hi = {} would suit all who trade and nobody else.",
        to_string(c.low()), to_string(c.high()));
  }

  std::string bundle_text(std::uint32_t bid) const {
    std::string out;
    for (const auto item : book_.bundles[bid])
      out += (out.empty() ? "" : " and ") + book_.items[item];
    return out;
  }

  void explain_goods() {
    std::vector<std::uint32_t> order(book_.bids.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](auto i) { return std::pair(-book_.bids[i].limit, i); });
    std::vector<std::string> buyers;
    for (const auto i : order)
      buyers.push_back(fmt::format("{} {} for {}", named_.bids[i], to_string(book_.bids[i].limit),
                                   bundle_text(i)));
    say("There is one each of {}.", listed(book_.items));
    say("Buyers, highest limit first: {}.", listed(buyers));
  }

  void explain_rule() {
    if (const auto info = mechanism::find(rule_))
      say("The mechanism, {}: {}", rule_, (*info)->summary);
    if (outcome_.trades.empty() && outcome_.awards.empty()) {
      say("Nothing trades.");
    } else if (const auto price = lab::uniform_price(outcome_)) {
      say("Everybody who trades pays or gets {} per unit.", to_string(*price));
    } else if (outcome_.awards.empty()) {
      say("Buyers pay {} and sellers get {} per unit.", range(&mechanism::Trade::pays),
          range(&mechanism::Trade::gets));
    }
    for (const auto& award : outcome_.awards)
      say("{} gets {} and pays {}.", named_.bids[award.bid], bundle_text(award.bid),
          to_string(award.pays));
  }

  void explain_promises() {
    for (const auto& m : lab::mechanism_choices().items)
      if (m.name == rule_)
        say("What the mechanism promises: {}.", wire::properties_text(m.properties));
  }

  std::string range(Credits mechanism::Trade::* price) const {
    const auto [low, high] = std::ranges::minmax_element(outcome_.trades, {}, price);
    const auto from = *low.*price, to = *high.*price;
    return from == to ? to_string(from) : fmt::format("{} to {}", to_string(from), to_string(to));
  }

  void explain_draws() {
    for (const auto& draw : outcome_.lotteries) {
      std::vector<std::string> names;
      for (const auto index : draw.from) {
        names.push_back(name(draw.side, index));
        drawn_.insert({draw.side, index});
      }
      say("A draw gave {} of {} of the {}: {}.", draw.units, wanted(draw), noun(draw.side),
          listed(names));
    }
    for (const auto& fee : outcome_.fees)
      say("{} pays a fee of {}.", name(fee.side, fee.index), to_string(fee.amount));
  }

  std::string wanted(const mechanism::Lottery& draw) const {
    std::int64_t units = 0;
    for (const auto index : draw.from)
      units += draw.side == Side::buyers ? book_.bids[index].units : book_.asks[index].units;
    return plural(units, "unit");
  }

  void explain_left_out() {
    const auto first = lines_.size();
    explain_bids_left_out();
    explain_asks_left_out();
    if (lines_.size() - first <= kMostListed) return;
    const auto more = lines_.size() - first - kMostListed;
    lines_.resize(first + kMostListed);
    say("And so on, for {} more.", more);
  }

  void explain_bids_left_out() {
    const auto price = lab::uniform_price(outcome_);
    for (std::uint32_t i = 0; i < book_.bids.size(); ++i) {
      const auto& bid = book_.bids[i];
      if (bought_[i] > 0 && bought_[i] < bid.units)
        say("{} gets {} of the {} units it wants.", named_.bids[i], bought_[i], bid.units);
      if (bought_[i] > 0) continue;
      if (!book_.items.empty())
        say("{} gets nothing: {}.", named_.bids[i], rival(i));
      else if (price && bid.limit < *price)
        say("{} is left out: it bids {}, less than the price.", named_.bids[i],
            to_string(bid.limit));
      else
        say("{} is left out: {}.", named_.bids[i],
            why_not({Side::buyers, i}, bid.gang > 1 ? "too few units were left for its gang"
                                                    : "no seller who takes its limit was left"));
    }
  }

  void explain_asks_left_out() {
    const auto price = lab::uniform_price(outcome_);
    for (std::uint32_t i = 0; i < book_.asks.size(); ++i) {
      const auto& ask = book_.asks[i];
      if (sold_[i] > 0 && sold_[i] < ask.units)
        say("{} sells {} of its {} units.", named_.asks[i], sold_[i], ask.units);
      if (sold_[i] > 0) continue;
      if (price && ask.reserve > *price)
        say("{} is left out: it asks {}, more than the price.", named_.asks[i],
            to_string(ask.reserve));
      else
        say("{} is left out: {}.", named_.asks[i],
            why_not({Side::sellers, i}, "no buyer who pays its reserve was left"));
    }
  }

  using Who = std::pair<Side, std::uint32_t>;

  std::string why_not(const Who& who, std::string_view otherwise) const {
    if (drawn_.contains(who)) return "it was not drawn";
    if (could_trade_.contains(who))
      return "it is among the k that could trade, but the mechanism gives up its place";
    return std::string(otherwise);
  }

  // Who has what the bid wanted.
  std::string rival(std::uint32_t bid) const {
    for (const auto& award : outcome_.awards)
      for (const auto item : book_.bundles[bid])
        if (std::ranges::find(book_.bundles[award.bid], item) != book_.bundles[award.bid].end())
          return fmt::format("{} has {}", named_.bids[award.bid], book_.items[item]);
    return "the mechanism leaves it out";
  }

  const std::string& name(Side side, std::uint32_t index) const {
    return side == Side::buyers ? named_.bids[index] : named_.asks[index];
  }
  static const char* noun(Side side) { return side == Side::buyers ? "buyers" : "sellers"; }

  const NamedBook& named_;
  const mechanism::Book& book_;
  const Outcome& outcome_;
  const std::string_view rule_;
  std::vector<std::int64_t> bought_, sold_;
  std::set<Who> could_trade_;  // In the exchange with the largest gain.
  std::set<Who> drawn_;        // For, whether they won or not.
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> explanation(const NamedBook& book, const Outcome& outcome,
                                     std::string_view rule) {
  return Explanation(book, outcome, rule).lines();
}

}  // namespace souk::cli
