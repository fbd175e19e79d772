#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"
#include "wire/api/budget.h"
#include "wire/api/ledger.h"

namespace souk::cli {
namespace {

void show_account(Context& c, const wire::Account& a) {
  c.print(fmt::format("{} ({}){}\n", printable(a.name), to_string(a.id),
                      a.operator_ ? ", operator" : ""));
  if (a.frozen) c.print(fmt::format("  frozen     {}\n", printable(*a.frozen)));
  c.print(fmt::format("  available  {}\n  escrow     {}\n", to_string(a.available),
                      to_string(a.escrow)));
  if (a.bonus != base::Credits())
    c.print(fmt::format("  bonus      {} (pays for jobs only)\n", to_string(a.bonus)));
  c.print(fmt::format("  since      {}\n", to_string(a.created)));
}

void show_budgets(Context& c, const wire::BudgetUses& budgets) {
  using enum Column::Align;
  Table table({{"budget"}, {"used", right}, {"of", right}, {"", left, 0, 1}});
  for (const auto& b : budgets.items) {
    const bool nearly = b.used > b.limit - b.limit / 10;
    table.add({b.name,
               Cell(base::describe_amount(static_cast<std::uint64_t>(b.used), b.unit),
                    nearly ? Tone::bad : Tone::plain),
               base::describe_amount(static_cast<std::uint64_t>(b.limit), b.unit), b.what});
  }
  c.print("\n");
  c.print(table);
}

// For whoever made the market's first account.
std::string first_steps(const std::string& name) {
  return fmt::format(
      "You operate this market: you create credits, answer requests and set its rules.\n"
      "  1. give yourself credits to try it     souk account grant {} 100\n"
      "  2. lend a machine                      souk doctor; souk lend\n"
      "  3. run a first job                     souk run examples/mnist.yaml\n"
      "  4. choose what newcomers begin with    souk settings\n"
      "  5. answer requests for credits         souk account requests\n",
      name);
}

// For everybody else: a way on with credits and one without.
std::string next_steps(const wire::Account& account) {
  if (account.available + account.bonus > base::Credits())
    return "next: souk offers, then souk run JOB.yaml; lend with souk lend\n";
  return "next: souk offers and souk plan JOB.yaml need no credits\n"
         "to run a job get some: lend (souk doctor, souk lend), or ask the operator:\n"
         "  souk account request 20 --why 'to train a first model'\n";
}

Command create_account_command() {
  struct Options {
    std::string name;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "create",
              .summary = "open an account",
              .examples = {"account create ada", "account create ada --server https://souk.example",
                           "account create ada --json   # with SOUK_PASSWORD set"}};
  out.options = {argument("NAME", "2 to 40 letters, digits, - and _", o->name)};
  out.details =
      "The password is asked for, or taken from SOUK_PASSWORD. The first account of a market, made "
      "from its own computer, is the operator's; from elsewhere set SOUK_BOOTSTRAP to what `souk "
      "serve` printed. The token is stored in the config file unless one is stored already; the "
      "first server with a token is used unless you name another.";
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(const auto password, new_password(c));
    SOUK_ASSIGN(auto* api, c.api());
    const wire::NewAccount request{o->name, password, c.env()("SOUK_BOOTSTRAP")};
    SOUK_ASSIGN(const auto body, api->post("/v1/accounts", wire::to_json(request)));
    SOUK_ASSIGN(const auto session, parse_body<wire::Session>(body));
    SOUK_TRY(keep_if_first(c, session));
    if (c.json()) return c.print_json(body);
    show_account(c, session.account);
    c.print(session.account.operator_ ? first_steps(o->name) : next_steps(session.account));
    return {};
  };
  return out;
}

Command show_account_command() {
  struct Options {
    std::string name;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "show",
              .summary = "an account, its credits and what it uses of its budgets",
              .examples = {"account show", "account show ada --json"}};
  out.options = {optional(argument("NAME", "yours when left out", o->name))};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body,
                api->get(o->name.empty() ? "/v1/me" : path_of("/v1/accounts", o->name)));
    if (c.json()) return c.print_json(body);
    SOUK_ASSIGN(const auto account, parse_body<wire::Account>(body));
    SOUK_ASSIGN(const auto used, api->get(path_of("/v1/accounts", account.name, "/budgets")));
    SOUK_ASSIGN(const auto budgets, parse_body<wire::BudgetUses>(used));
    show_account(c, account);
    show_budgets(c, budgets);
    return {};
  };
  return out;
}

