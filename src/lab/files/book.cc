#include "lab/files/book.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/check.h"
#include "base/fields.h"
#include "base/text.h"
#include "mechanism/auction/sides.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using base::Code;
using base::Credits;
using base::fail;
using base::Result;
using mechanism::Half;
using mechanism::Side;

SOUK_ENUM(SplitSide, left, right)

// The forms in which these things stand in a file.
struct BidForm {
  std::string id;
  Credits price;
  std::optional<std::int32_t> units, gang;
  std::optional<std::string> owner;
  std::optional<SplitSide> side;
  std::optional<std::vector<std::string>> bundle;
  std::optional<std::map<std::string, double>> rates;
  std::optional<double> steps, done, elapsed, slo;
  SOUK_FIELDS(BidForm, id, price, units, gang, owner, side, bundle, rates, steps, done, elapsed,
              slo)
};
struct AskForm {
  std::string id;
  Credits price;
  std::optional<std::int32_t> units, rank;
  std::optional<SplitSide> side;
  SOUK_FIELDS(AskForm, id, price, units, rank, side)
};
struct BookForm {
  std::optional<std::string> class_;
  std::optional<Credits> reference;
  std::vector<BidForm> bids;
  std::vector<AskForm> asks;
  std::vector<std::string> items;
  std::optional<std::vector<std::vector<std::int64_t>>> quanta;
  std::optional<std::int64_t> initial_credits, slices;
  SOUK_FIELDS(BookForm, class_, reference, bids, asks, items, quanta, initial_credits, slices)
};
struct LineForm {  // What another program is told.
  std::optional<std::string> class_;
  std::optional<Credits> reference;
  std::uint64_t seed = 0;
  std::vector<BidForm> bids;
  std::vector<AskForm> asks;
  SOUK_FIELDS(LineForm, class_, reference, seed, bids, asks)
};
struct TradeForm {
  std::string bid, ask;
  std::optional<std::int32_t> units;
  Credits pays, gets;
  SOUK_FIELDS(TradeForm, bid, ask, units, pays, gets)
};
struct AwardForm {
  std::string bid;
  std::vector<std::string> items;
  std::int32_t units = 1;
  Credits pays, gets;
  SOUK_FIELDS(AwardForm, bid, items, units, pays, gets)
};
struct AnswerForm {
  std::optional<std::vector<TradeForm>> trades;
  SOUK_FIELDS(AnswerForm, trades)
};
struct LotteryForm {
  std::string side;
  std::int64_t winners = 0;
  std::vector<std::string> of;
  SOUK_FIELDS(LotteryForm, side, winners, of)
};
struct OutcomeForm {
  std::string mechanism;
  std::uint64_t seed = 0;
  wire::AnyJson trades;
  Credits gain, platform, buyers_pay, sellers_get;
  std::optional<Credits> price;
  wire::AnyJson lottery;
  std::map<std::string, Credits> fees;
  SOUK_FIELDS(OutcomeForm, mechanism, seed, trades, gain, platform, buyers_pay, sellers_get, price,
              lottery, fees)
};

base::Failure bad(std::string field, std::string complaint, std::string hint) {
  auto message = fmt::format("{}: {}", field, complaint);
  return fail(Code::invalid, std::move(message), std::move(hint), std::move(field));
}

std::string quoted(std::string_view name) { return "'" + wire::printable_key(name) + "'"; }

Half half_of(SplitSide side) { return side == SplitSide::left ? Half::left : Half::right; }

// Turns one form into a book, order by order.
class BookReader {
 public:
  explicit BookReader(const BookForm& form) : form_(form) {}

  Result<NamedBook> read() {
    if (form_.initial_credits || form_.slices)
      return fail(Code::invalid, "initial_credits and slices belong to a book of quanta",
                  "add \"quanta\":[[4,1,1],[0,3,0]], or leave them out", "quanta");
    if (form_.bids.size() > kMostOrders || form_.asks.size() > kMostOrders ||
        form_.items.size() > kMostOrders)
      return fail(Code::too_large, "the book is too long",
                  fmt::format("at most {} bids, asks and items", kMostOrders));
    SOUK_TRY(read_head());
    for (std::size_t i = 0; i < form_.bids.size(); ++i)
      SOUK_TRY(read_bid(form_.bids[i], fmt::format("bids[{}]", i)));
    for (std::size_t i = 0; i < form_.asks.size(); ++i)
      SOUK_TRY(read_ask(form_.asks[i], fmt::format("asks[{}]", i)));
    SOUK_TRY(read_works());
    SOUK_TRY(read_rates());
    SOUK_TRY(check_whole());
    return std::move(out_);
  }

