#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "wire/api/ledger.h"

namespace souk::cli {
namespace {

struct LedgerOptions {
  bool statement = false;
  bool csv = false;
  std::string account;
};

// Quotes only where a comma, a quote or a line break asks for it (RFC 4180). A leading = + - @
// would be a formula to a spreadsheet, so texts from others get an apostrophe before it.
std::string csv_field(std::string_view text) {
  std::string out(text);
  if (!out.empty() && std::string_view("=+-@").find(out[0]) != std::string_view::npos)
    out.insert(out.begin(), '\'');
  if (out.find_first_of(",\"\r\n") == std::string::npos) return out;
  std::string quoted = "\"";
  for (const char c : out) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void show_ledger(Context& c, const wire::Ledger& ledger, bool csv) {
  if (csv) {
    c.print("id,name,available,bonus,escrow\n");
    for (const auto& b : ledger.accounts)
      c.print(fmt::format("{},{},{},{},{}\n", b.id ? to_string(*b.id) : "", csv_field(b.name),
                          to_string(b.available), to_string(b.bonus), to_string(b.escrow)));
    return;
  }
  using enum Column::Align;
  Table table({{"id", left, 0, 1},
               {"account", left, 8},
               {"available", right},
               {"bonus", right, 0, 2},
               {"escrow", right}});
  for (const auto& b : ledger.accounts)
    table.add({b.id ? to_string(*b.id) : "", b.name, to_string(b.available), to_string(b.bonus),
               to_string(b.escrow)});
  c.print(table);
  const bool balanced = ledger.sum == base::Credits();
  c.print(fmt::format("sum {}\n",
                      paint(to_string(ledger.sum), balanced ? Tone::good : Tone::bad, c.out())));
}

void show_statement(Context& c, const wire::Statement& s, bool csv) {
  if (csv) {
    c.print("at,kind,amount,job,lease,memo\n");
    for (const auto& l : s.lines)
      c.print(fmt::format("{},{},{},{},{},{}\n", to_string(l.at), to_string(l.kind),
                          to_string(l.amount), l.job ? to_string(*l.job) : "",
                          l.lease ? to_string(*l.lease) : "", csv_field(l.memo)));
    return;
  }
  if (s.lines.empty())
    return c.print(
        fmt::format("nothing has moved on the account of {} yet\n", printable(s.account)));
  using enum Column::Align;
  Table table({{"when"}, {"kind"}, {"amount", right}, {"job"}, {"lease"}, {"memo", left, 10}});
  for (const auto& l : s.lines)
    table.add({relative(l.at, c.now()), word(l.kind), to_string(l.amount),
               l.job ? to_string(*l.job) : "", l.lease ? to_string(*l.lease) : "", l.memo});
  c.print(table);
}

}  // namespace

Command ledger_command() {
  auto o = std::make_shared<LedgerOptions>();
  Command out{.name = "ledger",
              .summary = "who has how many credits; or the movements of one account",
              .examples = {"ledger", "ledger --json", "ledger --statement --csv > mine.csv"}};
  out.options = {flag("--statement", "what moved on one account, newest first", o->statement),
                 flag("--account NAME", "whose statement; yours when left out", o->account),
                 flag("--csv", "for a spreadsheet", o->csv)};
  out.run = [o](Context& c) -> Result<> {
    if (o->csv && c.json()) return usage("--csv and --json are two formats", "give one");
    SOUK_ASSIGN(auto* api, c.api());
    if (o->statement || !o->account.empty()) {
      SOUK_ASSIGN(const auto body,
                  api->get("/v1/ledger/statement" + query_string({{"account", o->account}})));
      return c.show<wire::Statement>(body, [&](const auto& s) { show_statement(c, s, o->csv); });
    }
    SOUK_ASSIGN(const auto body, api->get("/v1/ledger"));
    return c.show<wire::Ledger>(body, [&](const auto& l) { show_ledger(c, l, o->csv); });
  };
  return out;
}

}  // namespace souk::cli
