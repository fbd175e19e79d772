#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"

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

Command create_command() {
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
      "first server with a token is used when nothing else is said.";
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(const auto password, new_password(c));
    SOUK_ASSIGN(auto* api, c.api());
    const wire::NewAccount request{o->name, password, c.env()("SOUK_BOOTSTRAP")};
    SOUK_ASSIGN(const auto body, api->post("/v1/accounts", wire::to_json(request)));
    SOUK_ASSIGN(const auto session, parse_body<wire::Session>(body));
    SOUK_TRY(keep_if_first(c, session));
    if (c.json()) return c.print_json(body);
    show_account(c, session.account);
    c.print(session.account.operator_
                ? "next: souk account grant NAME AMOUNT\n"
                : "next: souk offers, souk job submit, or lend with souk machine add\n");
    return {};
  };
  return out;
}

Command show_command() {
  struct Options {
    std::string name;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "show",
              .summary = "an account and its credits",
              .examples = {"account show", "account show ada --json"}};
  out.options = {optional(argument("NAME", "yours when left out", o->name))};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body,
                api->get(o->name.empty() ? "/v1/me" : path_of("/v1/accounts", o->name)));
    return c.show<wire::Account>(body, [&](const auto& a) { show_account(c, a); });
  };
  return out;
}

Command list_command() {
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
  out.commands = {create_command(),     show_command(),        list_command(),     grant_command(),
                  freeze_command(true), freeze_command(false), password_command(), tokens_command(),
                  token_command(),      logout_command()};
  return out;
}

}  // namespace souk::cli