 private:
  Result<> read_head() {
    out_.slot_class = form_.class_.value_or("");
    if (form_.reference) {
      SOUK_TRY(check_price(*form_.reference, "reference"));
      out_.book.reference = *form_.reference;
      out_.has_reference = true;
    }
    for (std::size_t i = 0; i < form_.items.size(); ++i) {
      const auto& item = form_.items[i];
      if (!items_.emplace(item, static_cast<std::uint32_t>(i)).second)
        return bad(fmt::format("items[{}]", i), fmt::format("{} is there twice", quoted(item)),
                   "each item is one thing and needs a name of its own");
    }
    out_.book.items = form_.items;
    return {};
  }

  Result<> read_bid(const BidForm& form, const std::string& at) {
    SOUK_TRY(check_order(form.id, form.price, at));
    const auto gang = form.gang.value_or(1);
    if (gang < 1 || gang > kMostUnits)
      return bad(at + ".gang", fmt::format("{} is out of range", gang),
                 fmt::format("write a whole number from 1 to {}", kMostUnits));
    const auto units = form.units.value_or(gang);
    SOUK_TRY(check_units(units, at));
    const auto slots = units < gang ? std::int64_t{units} * gang : units;
    if (slots > kMostUnits)
      return bad(at + ".units", fmt::format("{} gangs of {} are {} slots", units, gang, slots),
                 fmt::format("at most {} slots", kMostUnits));
    SOUK_TRY(read_side(form.side, out_.book.bid_halves, out_.book.bids.size(), at));
    SOUK_TRY(read_bundle(form, at));
    out_.book.bids.push_back({.id = out_.book.bids.size(),
                              .limit = Credits(form.price.micro / gang),
                              .units = static_cast<std::int32_t>(slots),
                              .gang = gang,
                              .owner = owner_of(form)});
    out_.bids.push_back(form.id);
    return {};
  }

  Result<> read_ask(const AskForm& form, const std::string& at) {
    SOUK_TRY(check_order(form.id, form.price, at));
    const auto units = form.units.value_or(1);
    SOUK_TRY(check_units(units, at));
    SOUK_TRY(read_side(form.side, out_.book.ask_halves, out_.book.asks.size(), at));
    out_.book.asks.push_back({.id = out_.book.asks.size(),
                              .reserve = form.price,
                              .units = units,
                              .rank = form.rank.value_or(0)});
    out_.asks.push_back(form.id);
    return {};
  }

  Result<> check_order(const std::string& id, Credits price, const std::string& at) {
    if (id.empty()) return bad(at + ".id", "it is empty", "give it a name, such as \"b1\"");
    if (!ids_.insert(id).second)
      return bad(at + ".id", fmt::format("{} is there twice", quoted(id)),
                 "every bid and every ask needs an id of its own");
    return check_price(price, at + ".price");
  }

  static Result<> check_price(Credits price, const std::string& field) {
    if (price < Credits())
      return bad(field, fmt::format("{} is negative", to_string(price)),
                 "write a price of zero or more credits");
    return {};
  }

  static Result<> check_units(std::int32_t units, const std::string& at) {
    if (units < 1 || units > kMostUnits)
      return bad(at + ".units", fmt::format("{} is out of range", units),
                 fmt::format("write a whole number from 1 to {}", kMostUnits));
    return {};
  }

  // A split is given for everybody or for nobody.
  static Result<> read_side(std::optional<SplitSide> side, std::vector<Half>& halves,
                            std::size_t before, const std::string& at) {
    if (side.has_value() != (halves.size() == before) && before > 0)
      return bad(
          at + ".side",
          side ? "those before it have no side" : "it is missing, but those before it have one",
          "write \"side\":\"left\" or \"side\":\"right\" on every bid and ask, or on none");
    if (side) halves.push_back(half_of(*side));
    return {};
  }

