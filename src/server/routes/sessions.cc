#include <fmt/format.h>

#include "market/limits.h"
#include "server/http/idempotency.h"
#include "server/http/router.h"
#include "server/http/secrets.h"
#include "server/routes/views.h"

// Signing up, logging in and out, changing a password. Passwords are hashed on a pool, so all but
// one of these go from the core to the pool and back.

namespace souk::server {
namespace {

using base::Code;
using base::Duration;
using base::fail;
using market::Scope;

constexpr std::size_t kPasswordMin = 8, kPasswordMax = 1'000;
constexpr auto kSession = base::days(30);
constexpr auto kLongestSession = base::days(366);

Result<> check_password(const std::string& password) {
  if (password.size() >= kPasswordMin && password.size() <= kPasswordMax) return {};
  return fail(
      Code::invalid, fmt::format("the password has {} characters", password.size()),
      fmt::format("use {} to {} characters; a sentence is good", kPasswordMin, kPasswordMax),
      "password");
}

base::Failure wrong_password() {
  return fail(Code::unauthenticated, "the name or the password is wrong", "check both");
}

// How guesses are counted.
std::string counted_name(const std::string& name) { return name.substr(0, market::kNameMax + 1); }
std::string counted_address(const ApiCall& call) {
  return net::address_key(call.http.peer.address);
}

void answer(Core::Turn& turn, ApiCallPtr call, Result<net::Response> result) {
  auto response = result ? *std::move(result) : refusal(result.error());
  answer_after(turn, std::move(call), std::move(response));
}

Result<net::Response> open_session(Core::Turn& turn, const ApiCall& call, base::AccountId id,
                                   std::string label, Duration lasts) {
  const auto* account = turn.state().accounts.find(id);
  const auto secret = new_token();
  SOUK_ASSIGN(const auto events,
              turn.execute(
                  market::kSystem,
                  market::IssueToken{.account = id,
                                     .scope = account->is_operator ? Scope::operator_ : Scope::user,
                                     .digest = token_digest(secret),
                                     .label = std::move(label),
                                     .expires = turn.now() + lasts}));
  const auto& token = std::get<market::TokenIssued>(events.back()).token;
  const bool cookie = wants_cookie(call.http);
  auto response =
      json_response(wire::to_json(wire::Session{view(turn.state(), *account), cookie ? "" : secret,
                                                token.id, token.expires}),
                    201);
  if (cookie)
    response.headers.emplace_back("Set-Cookie", session_cookie(secret, lasts, call.reply.secure()));
  return response;
}

// --- Logging in ----------------------------------------------------------------------------------

// `hash`: of the account's password when it was looked up.
void open_if_unchanged(Core::Turn& turn, ApiCallPtr call, const wire::Login& login,
                       base::AccountId id, const std::string& hash) {
  // The password may have been changed meanwhile, to keep this very caller out.
  auto session = turn.state().accounts.at(id).password != hash
                     ? Result<net::Response>(wrong_password())
                     : open_session(turn, *call, id, login.label.value_or("login"),
                                    login.expires_in.value_or(kSession));
  answer(turn, std::move(call), std::move(session));
}

// On the core thread.
void verify_then_open_session(ServerContext& server, const Core::Turn& turn, ApiCallPtr call,
                              wire::Login login) {
  const auto* account = turn.state().find_account(login.name);
  const auto id = account == nullptr ? base::AccountId{} : account->id;
  auto hash = account == nullptr ? std::string() : account->password;
  to_pool(
      server.hashers, std::move(call),
      [&server, login = std::move(login), id, hash = std::move(hash)](ApiCallPtr c) mutable {
        if (!verify_password(hash, login.password))
          return c->reply.send(problem(wrong_password().error()));
        server.session_throttles.passwords.was_right(counted_name(login.name), counted_address(*c));
        to_core(
            server, std::move(c),
            [login = std::move(login), id, hash = std::move(hash)](Core::Turn& t, ApiCallPtr own) {
              open_if_unchanged(t, std::move(own), login, id, hash);
            });
      });
}

Result<wire::Login> checked(Result<wire::Login> body) {
  if (body && body->expires_in &&
      (*body->expires_in <= Duration() || *body->expires_in > kLongestSession))
    return fail(Code::invalid, "a session cannot last " + to_string(*body->expires_in),
                "use up to 366d", "expires_in");
  return body;
}

void log_in(ServerContext& server, ApiCallPtr call, Result<wire::Login> read) {
  auto body = checked(std::move(read));
  if (!body) return call->reply.send(problem(body.error()));
  if (auto refused = server.session_throttles.passwords.refuse(counted_name(body->name),
                                                               counted_address(*call)))
    return call->reply.send(*std::move(refused));
  to_core(server, std::move(call),
          [&server, login = *std::move(body)](Core::Turn& turn, ApiCallPtr c) mutable {
            verify_then_open_session(server, turn, std::move(c), std::move(login));
          });
}

// --- Signing up ----------------------------------------------------------------------------------

// Who creates the account: nobody, an account of this market, or the market itself for the first.
Result<market::Actor> creator(ServerContext& server, const Core::Turn& turn, ApiCall& call,
                              const wire::NewAccount& body) {
  const auto& s = turn.state();
  if (s.accounts.size() == 0) {
    const auto& bootstrap = server.options.bootstrap;
    const bool invited =
        body.bootstrap && !bootstrap.empty() && equal_secrets(*body.bootstrap, bootstrap);
    if (invited || is_meant_locally(call.http)) return market::kSystem;
    return fail(Code::forbidden, "this market has no operator yet",
                "create the first account on the server itself, or with the bootstrap token "
                "that `souk serve` printed",
                "bootstrap");
  }
  const auto& [token, cookie] = call.credential;
  // A cookie that outlived its session was sent by nobody's wish, and is replaced anyway.
  if (!token || (cookie && s.find_token(*token, turn.now()) == nullptr)) return market::Actor{};
  return server.authentication.actor_of(turn, call);
}

Result<net::Response> create_account(ServerContext& server, Core::Turn& turn, ApiCall& call,
                                     const wire::NewAccount& body, std::string hash) {
  const bool first = turn.state().accounts.size() == 0;
  SOUK_ASSIGN(const auto actor, creator(server, turn, call, body));
  SOUK_ASSIGN(const auto events,
              turn.execute(actor, market::CreateAccount{body.name, std::move(hash), first}));
  const auto id = std::get<market::AccountCreated>(events.front()).account.id;
  SOUK_ASSIGN(auto response, open_session(turn, call, id, "sign-up", kSession));
  turn.record(market::Answered{{.fingerprint = call.fingerprint,
                                .status = response.status,
                                .at = turn.now(),
                                .key_hash = market::key_hash_of({}, call.key)}});
  return response;
}

void create_or_open(ServerContext& server, ApiCallPtr call, wire::NewAccount body,
                    std::string hash) {
  to_core(server, std::move(call),
          [&server, body = std::move(body), hash = std::move(hash)](Core::Turn& turn,
                                                                    ApiCallPtr c) mutable {
            if (turn.state().find_key({}, c->key) == nullptr) {
              auto made = create_account(server, turn, *c, body, std::move(hash));
              return answer(turn, std::move(c), std::move(made));
            }
            // A repeat: the same account, a fresh token.
            verify_then_open_session(server, turn, std::move(c),
                                     {.name = body.name, .password = body.password});
          });
}

void sign_up(ServerContext& server, ApiCallPtr call, Result<wire::NewAccount> body) {
  Result<> ok;
  if (!body)
    ok = std::unexpected(body.error());
  else
    ok = check_password(body->password);
  if (!ok) return call->reply.send(problem(ok.error()));
  if (auto refused = server.session_throttles.sign_ups.refuse(counted_address(*call)))
    return call->reply.send(*std::move(refused));
  // Without the password: what is journaled must not help to guess it.
  call->fingerprint = base::short_hash("sign up\n" + body->name);
  call->key = body->name + "/" + call->key;
  to_pool(server.hashers, std::move(call),
          [&server, body = *std::move(body)](ApiCallPtr c) mutable {
            auto hash = hash_password(body.password);
            create_or_open(server, std::move(c), std::move(body), std::move(hash));
          });
}

// --- Logging out ---------------------------------------------------------------------------------

Result<net::Response> end_session(ServerContext& server, Core::Turn& turn, ApiCall& call) {
  SOUK_ASSIGN(const auto actor, server.authentication.actor_of(turn, call));
  SOUK_TRY(check_call(call));
  const auto token = turn.state().find_token(*call.credential.token, turn.now())->id;
  SOUK_TRY(turn.execute(actor, market::RevokeToken{token}));
  if (call.credential.cookie) call.reply.drop_cookie();
  return json_response(wire::to_json(wire::Acknowledged{}));
}

void log_out(ServerContext& server, ApiCallPtr call) {
  to_core(server, std::move(call), [&server](Core::Turn& turn, ApiCallPtr c) {
    auto ended = end_session(server, turn, *c);
    answer(turn, std::move(c), std::move(ended));
  });
}

// --- Changing a password -------------------------------------------------------------------------

struct PasswordChange {
  wire::NewPassword body;
  base::AccountId account;
  std::string old_hash;  // When it was looked up.
  std::string name;
};

Result<net::Response> set_password(ServerContext& server, Core::Turn& turn, ApiCall& call,
                                   const PasswordChange& change, std::string hash) {
  SOUK_ASSIGN(const auto actor, server.authentication.actor_of(turn, call));
  if (turn.state().accounts.at(change.account).password != change.old_hash) return wrong_password();
  SOUK_TRY(turn.execute(actor, market::ChangePassword{change.account, std::move(hash)}));
  // Whoever knew the old password is out; this session stays.
  std::vector<base::TokenId> others;
  turn.state().tokens.for_each([&](const market::Token& t) {
    if (t.account == change.account && t.scope != Scope::machine &&
        t.digest != *call.credential.token)
      others.push_back(t.id);
  });
  for (const auto id : others) SOUK_TRY(turn.execute(actor, market::RevokeToken{id}));
  auto response = json_response(wire::to_json(wire::Acknowledged{}));
  Context c(turn, call, actor, server);
  remember_answer(c, call, response);
  return response;
}

void verify_then_set(ServerContext& server, ApiCallPtr call, PasswordChange change) {
  to_pool(server.hashers, std::move(call),
          [&server, change = std::move(change)](ApiCallPtr c) mutable {
            if (!verify_password(change.old_hash, change.body.old_password))
              return c->reply.send(problem(wrong_password().error()));
            server.session_throttles.passwords.was_right(change.name, counted_address(*c));
            auto hash = hash_password(change.body.password);
            to_core(server, std::move(c),
                    [&server, change = std::move(change), hash = std::move(hash)](
                        Core::Turn& turn, ApiCallPtr own) mutable {
                      auto changed = set_password(server, turn, *own, change, std::move(hash));
                      answer(turn, std::move(own), std::move(changed));
                    });
          });
}

void change_password(ServerContext& server, ApiCallPtr call, Result<wire::NewPassword> body) {
  if (body)
    if (auto ok = check_password(body->password); !ok) body = std::unexpected(ok.error());
  // Without the passwords: what is journaled must not help to guess them.
  call->fingerprint = base::short_hash("change password");
  to_core_authorised(
      server, std::move(call), std::move(body),
      [&server](Context& c, ApiCallPtr own, wire::NewPassword wanted) {
        const auto& account = c.state().accounts.at(c.actor.account);
        if (auto first = first_answer(c, *own))
          return answer(c.turn(), std::move(own), *std::move(first));
        if (auto refused =
                server.session_throttles.passwords.refuse(account.name, counted_address(*own)))
          return own->reply.send(*std::move(refused));
        verify_then_set(server, std::move(own),
                        {std::move(wanted), account.id, account.password, account.name});
      });
}

}  // namespace

void add_session_routes(Routes& routes) {
  routes
      .on_io<wire::NewAccount, wire::Session>("POST", "/v1/accounts", "createAccount", "Sign up",
                                              Access::everybody, &sign_up)
      .doc.status = 201;
  routes
      .on_io<wire::Login, wire::Session>("POST", "/v1/login", "login",
                                         "Exchange a password for a token", Access::everybody,
                                         &log_in)
      .doc.status = 201;
  routes
      .on_io<void, wire::Acknowledged>("POST", "/v1/logout", "logout",
                                       "End the session that this request belongs to", Access::user,
                                       &log_out)
      .doc.idempotency_key = true;
  routes.on_io<wire::NewPassword, wire::Acknowledged>(
      "POST", "/v1/me/password", "changePassword",
      "Change my password; all my other sessions end, those of machines go on", Access::user,
      &change_password);
}

}  // namespace souk::server
