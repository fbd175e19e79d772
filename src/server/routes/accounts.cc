#include "server/http/router.h"
#include "server/http/secrets.h"
#include "server/routes/views.h"

// Accounts and tokens. How people get in and out is in sessions.cc.

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using market::State;

Result<const market::Account*> named(const State& s, const std::string& name) {
  if (const auto* a = s.find_account(name)) return a;
  return Context::no_such("account", name);
}

Result<wire::Account> freeze(Context& c, std::string reason) {
  SOUK_ASSIGN(const auto* account, named(c.state(), c.param()));
  SOUK_TRY(c.execute(market::FreezeAccount{account->id, std::move(reason)}));
  return view(c.state(), *account);
}

Result<wire::IssuedToken> issue(Context& c, const wire::NewToken& body) {
  if ((body.scope == market::Scope::machine) != body.machine.has_value())
    return fail(Code::invalid, "a machine's token needs its machine, and only that one does",
                "name the machine with scope machine", "machine");
  const auto secret = new_token();
  market::IssueToken command{.account = c.actor.account,
                             .scope = body.scope,
                             .machine = body.machine.value_or(base::MachineId{}),
                             .digest = token_digest(secret),
                             .label = body.label,
                             .limit = body.limit};
  if (body.expires_in) command.expires = c.now() + *body.expires_in;
  SOUK_ASSIGN(const auto events, c.execute(command));
  const auto& token = std::get<market::TokenIssued>(events.back()).token;
  const auto shown = view(token);
  return wire::IssuedToken{token.id,      secret,        shown.scope,
                           shown.machine, shown.expires, shown.limit};
}

void add_account_reads(Routes& routes) {
  routes.get("/v1/me", "getMe", "My account", Access::user,
             [](Context& c) -> Result<wire::Account> {
               return view(c.state(), c.state().accounts.at(c.actor.account));
             });
  paged(routes.get("/v1/accounts", "listAccounts", "All accounts", Access::operator_,
                   [](Context& c) -> Result<wire::Page<wire::Account>> {
                     return page<wire::Account>(
                         c, c.state().accounts, [](const auto&) { return true; },
                         [&](const auto& a) { return view(c.state(), a); });
                   }));
  routes.get("/v1/accounts/{name}", "getAccount", "One account: one's own, or an operator any",
             Access::user, [](Context& c) -> Result<wire::Account> {
               const auto* account = c.state().find_account(c.param());
               const bool mine = account != nullptr && account->id == c.actor.account;
               if (account == nullptr || !(mine || c.is_operator()))
                 return Context::no_such("account", c.param());
               return view(c.state(), *account);
             });
}

void add_account_changes(Routes& routes) {
  routes.change<wire::Grant>(
      "POST", "/v1/accounts/{name}/grant", "grantCredits",
      "Create credits for an account, or for the platform, which pays sign-up bonuses",
      Access::operator_, 200, [](Context& c, const wire::Grant& body) -> Result<wire::Balance> {
        base::AccountId to = ledger::kPlatform;
        if (c.param() != "platform") {
          SOUK_ASSIGN(const auto* account, named(c.state(), c.param()));
          to = account->id;
        }
        SOUK_TRY(c.execute(market::GrantCredits{to, body.amount, body.memo}));
        return balance_view(c.state(), to);
      });
  routes.change<wire::Freeze>(
      "POST", "/v1/accounts/{name}/freeze", "freezeAccount",
      "Stop an account: its jobs pause, its offers trade no more", Access::operator_, 200,
      [](Context& c, const wire::Freeze& body) -> Result<wire::Account> {
        if (body.reason.empty())
          return fail(Code::invalid, "a freeze needs a reason", "say why", "reason");
        return freeze(c, body.reason);
      });
  routes.change("POST", "/v1/accounts/{name}/thaw", "thawAccount", "Let a frozen account go on",
                Access::operator_, [](Context& c) { return freeze(c, ""); });
}

void add_token_routes(Routes& routes) {
  paged(routes.get("/v1/tokens", "listTokens", "My tokens", Access::user,
                   [](Context& c) -> Result<wire::Page<wire::Token>> {
                     return page<wire::Token>(
                         c, c.state().tokens,
                         [&](const auto& t) {
                           const bool seen =
                               c.actor.scope != market::Scope::spend || t.id == c.actor.token;
                           return t.account == c.actor.account && t.expires > c.now() && seen;
                         },
                         [](const auto& t) { return view(t); });
                   }));
  routes
      .change<wire::NewToken>(
          "POST", "/v1/tokens", "createToken",
          "A new token: for myself, for one of my machines, or one that can spend "
          "so many credits",
          Access::user, 201, &issue)
      .secret_answer = true;
  routes.change("DELETE", "/v1/tokens/{id}", "revokeToken", "End a token", Access::user,
                [](Context& c) -> Result<wire::Acknowledged> {
                  SOUK_ASSIGN(const auto id, c.id<base::TokenId>());
                  SOUK_TRY(c.execute(market::RevokeToken{id}));
                  return wire::Acknowledged{};
                });
  routes.change("DELETE", "/v1/tokens", "revokeTokens", "End all my tokens: log out everywhere",
                Access::user, [](Context& c) -> Result<wire::Acknowledged> {
                  SOUK_TRY(c.execute(market::RevokeTokens{c.actor.account}));
                  return wire::Acknowledged{};
                });
}

}  // namespace

void add_account_routes(Routes& routes) {
  add_account_reads(routes);
  add_account_changes(routes);
  add_token_routes(routes);
}

}  // namespace souk::server