  Result<> read_bundle(const BidForm& form, const std::string& at) {
    const bool wanted = !form_.items.empty();
    if (!form.bundle && !wanted) return {};
    if (!form.bundle)
      return bad(at + ".bundle", "it is missing, and the book has items",
                 "write \"bundle\":[...], the items that it wants, all or none");
    if (!wanted)
      return bad(at + ".bundle", "the book has no items", "write \"items\":[...] in the book");
    if (form.gang || form.units.value_or(1) != 1)
      return bad(at, "a bid for a bundle has neither a gang nor units", "leave them out");
    std::set<std::uint32_t> items;
    for (const auto& name : *form.bundle) {
      const auto it = items_.find(name);
      if (it == items_.end()) {
        const std::vector<std::string_view> known(form_.items.begin(), form_.items.end());
        return bad(at + ".bundle", fmt::format("{} is not an item of the book", quoted(name)),
                   base::suggest(name, known));
      }
      if (!items.insert(it->second).second)
        return bad(at + ".bundle", fmt::format("{} is there twice", quoted(name)),
                   "there is one of each item");
    }
    if (items.empty())
      return bad(at + ".bundle", "it is empty", "name the items that the bid wants");
    out_.book.bundles.emplace_back(items.begin(), items.end());
    return {};
  }

  static Result<> check_measure(double number, const std::string& field) {
    if (number >= 0 && number <= kMostMeasure) return {};
    return bad(field, fmt::format("{} is out of range", number),
               fmt::format("write a number from 0 to {}", kMostMeasure));
  }

  // What is known of one bid's work is there for all of them, as unknown.
  Result<> read_works() {
    const auto known = [](const BidForm& f) { return f.steps || f.done || f.elapsed || f.slo; };
    if (std::ranges::none_of(form_.bids, known)) return {};
    for (std::size_t i = 0; i < form_.bids.size(); ++i) {
      const auto& form = form_.bids[i];
      const mechanism::JobProgress work{.steps = form.steps.value_or(0),
                                        .done = form.done.value_or(0),
                                        .elapsed_s = form.elapsed.value_or(0),
                                        .slo_s = form.slo.value_or(0)};
      SOUK_TRY(check_measure(work.steps, fmt::format("bids[{}].steps", i)));
      SOUK_TRY(check_measure(work.done, fmt::format("bids[{}].done", i)));
      SOUK_TRY(check_measure(work.elapsed_s, fmt::format("bids[{}].elapsed", i)));
      SOUK_TRY(check_measure(work.slo_s, fmt::format("bids[{}].slo", i)));
      out_.book.works.push_back(work);
    }
    return {};
  }

  Result<> read_rates() {
    if (std::ranges::none_of(form_.bids, [](const BidForm& f) { return f.rates.has_value(); }))
      return {};
    const auto asks = out_.asks.size();
    if (asks > 0 && form_.bids.size() > kMostRates / asks)
      return fail(Code::too_large,
                  fmt::format("{} bids on {} asks have too many rates", form_.bids.size(), asks),
                  fmt::format("bids times asks may be {} in a book with rates", kMostRates),
                  "rates");
    const std::vector<std::string_view> names(out_.asks.begin(), out_.asks.end());
    std::map<std::string_view, std::size_t> places;
    for (std::size_t a = 0; a < asks; ++a) places.emplace(names[a], a);
    for (std::size_t i = 0; i < form_.bids.size(); ++i) {
      const auto& rates = form_.bids[i].rates;
      const auto row = out_.book.rates.size();
      out_.book.rates.resize(row + asks, rates ? 0 : 1);
      if (!rates) continue;
      for (const auto& [ask, rate] : *rates) {
        const auto field = fmt::format("bids[{}].rates", i);
        const auto at = places.find(ask);
        if (at == places.end())
          return bad(field, fmt::format("{} is not an ask of the book", quoted(ask)),
                     base::suggest(ask, names));
        SOUK_TRY(check_measure(rate, field));
        out_.book.rates[row + at->second] = rate;
      }
    }
    return {};
  }

  // A bid that names no owner is somebody of its own.
  std::uint64_t owner_of(const BidForm& form) {
    if (!form.owner) return ++owners_;
    auto& owner = named_owners_[*form.owner];
    if (owner == 0) owner = ++owners_;
    return owner;
  }