Command budgets_command() {
  auto name = std::make_shared<std::string>();
  Command out{.name = "budgets",
              .summary = "what an account uses of the server, and what it may use",
              .examples = {"account budgets", "account budgets ada --json"}};
  out.options = {optional(argument("NAME", "yours when left out", *name))};
  out.details = "The operator sets the limits with `souk serve --budget NAME=EACH[/ALL]`.";
  out.run = [name](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    auto who = *name;
    if (who.empty()) {
      SOUK_ASSIGN(const auto me, api->get("/v1/me"));
      SOUK_ASSIGN(const auto account, parse_body<wire::Account>(me));
      who = account.name;
    }
    SOUK_ASSIGN(const auto body, api->get(path_of("/v1/accounts", who, "/budgets")));
    return c.show<wire::BudgetUses>(body, [&](const auto& b) { show_budgets(c, b); });
  };
  return out;
}

Command list_accounts_command() {
  auto o = std::make_shared<Paging>();
  Command out{.name = "list",
              .summary = "all accounts (operators)",
              .examples = {"account list", "account list --limit 500 --json"}};
  out.options = paging_flags(*o);
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/accounts" + query_string(params(*o))));
    return c.show<wire::Page<wire::Account>>(body, [&](const auto& page) {
      using enum Column::Align;
      Table table({{"id"},
                   {"name", left, 8},
                   {"available", right},
                   {"escrow", right},
                   {"bonus", right, 0, 2},
                   {"role", left, 0, 3},
                   {"since", right, 0, 1}});
      for (const auto& a : page.items)
        table.add({to_string(a.id), a.name, brief(a.available), brief(a.escrow), brief(a.bonus),
                   a.frozen ? Cell("frozen", Tone::bad) : Cell(a.operator_ ? "operator" : ""),
                   relative(a.created, c.now())});
      c.print(table);
      show_next(c, page.next);
    });
  };
  return out;
}

Command grant_command() {
  struct Options {
    std::string name;
    base::Credits amount;
    std::string memo;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "grant",
              .summary = "give credits to an account (operators)",
              .examples = {"account grant ada 100", "account grant platform 500 --memo 'bonuses'"}};
  out.options = {argument("NAME", "an account, or platform", o->name),
                 argument("AMOUNT", "credits", o->amount),
                 flag("--memo TEXT", "the reason, shown on the statement", o->memo)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->post(path_of("/v1/accounts", o->name, "/grant"),
                                           wire::to_json(wire::Grant{o->amount, o->memo})));
    return c.show<wire::Balance>(body, [&](const auto& b) {
      c.print(fmt::format("granted {}: {} has {} available\n", to_string(o->amount),
                          printable(b.name), to_string(b.available)));
    });
  };
  return out;
}

std::string answer_text(const wire::CreditRequest& r) {
  if (!r.answered) return "open";
  const auto said = r.word.value_or("");
  return (r.granted ? fmt::format("granted {}", brief(*r.granted)) : std::string("declined")) +
         (said.empty() ? "" : ": " + said);
}

Command request_command() {
  auto o = std::make_shared<wire::NewCreditRequest>();
  Command out{.name = "request",
              .summary = "ask the operator for credits",
              .examples = {"account request 20 --why 'to train a first model'"}};
  out.options = {argument("AMOUNT", "credits", o->amount),
                 required(flag("--why TEXT", "what they are for", o->why))};
  out.details = "One request is open at a time: another one replaces it. Five in a day at most.";
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->post("/v1/credits/requests", wire::to_json(*o)));
    return c.show<wire::CreditRequest>(body, [&](const auto& r) {
      c.print(fmt::format("asked for {} credits: `souk account requests` shows the answer\n",
                          to_string(r.amount)));
    });
  };
  return out;
}

