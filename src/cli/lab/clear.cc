#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <variant>

#include "cli/commands/commands.h"
#include "cli/lab/clear_explain.h"
#include "cli/shell/choices.h"
#include "cli/shell/human.h"
#include "lab/files/book.h"
#include "lab/report/choices.h"
#include "lab/worlds/external.h"
#include "mechanism/mechanism.h"
#include "mechanism/sharing/karma.h"
#include "wire/api/mechanism.h"
#include "wire/json.h"

// One clearing of a book from a file: what a mechanism does to whom, before a market runs on it.
// Needs no server.

namespace souk::cli {
namespace {

using base::Credits;
using lab::NamedBook;
using mechanism::Outcome;

constexpr std::size_t kMostBook = 256 << 20;  // Bytes of a file.
constexpr auto kExternal = "external";

struct Clear {
  std::string mechanism;
  std::string book;
  std::uint64_t seed = 1;
  std::map<std::string, std::string> params;
  bool explain = false;
  bool list = false;

  [[nodiscard]] mechanism::Params rule_params() const { return {params.begin(), params.end()}; }
};

// --- The book ---------------------------------------------------------------------------------

Result<std::string> text_in(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  auto& in = path == "-" ? std::cin : file;
  if (!in)
    return failed(fmt::format("cannot read the book '{}'", path),
                  "--book takes a file with JSON, or - for what comes in");
  std::string text;
  for (char piece[65536]; in.read(piece, sizeof piece) || in.gcount() > 0;) {
    text.append(piece, static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMostBook)
      return failed(fmt::format("the book '{}' is too large", path),
                    "at most " + bytes_text(kMostBook));
  }
  if (in.bad()) return failed(fmt::format("cannot read all of the book '{}'", path));
  return text;
}

Result<std::variant<NamedBook, lab::Quanta>> book_in(const std::string& path) {
  SOUK_ASSIGN(const auto text, text_in(path));
  SOUK_ASSIGN(auto book, base::located(lab::read_book(text), path == "-" ? "the book" : path));
  return book;
}

// --- Clearing ---------------------------------------------------------------------------------

// Rules whose price comes from outside the book would otherwise trade at nothing.
Result<> needs_reference(const Clear& o, const NamedBook& book) {
  const auto* own = o.mechanism == "posted" ? "price" : o.mechanism == "tpd" ? "r" : nullptr;
  if (own == nullptr || book.has_reference || o.params.contains(own)) return {};
  return usage(
      fmt::format("{} needs a price from outside, and the book suggests none", o.mechanism),
      fmt::format("give --param {}=8, or add \"reference\":8 to the book", own));
}

Result<Outcome> outcome_of(const Clear& o, const NamedBook& book) {
  const auto params = o.rule_params();
  Outcome out;
  if (o.mechanism == kExternal) {
    SOUK_ASSIGN(const auto program, lab::make_external(params));
    SOUK_TRY(program->accepts(book.book));
    SOUK_ASSIGN(out, program->ask(book, o.seed));
  } else {
    SOUK_ASSIGN(const auto rule, mechanism::make(o.mechanism, params));
    SOUK_TRY(needs_reference(o, book));
    SOUK_TRY(rule->accepts(book.book));
    base::Random random(o.seed);
    out = rule->clear(book.book, random);
  }
  SOUK_TRY(mechanism::verify(book.book, out));
  return out;
}

// The largest gain the book has in it, and whether there may be more.
struct Best {
  Credits gain;
  bool or_more = false;
};

Best best_of(const mechanism::Book& book) {
  const bool gangs = std::ranges::any_of(book.bids, [](const auto& b) { return b.gang > 1; });
  if (book.items.empty()) return {lab::largest_gain(book), gangs};
  const auto exact = mechanism::make("vcg-combinatorial");
  if (!exact || !(*exact)->accepts(book)) return {Credits(), true};
  base::Random random(1);
  return {mechanism::totals(book, (*exact)->clear(book, random)).gain};
}

// --- Showing ----------------------------------------------------------------------------------

void show_trades(const Context& c, const NamedBook& book, const Outcome& outcome) {
  using enum Column::Align;
  if (!outcome.awards.empty()) {
    Table table({{"bid"}, {"items", left, 8}, {"pays", right}});
    for (const auto& award : outcome.awards) {
      std::vector<std::string> items;
      for (const auto item : book.book.bundles[award.bid]) items.push_back(book.book.items[item]);
      table.add({book.bids[award.bid], base::join(items, " "), to_string(award.pays)});
    }
    return c.print(table);
  }
  if (outcome.trades.empty()) return c.print("nothing trades\n");
  Table table({{"bid"}, {"ask"}, {"units", right}, {"pays", right}, {"gets", right}});
  for (const auto& t : outcome.trades)
    table.add({book.bids[t.bid], book.asks[t.ask], std::to_string(t.units), to_string(t.pays),
               to_string(t.gets)});
  c.print(table);
}

std::string lost_text(const mechanism::Book& book, Credits gain) {
  const auto best = best_of(book);
  auto out = fmt::format("gain from trade {}", to_string(gain));
  if (best.or_more && best.gain <= gain) return out;
  out += fmt::format(" of {} possible", to_string(best.gain));
  if (best.gain <= gain) return out + ", nothing is lost";
  const auto lost = best.gain - gain;
  return out +
         fmt::format(", {} ({:.1f}%) is lost", to_string(lost),
                     100 * static_cast<double>(lost.micro) / static_cast<double>(best.gain.micro));
}

void show_outcome(const Context& c, const Clear& o, const NamedBook& book, const Outcome& outcome) {
  show_trades(c, book, outcome);
  const auto totals = mechanism::totals(book.book, outcome);
  const auto platform = totals.platform();
  c.print(fmt::format("{}{}: buyers pay {}, sellers get {}, the platform {} {}\n{}\n", o.mechanism,
                      book.slot_class.empty() ? "" : " in " + printable(book.slot_class),
                      to_string(totals.buyers_pay), to_string(totals.sellers_get),
                      platform < Credits() ? "adds" : "keeps",
                      to_string(platform < Credits() ? -platform : platform),
                      lost_text(book.book, totals.gain)));
}

Result<> clear_book(Context& c, const Clear& o, const NamedBook& book) {
  if (o.mechanism == "primal-dual" && !book.has_reference && !o.params.contains("high"))
    c.note("souk: the book suggests no price (\"reference\"), so this one hardly rises above 0");
  SOUK_ASSIGN(const auto outcome, outcome_of(o, book));
  std::vector<std::string> why;
  if (o.explain) why = explanation(book, outcome, o.mechanism);
  if (c.json()) {
    auto json = lab::outcome_json({o.mechanism, o.seed}, book, outcome);
    if (o.explain) {
      json.pop_back();
      json += ",\"explanation\":" + wire::to_json(why) + "}";
    }
    return c.print_json(json);
  }
  show_outcome(c, o, book, outcome);
  if (!why.empty()) c.print("\n");
  for (const auto& line : why) c.print(wrapped(printable(line), 0, text_width(c.out())) + "\n");
  return {};
}

// --- Karma ------------------------------------------------------------------------------------

struct Shares {
  std::string mechanism;
  std::uint64_t seed = 0;
  std::vector<std::vector<std::int64_t>> allocations;  // Per quantum, per user.
  std::vector<std::vector<Credits>> credits;           // After each quantum.
  SOUK_FIELDS(Shares, mechanism, seed, allocations, credits)
};

Result<Shares> shares_of(const Clear& o, const lab::Quanta& book) {
  const auto params = o.rule_params();
  // What owners begin with stands in the file of quanta.
  SOUK_ASSIGN(const auto* info, mechanism::find(o.mechanism));
  const base::ParameterList alpha{
      *std::ranges::find(info->parameters, std::string_view("alpha"), &base::Parameter::name)};
  SOUK_ASSIGN(const auto given, base::Arguments::read("karma by quanta", alpha, params));
  const mechanism::Karma rule(given.micro("alpha"));
  Shares out{.mechanism = o.mechanism, .seed = o.seed};
  std::vector<std::int64_t> karma(book.demands.front().size(),
                                  book.initial_credits * mechanism::kKarmaPerSlot);
  for (const auto& demands : book.demands) {
    out.allocations.push_back(rule.step(book.slices, demands, karma));
    // Karma has as many digits after the point as money.
    static_assert(mechanism::kKarmaPerSlot == 1'000'000);
    auto& credits = out.credits.emplace_back();
    for (const auto k : karma) credits.emplace_back(k);
  }
  return out;
}

template <class T>
std::string row_text(const std::vector<T>& row) {
  std::vector<std::string> texts;
  for (const auto& n : row) {
    if constexpr (std::is_same_v<T, Credits>)
      texts.push_back(to_string(n));
    else
      texts.push_back(std::to_string(n));
  }
  return base::join(texts, " ");
}

Result<> clear_quanta(const Context& c, const Clear& o, const lab::Quanta& book) {
  if (o.mechanism != "karma")
    return usage(fmt::format("{} takes bids and asks, not quanta", o.mechanism),
                 "karma shares by quanta");
  SOUK_ASSIGN(const auto shares, shares_of(o, book));
  if (c.json()) return c.print_json(wire::to_json(shares));
  Table table({{"quantum", Column::Align::right}, {"want"}, {"get"}, {"credits then"}});
  for (std::size_t i = 0; i < book.demands.size(); ++i)
    table.add({std::to_string(i + 1), row_text(book.demands[i]), row_text(shares.allocations[i]),
               row_text(shares.credits[i])});
  c.print(table);
  if (o.explain)
    c.print(wrapped(fmt::format("Of {} slices for {} users a fixed part of each fair share is "
                                "guaranteed. Whoever wants less lends and earns a credit for each "
                                "slice that is borrowed; whoever wants more borrows, the richest "
                                "first, for a credit each. The slices that nobody is guaranteed "
                                "are everybody's, and so are the credits for them.",
                                book.slices, book.demands.front().size()),
                    0, text_width(c.out())) +
            "\n");
  return {};
}

Result<> list_mechanisms(const Context& c) {
  const auto list = lab::mechanism_choices();
  if (c.json()) return c.print_json(wire::to_json(list));
  show_mechanisms(c, list);
  c.note("and external: a program of yours (--param program='python3 rule.py')");
  return {};
}

Result<> clear(Context& c, const Clear& o) {
  if (o.list) return list_mechanisms(c);
  if (o.mechanism.empty())
    return usage("`souk clear` needs a --mechanism", "`souk clear --list` names them");
  if (o.book.empty())
    return usage("`souk clear` needs a --book", "a file with JSON, or - for what comes in");
  SOUK_ASSIGN(const auto book, book_in(o.book));
  if (const auto* quanta = std::get_if<lab::Quanta>(&book)) return clear_quanta(c, o, *quanta);
  return clear_book(c, o, std::get<NamedBook>(book));
}

}  // namespace

Command clear_command() {
  auto o = std::make_shared<Clear>();
  Command out{.name = "clear",
              .summary = "clear one book from a file with any mechanism",
              .examples = {"clear --list", "clear --mechanism mcafee --book book.json --explain",
                           "clear --mechanism tpd --param r=7 --book book.json --json",
                           "clear --mechanism external --param program='python3 "
                           "examples/mechanisms/mcafee.py' --book book.json"},
              .common = Common::local};
  out.options = {flag("--mechanism NAME", "the mechanism, or `external`", o->mechanism),
                 flag("--book FILE", "the bids and asks, as JSON; - for stdin", o->book),
                 flag("--seed N", "for draws; default 1", o->seed),
                 flag("--param KEY=VALUE", "a parameter of the mechanism", o->params),
                 flag("--explain", "say how the prices came about", o->explain),
                 flag("--list", "the mechanisms, their properties and parameters", o->list)};
  out.details =
      "The book: {\"bids\":[{\"id\":\"b1\",\"price\":17,\"units\":1}],"
      "\"asks\":[{\"id\":\"s1\",\"price\":1}]}. Prices are in credits per unit; pays and gets are "
      "per unit, the other numbers of the answer are totals. docs/mechanisms.md has the rest: "
      "gangs, bundles, splits, Karma, and mechanisms in any language.";
  out.run = [o](Context& c) { return clear(c, *o); };
  return out;
}

}  // namespace souk::cli