  Result<> check_whole() const {
    const auto& book = out_.book;
    if (!book.items.empty() && !book.asks.empty())
      return fail(Code::invalid, "a book with items has no asks", "leave the asks out", "asks");
    if (!book.asks.empty() && !book.bids.empty() &&
        book.bid_halves.empty() != book.ask_halves.empty())
      return bad(book.bid_halves.empty() ? "bids" : "asks", "they have no side, the others have",
                 "write \"side\" on every bid and ask, or on none");
    __int128 wanted = 0, offered = 0;
    for (const auto& bid : book.bids) wanted += static_cast<__int128>(bid.limit.micro) * bid.units;
    for (const auto& ask : book.asks)
      offered += static_cast<__int128>(ask.reserve.micro) * ask.units;
    if (std::max(wanted, offered) > kMostWorth.micro)
      return fail(
          Code::too_large,
          fmt::format("all the {} together are worth too much",
                      wanted > kMostWorth.micro ? "bids" : "asks"),
          fmt::format("prices times units may add up to {} credits", to_string(kMostWorth)));
    return {};
  }

  const BookForm& form_;
  NamedBook out_;
  std::set<std::string, std::less<>> ids_;
  std::map<std::string, std::uint32_t, std::less<>> items_;
  std::map<std::string, std::uint64_t, std::less<>> named_owners_;
  std::uint64_t owners_ = 0;
};

Result<Quanta> read_quanta(const BookForm& form) {
  if (!form.bids.empty() || !form.asks.empty() || !form.items.empty())
    return fail(Code::invalid, "a book of quanta has no bids, asks and items",
                "leave them or the quanta out", "quanta");
  const auto within = [](std::optional<std::int64_t> n, const char* name) -> Result<std::int64_t> {
    if (!n)
      return fail(Code::invalid, fmt::format("missing key '{}'", name),
                  "a book of quanta needs quanta, initial_credits and slices", name);
    if (*n < 0 || *n > kMostSlices)
      return bad(name, fmt::format("{} is out of range", *n),
                 fmt::format("write a whole number from 0 to {}", kMostSlices));
    return *n;
  };
  Quanta out{.demands = *form.quanta};
  SOUK_ASSIGN(out.initial_credits, within(form.initial_credits, "initial_credits"));
  SOUK_ASSIGN(out.slices, within(form.slices, "slices"));
  if (out.demands.empty() || out.demands.front().empty())
    return bad("quanta", "there are none", "write what each user wants: [[4,1,1],[0,3,0]]");
  if (out.demands.size() > kMostOrders / out.demands.front().size())
    return fail(Code::too_large, "the book has too many quanta",
                fmt::format("at most {} demands in all", kMostOrders), "quanta");
  for (std::size_t i = 0; i < out.demands.size(); ++i) {
    const auto at = fmt::format("quanta[{}]", i);
    if (out.demands[i].size() != out.demands.front().size())
      return bad(at,
                 fmt::format("it has {} users, the first quantum has {}", out.demands[i].size(),
                             out.demands.front().size()),
                 "write one demand for each user, 0 for none");
    for (std::size_t user = 0; user < out.demands[i].size(); ++user)
      SOUK_TRY(within(out.demands[i][user], fmt::format("{}[{}]", at, user).c_str()));
  }
  return out;
}

using Names = std::map<std::string_view, std::uint32_t>;

Names positions(const std::vector<std::string>& names) {
  Names out;
  for (std::size_t i = 0; i < names.size(); ++i) out.emplace(names[i], i);
  return out;
}

Result<std::uint32_t> position(const Names& names, const std::string& name, std::string field,
                               const char* what) {
  if (const auto it = names.find(name); it != names.end()) return it->second;
  return bad(std::move(field), fmt::format("the book has no {} {}", what, quoted(name)),
             "use the ids of the book");
}

Result<mechanism::Trade> read_trade(const NamedBook& book, const Names& bids, const Names& asks,
                                    const TradeForm& form, const std::string& at) {
  mechanism::Trade out{.units = form.units.value_or(1), .pays = form.pays, .gets = form.gets};
  SOUK_ASSIGN(out.bid, position(bids, form.bid, at + ".bid", "bid"));
  SOUK_ASSIGN(out.ask, position(asks, form.ask, at + ".ask", "ask"));
  const auto limit = book.book.bids[out.bid].limit;
  const auto reserve = book.book.asks[out.ask].reserve;
  if (out.units < 1)
    return bad(at + ".units", fmt::format("{} is out of range", out.units), "trade 1 or more");
  if (out.pays > limit)
    return bad(at + ".pays",
               fmt::format("{} would pay {}, above its limit of {} per slot", quoted(form.bid),
                           to_string(out.pays), to_string(limit)),
               "nobody pays more than it bid");
  if (out.gets < reserve)
    return bad(at + ".gets",
               fmt::format("{} would get {}, below its reserve of {} per slot", quoted(form.ask),
                           to_string(out.gets), to_string(reserve)),
               "nobody gets less than it asked");
  return out;
}