Command requests_command() {
  Command out{.name = "requests",
              .summary = "requests for credits: yours, for operators everybody's",
              .examples = {"account requests", "account requests --json"}};
  out.run = [](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/credits/requests"));
    return c.show<wire::CreditRequests>(body, [&](const auto& requests) {
      if (requests.items.empty())
        return c.print("nobody asks: souk account request AMOUNT --why TEXT\n");
      using enum Column::Align;
      Table table({{"account", left, 8},
                   {"amount", right},
                   {"asked", right, 0, 1},
                   {"why", left, 20},
                   {"answer", left, 20}});
      for (const auto& r : requests.items)
        table.add({r.account, brief(r.amount), relative(r.at, c.now()), r.why,
                   Cell(answer_text(r), r.answered ? Tone::plain : Tone::warning)});
      c.print(table);
    });
  };
  return out;
}

Command answer_command() {
  struct Options {
    std::string name;
    wire::CreditAnswer answer;
    bool decline = false;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "answer",
              .summary = "grant what an account asked for, or decline (operators)",
              .examples = {"account answer ada --grant 20 --word 'good luck'",
                           "account answer ada --decline --word 'lend first'"}};
  out.options = {
      argument("NAME", "who asked", o->name),
      flag("--grant AMOUNT", "credits, as many as asked for or others", o->answer.amount),
      flag("--decline", "grant nothing", o->decline),
      flag("--word TEXT", "shown to who asked", o->answer.word)};
  out.run = [o](Context& c) -> Result<> {
    if (o->decline == o->answer.amount.has_value())
      return usage("an answer grants or declines", "use --grant AMOUNT, or --decline");
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body,
                api->post(path_of("/v1/accounts", o->name, "/request"), wire::to_json(o->answer)));
    return c.show<wire::CreditRequest>(body, [&](const auto& r) {
      c.print(fmt::format("{}: {}\n", printable(r.account), printable(answer_text(r))));
    });
  };
  return out;
}

Command freeze_command(bool freeze) {
  struct Options {
    std::string name;
    std::string reason;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = freeze ? "freeze" : "thaw",
              .summary = freeze ? "keep an account from trading (operators)"
                                : "let a frozen account trade again (operators)"};
  out.options = {argument("NAME", "the account", o->name)};
  if (freeze) {
    out.options.push_back(required(flag("--reason TEXT", "shown to its owner", o->reason)));
    out.examples = {"account freeze mallory --reason 'unpaid damage'"};
  } else {
    out.examples = {"account thaw mallory"};
  }
  out.run = [o, freeze](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body,
                api->post(path_of("/v1/accounts", o->name, freeze ? "/freeze" : "/thaw"),
                          freeze ? wire::to_json(wire::Freeze{o->reason}) : "{}"));
    return c.done(body, fmt::format("{} is {}", o->name, freeze ? "frozen" : "thawed"));
  };
  return out;
}

Command password_command() {
  Command out{.name = "password",
              .summary = "change your password",
              .examples = {"account password",
                           "account password   # with SOUK_PASSWORD, SOUK_NEW_PASSWORD set"}};
  out.run = [](Context& c) -> Result<> {
    SOUK_ASSIGN(const auto before, read_password(c.env(), "present password"));
    SOUK_ASSIGN(const auto after, new_password(c, "SOUK_NEW_PASSWORD"));
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body,
                api->post("/v1/me/password", wire::to_json(wire::NewPassword{before, after})));
    return c.done(body, "the password is changed");
  };
  return out;
}

}  // namespace

Command account_command() {
  Command out{.name = "account",
              .summary = "accounts, credits, passwords and tokens",
              .examples = {"account create ada", "account grant ada 100", "account show"}};
  out.run = show_account_command().run;
  out.commands = {create_account_command(), show_account_command(), budgets_command(),
                  list_accounts_command(),  grant_command(),        freeze_command(true),
                  freeze_command(false),    password_command(),     tokens_command("tokens"),
                  token_command(),          logout_command(),       request_command(),
                  requests_command(),       answer_command()};
  return out;
}

}  // namespace souk::cli