// What mechanism::verify() says of units too, by name.
Result<> check_amounts(const NamedBook& book, const mechanism::Outcome& out) {
  std::vector<std::int64_t> bought(book.bids.size()), sold(book.asks.size());
  for (const auto& t : out.trades) {
    bought[t.bid] += t.units;
    sold[t.ask] += t.units;
  }
  for (std::size_t i = 0; i < bought.size(); ++i) {
    const auto& bid = book.book.bids[i];
    if (bought[i] > bid.units)
      return bad("trades", fmt::format("{} gets {} slots", quoted(book.bids[i]), bought[i]),
                 fmt::format("it wants {}", bid.units));
    if (bought[i] > 0 && bought[i] < bid.gang)
      return bad("trades", fmt::format("{} gets {} slots", quoted(book.bids[i]), bought[i]),
                 fmt::format("it wants {} or none", bid.gang));
  }
  for (std::size_t i = 0; i < sold.size(); ++i)
    if (sold[i] > book.book.asks[i].units)
      return bad("trades", fmt::format("{} sells {} slots", quoted(book.asks[i]), sold[i]),
                 fmt::format("it has {}", book.book.asks[i].units));
  return {};
}

std::string trades_json(const NamedBook& book, const mechanism::Outcome& outcome) {
  if (!outcome.awards.empty()) {
    std::vector<AwardForm> awards;
    for (const auto& award : outcome.awards) {
      AwardForm form{.bid = book.bids[award.bid], .pays = award.pays};
      for (const auto item : book.book.bundles[award.bid])
        form.items.push_back(book.book.items[item]);
      awards.push_back(std::move(form));
    }
    return wire::to_json(awards);
  }
  std::vector<TradeForm> trades;
  for (const auto& t : outcome.trades)
    trades.push_back({book.bids[t.bid], book.asks[t.ask], t.units, t.pays, t.gets});
  return wire::to_json(trades);
}

const std::string& name_of(const NamedBook& book, Side side, std::uint32_t index) {
  return side == Side::buyers ? book.bids[index] : book.asks[index];
}

std::string lottery_json(const NamedBook& book, const mechanism::Outcome& outcome) {
  std::vector<LotteryForm> draws;
  for (const auto& draw : outcome.lotteries) {
    LotteryForm form{draw.side == Side::buyers ? "buyers" : "sellers", draw.units};
    for (const auto index : draw.from) form.of.push_back(name_of(book, draw.side, index));
    draws.push_back(std::move(form));
  }
  if (draws.empty()) return "{}";
  return draws.size() == 1 ? wire::to_json(draws.front()) : wire::to_json(draws);
}

// What was measured of a bid's job; what is not known or not possible is left out.
void tell_measured(const NamedBook& named, std::size_t bid, BidForm& form) {
  const auto& book = named.book;
  if (!book.rates.empty()) {
    auto& rates = form.rates.emplace();
    for (std::size_t a = 0; a < book.asks.size(); ++a)
      if (const auto rate = book.rates[bid * book.asks.size() + a];
          rate > 0 && book.asks[a].units > 0)
        rates.emplace(named.asks[a], rate);
  }
  if (book.works.empty()) return;
  const auto tell = [](std::optional<double>& field, double number) {
    if (number > 0) field = number;
  };
  tell(form.steps, book.works[bid].steps);
  tell(form.done, book.works[bid].done);
  tell(form.elapsed, book.works[bid].elapsed_s);
  tell(form.slo, book.works[bid].slo_s);
}

}  // namespace

Result<std::variant<NamedBook, Quanta>> read_book(std::string_view text) {
  SOUK_ASSIGN(const auto form, wire::from_json<BookForm>(text));
  if (form.quanta) {
    SOUK_ASSIGN(auto quanta, read_quanta(form));
    return quanta;
  }
  SOUK_ASSIGN(auto book, BookReader(form).read());
  return book;
}

NamedBook with_names(mechanism::Book book) {
  NamedBook out{.has_reference = true};
  for (std::size_t i = 1; i <= book.bids.size(); ++i) out.bids.push_back(fmt::format("b{}", i));
  for (std::size_t i = 1; i <= book.asks.size(); ++i) out.asks.push_back(fmt::format("s{}", i));
  out.book = std::move(book);
  return out;
}

std::string book_line(const NamedBook& named, std::uint64_t seed) {
  const auto& book = named.book;
  LineForm line{.seed = seed};
  if (!named.slot_class.empty()) line.class_ = named.slot_class;
  if (named.has_reference) line.reference = book.reference;
  line.bids.reserve(book.bids.size());
  for (std::size_t i = 0; i < book.bids.size(); ++i) {
    const auto& bid = book.bids[i];
    const auto gang = mechanism::least(bid);
    if (bid.units < gang) continue;
    // Capped where no reader would take it: a program that is told less of a limit stays below it.
    const auto price =
        std::min<__int128>(static_cast<__int128>(bid.limit.micro) * gang, base::kMostCredits.micro);
    BidForm form{named.bids[i], Credits(static_cast<std::int64_t>(price)), bid.units};
    if (gang > 1) form.gang = gang;
    if (bid.owner != 0) form.owner = std::to_string(bid.owner);
    tell_measured(named, i, form);
    line.bids.push_back(std::move(form));
  }
  line.asks.reserve(book.asks.size());
  for (std::size_t i = 0; i < book.asks.size(); ++i) {
    const auto& ask = book.asks[i];
    if (ask.units < 1) continue;
    AskForm form{named.asks[i], ask.reserve, ask.units};
    if (ask.rank != 0) form.rank = ask.rank;
    line.asks.push_back(std::move(form));
  }
  return wire::to_json(line);
}

Result<mechanism::Outcome> read_outcome(const NamedBook& book, std::string_view text) {
  SOUK_ASSIGN(const auto form, wire::from_json<AnswerForm>(text));
  if (!form.trades)
    return fail(Code::invalid, "missing key 'trades'", "write {\"trades\":[]} for none", "trades");
  const auto bids = positions(book.bids), asks = positions(book.asks);
  mechanism::Outcome out;
  out.trades.reserve(form.trades->size());
  for (std::size_t i = 0; i < form.trades->size(); ++i) {
    SOUK_ASSIGN(const auto trade,
                read_trade(book, bids, asks, (*form.trades)[i], fmt::format("trades[{}]", i)));
    out.trades.push_back(trade);
  }
  const auto pair_of = [](const mechanism::Trade& t) { return std::pair(t.bid, t.ask); };
  std::ranges::sort(out.trades, {}, pair_of);
  if (const auto twin = std::ranges::adjacent_find(out.trades, {}, pair_of);
      twin != out.trades.end())
    return bad("trades",
               fmt::format("{} and {} trade twice", quoted(book.bids[twin->bid]),
                           quoted(book.asks[twin->ask])),
               "write each pair once, with all its units");
  SOUK_TRY(check_amounts(book, out));
  out.price = uniform_price(out);
  return out;
}

std::optional<Credits> uniform_price(const mechanism::Outcome& outcome) {
  if (outcome.price || outcome.trades.empty()) return outcome.price;
  const auto price = outcome.trades.front().pays;
  const bool same = std::ranges::all_of(
      outcome.trades, [&](const auto& t) { return t.pays == price && t.gets == price; });
  return same ? std::optional(price) : std::nullopt;
}

std::string outcome_json(const Clearing& clearing, const NamedBook& book,
                         const mechanism::Outcome& outcome) {
  const auto totals = mechanism::totals(book.book, outcome);
  OutcomeForm form{.mechanism = std::string(clearing.mechanism),
                   .seed = clearing.seed,
                   .trades = {trades_json(book, outcome)},
                   .gain = totals.gain,
                   .platform = totals.platform(),
                   .buyers_pay = totals.buyers_pay,
                   .sellers_get = totals.sellers_get,
                   .price = uniform_price(outcome),
                   .lottery = {lottery_json(book, outcome)}};
  for (const auto& fee : outcome.fees) form.fees[name_of(book, fee.side, fee.index)] = fee.amount;
  return wire::to_json(form);
}

Credits largest_gain(const mechanism::Book& book) {
  CHECK(book.items.empty());
  return mechanism::benchmark(mechanism::cross(book)).gain;
}

}  // namespace souk::lab
