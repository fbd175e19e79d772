#include "server/http/app.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/text.h"
#include "job/batch.h"
#include "market/limits.h"
#include "server/http/problem.h"
#include "server/http/secrets.h"
#include "server/http/session_cookie.h"
#include "server/http/version.h"
#include "server/routes/views.h"

namespace souk::server {
namespace {

using base::Code;
using base::Duration;
using base::fail;
using market::Actor;
using market::Scope;

constexpr std::size_t kKeyMax = 200;
constexpr std::size_t kMostBody = 1 << 20;  // Of JSON; a chunk of a file may be larger.
constexpr std::string_view kCreateToken = "createToken";  // Its answer holds a secret.
constexpr std::size_t kRememberedKeys = 100'000;          // Of each throttle.
constexpr std::size_t kKeptAnswer = 64 << 10;  // A longer answer is not kept for a repeat.

net::RateLimit per_second(int rate) {
  if (rate <= 0) return {.burst = 1'000'000'000, .per_token = Duration(1)};
  return {.burst = 2L * rate, .per_token = Duration(1'000'000 / rate)};
}

net::Response json(int status, std::string body) {
  return {.status = status, .body = std::move(body)};
}

// A proxy on this computer forwards for somebody elsewhere.
bool is_local(const net::Request& http) {
  return http.peer.loopback && http.header("Forwarded").empty() &&
         http.header("X-Forwarded-For").empty();
}

// A problem that may be gone in a moment says when to ask again.
net::Response refusal(const base::Error& error) {
  auto response = problem(error);
  if (error.code == Code::exhausted || error.code == Code::unavailable)
    response.headers.emplace_back("Retry-After", "1");
  return response;
}

// What lies in the same folder as `path`.
std::string beside(const std::string& path, std::string_view name) {
  return (std::filesystem::path(path).parent_path() / name).string();
}

bool printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c > 32 && c < 127; });
}

}  // namespace

App::App(Core& core, Feed& feed, Services& services, Pool& hashers, Pool& files,
         const base::Clock& clock, AppOptions options)
    : core_(core),
      feed_(feed),
      services_(services),
      hashers_(hashers),
      files_(files),
      clock_(clock),
      options_(std::move(options)),
      routes_(all_routes()),
      console_(built_in_console()),
      openapi_(routes_.openapi()),
      per_account_(per_second(options_.requests_per_second), kRememberedKeys),
      per_address_(per_second(options_.requests_per_second), kRememberedKeys),
      sign_ups_({.burst = 100, .per_token = base::seconds(1)}, kRememberedKeys),
      passwords_by_name_({.burst = 10, .per_token = base::seconds(6)}, kRememberedKeys),
      passwords_by_address_({.burst = 100, .per_token = base::seconds(1)}, kRememberedKeys),
      prepare_(*services.blobs, beside(services.blobs->path(), "prepare"), clock,
               options_.prepare) {}

bool App::throttled(net::RateLimiter& limiter, std::string_view key, Call& call) {
  const auto verdict = limiter.take(key, clock_.now());
  if (verdict.allowed) return false;
  auto response = problem(base::Error{Code::exhausted, "too many requests", "wait a little"});
  const auto wait = (verdict.retry_after.us + 999'999) / 1'000'000;
  response.headers.emplace_back("Retry-After", std::to_string(std::max<std::int64_t>(1, wait)));
  call.reply.send(std::move(response));
  return true;
}

// What can be refused without looking at the state.
Result<> App::check_call(const Call& call) const {
  const auto& doc = call.route->doc;
  std::vector<std::string_view> known;
  for (const auto& q : doc.query) known.push_back(q.name);
  for (const auto& [name, value] : call.http.query) {
    const auto at = std::ranges::find(known, name);
    if (at == known.end())
      return fail(Code::invalid,
                  fmt::format("'{}' is not a query parameter of {}", name.substr(0, 40), doc.path),
                  known.empty() ? "it takes none" : base::suggest(name, known), name.substr(0, 40));
    if (doc.query[at - known.begin()].type == "boolean" && value != "true" && value != "false")
      return fail(Code::invalid, fmt::format("'{}' is '{}'", name, value.substr(0, 40)),
                  "use true or false", name);
  }
  if (doc.idempotency_key &&
      (call.key.empty() || call.key.size() > kKeyMax || !printable(call.key)))
    return fail(Code::invalid,
                call.key.empty() ? "a change needs an Idempotency-Key header"
                                 : "the Idempotency-Key cannot be used",
                fmt::format("send 1 to {} printable characters, new for each change and the same "
                            "when you retry it",
                            kKeyMax),
                "Idempotency-Key");
  return {};
}

net::Response App::unrouted(const net::Request& http, const std::string& allowed) const {
  const bool api = http.path == "/v1" || http.path.starts_with("/v1/");
  if (allowed.empty() && api) return problem(404, "there is no such resource");
  const bool read = http.method == "GET" || http.method == "HEAD";
  if (allowed.empty() && read) return console_.answer(http);
  const auto methods = allowed.empty() ? "GET, HEAD" : allowed;
  auto response = problem(405, "use " + methods);
  response.headers.emplace_back("Allow", methods);
  return response;
}

void App::handle(net::Request http, net::Reply reply) {
  auto match = routes_.find(http);
  ApiReply answers(std::move(reply), came_securely(http, options_.tls));
  auto call = std::make_unique<Call>(std::move(http), std::move(answers), match.route,
                                     std::move(match.params));
  if (throttled(per_address_, call->http.peer.address, *call)) return;
  if (call->route == nullptr) return call->reply.send(unrouted(call->http, match.allowed));
  const auto credential = credential_of(call->http);
  if (!credential) return call->reply.send(problem(credential.error()));
  call->token = credential->token;
  call->cookie = credential->cookie;
  call->key = std::string(call->http.header("Idempotency-Key"));
  call->fingerprint =
      base::short_hash(call->http.method + "\n" + call->http.target + "\n" + call->http.body);
  if (call->http.body.size() > kMostBody && call->route->doc.request_media.empty())
    return call->reply.send(problem(
        base::Error{Code::too_large, fmt::format("a body of {} bytes", call->http.body.size()),
                    fmt::format("{} at most here", kMostBody)}));
  if (call->route->access != Access::everybody && !call->token)
    return call->reply.send(problem(base::Error{Code::unauthenticated, "this needs a token",
                                                "send Authorization: Bearer TOKEN"}));
  if (const auto serve = special(*call->route)) return (this->*serve)(std::move(call));
  auto work = call->route->prepare(call->http);
  if (work)
    if (auto checked = check_call(*call); !checked) work = std::unexpected(checked.error());
  on_core(std::move(call), [this, work = std::move(work)](Core::Turn& turn, CallPtr c) mutable {
    auto response = answer(turn, *c, work);
    reply_after(turn, std::move(c), std::move(response));
  });
}

void App::reply_after(Core::Turn& turn, CallPtr call, net::Response response) {
  turn.after([call = std::move(call), response = std::move(response)]() mutable {
    call->reply.send(std::move(response));
  });
}

void App::on_core(CallPtr call, std::move_only_function<void(Core::Turn&, CallPtr)> task) {
  // The call must survive a refusal by the queue, to be answered.
  auto holder = std::make_shared<CallPtr>(std::move(call));
  const bool taken = core_.post([holder, task = std::move(task)](Core::Turn& turn) mutable {
    task(turn, std::move(*holder));
  });
  if (!taken && *holder)
    (*holder)->reply.send(
        refusal(base::Error{Code::unavailable, "the market is too busy", "try again"}));
}

Result<Actor> App::authenticate(Core::Turn& turn, Call& call) {
  const auto* token = call.token ? turn.state().find_token(*call.token, turn.now()) : nullptr;
  if (token == nullptr && call.cookie) call.reply.drop_cookie();
  if (token == nullptr)
    return fail(Code::unauthenticated, "the token is unknown, revoked or expired",
                "log in again: souk login NAME");
  const auto access = call.route->access;
  if (token->scope == Scope::machine && access != Access::agent && access != Access::everybody)
    return fail(Code::forbidden, "a machine's token acts for its machine only",
                "use your own token");
  if (access == Access::operator_ && token->scope != Scope::operator_)
    return fail(Code::forbidden, "this is for operators", "ask the operator of this market");
  if (!per_account_.take(to_string(token->account), clock_.now()).allowed)
    return fail(Code::exhausted, "too many requests from this account", "wait a little");
  return Actor{token->account, token->scope, token->machine};
}

// The first answer to this key, if it was used before.
std::optional<Result<net::Response>> App::repeated(const Core::Turn& turn, const Call& call,
                                                   base::AccountId account) {
  if (!call.route->doc.idempotency_key) return std::nullopt;
  const auto* first = turn.state().find_answer(account, call.key);
  if (first == nullptr) return std::nullopt;
  if (first->fingerprint != call.fingerprint)
    return fail(Code::conflict, "this Idempotency-Key was used for another request",
                "use a new key for a new request", "Idempotency-Key");
  if (first->body.empty() && call.route->doc.id == kCreateToken)
    return fail(Code::conflict, "this was done already, and its answer held a secret shown once",
                "revoke that token and make another with a new key", "Idempotency-Key");
  if (first->body.empty())
    return fail(Code::conflict, "this was done already, and its answer was too long to keep",
                "ask for the thing itself", "Idempotency-Key");
  auto response = json(first->status, first->body);
  response.headers.emplace_back("Idempotent-Replay", "true");
  return response;
}

void App::remember(Core::Turn& turn, const Call& call, base::AccountId account,
                   const net::Response& response) {
  const bool kept = call.route->doc.id != kCreateToken && response.body.size() <= kKeptAnswer;
  turn.record(market::Answered{{.account = account,
                                .key = call.key,
                                .fingerprint = call.fingerprint,
                                .status = response.status,
                                .body = kept ? response.body : std::string(),
                                .at = turn.now()}});
}

net::Response App::answer(Core::Turn& turn, Call& call, Result<Work>& work) {
  Actor actor;
  if (call.route->access != Access::everybody) {
    const auto authenticated = authenticate(turn, call);
    if (!authenticated) return refusal(authenticated.error());
    actor = *authenticated;
  }
  if (!work) return problem(work.error());
  if (auto first = repeated(turn, call, actor.account))
    return *first ? **std::move(first) : problem(first->error());
  Context context(turn, call.http, call.params, actor, services_);
  const auto events = turn.state().events;
  auto body = (*work)(context);
  if (!body) return problem(body.error());
  auto response = json(call.route->doc.status, *std::move(body));
  // What changed nothing can be asked again: most heartbeats stay out of the journal so.
  if (turn.state().events != events) remember(turn, call, actor.account, response);
  return response;
}

App::Serve App::special(const Route& route) const {
  static const std::map<std::string_view, Serve> table{{"getHealth", &App::serve_health},
                                                       {"getReady", &App::serve_ready},
                                                       {"getMetrics", &App::serve_metrics},
                                                       {"getOpenApi", &App::serve_openapi},
                                                       {"createAccount", &App::serve_sign_up},
                                                       {"login", &App::serve_login},
                                                       {"logout", &App::serve_logout},
                                                       {"changePassword", &App::serve_password},
                                                       {"getEvents", &App::serve_events},
                                                       {"getWork", &App::serve_work},
                                                       {"missingBlobs", &App::serve_missing_blobs},
                                                       {"putBlob", &App::serve_put_blob},
                                                       {"getBlob", &App::serve_get_blob},
                                                       {"appendLog", &App::serve_append_log},
                                                       {"getLog", &App::serve_log},
                                                       {"answerChallenge", &App::serve_challenge},
                                                       {"listFiles", &App::serve_result_files},
                                                       {"getFile", &App::serve_result_file},
                                                       {"prepareJob", &App::serve_prepare},
                                                       {"askUnit", &App::serve_unit},
                                                       {"putUnit", &App::serve_unit_piece},
                                                       {"finishUnit", &App::serve_unit_done},
                                                       {"getParameters", &App::serve_parameters},
                                                       {"getTraining", &App::serve_training}};
  if (route.prepare) return nullptr;
  if (route.doc.path.starts_with("/v1/lab/")) return &App::serve_lab;  // It has a table of its own.
  return table.at(route.doc.id);
}

void App::serve_health(CallPtr call) {
  call->reply.send(
      json(200, wire::to_json(wire::Health{wire::HealthStatus::ok, std::string(kVersion),
                                           core_.counters().events})));
}

void App::serve_openapi(CallPtr call) { call->reply.send(json(200, openapi_)); }

void App::serve_ready(CallPtr call) {
  on_core(std::move(call), [](Core::Turn& turn, CallPtr c) {
    reply_after(turn, std::move(c),
                json(200, wire::to_json(wire::Health{wire::HealthStatus::ready,
                                                     std::string(kVersion), turn.state().events})));
  });
}

// --- Accounts and sessions ---------------------------------------------------------------------

namespace {

constexpr std::size_t kPasswordMin = 8, kPasswordMax = 1'000;
constexpr auto kSession = base::days(30);
constexpr auto kLongestSession = base::days(366);

Result<> check_password(const std::string& password) {
  if (password.size() >= kPasswordMin && password.size() <= kPasswordMax) return {};
  return fail(Code::invalid, fmt::format("a password of {} characters", password.size()),
              fmt::format("use {} to {}", kPasswordMin, kPasswordMax), "password");
}

base::Failure wrong_password() {
  return fail(Code::unauthenticated, "the name or the password is wrong", "check both");
}

base::Failure busy() {
  return fail(Code::unavailable, "too many people are logging in", "try again in a moment");
}

}  // namespace

Result<net::Response> App::open_session(Core::Turn& turn, const Call& call, base::AccountId id,
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
      json(201, wire::to_json(wire::Session{view(turn.state(), *account), cookie ? "" : secret,
                                            token.id, token.expires}));
  if (cookie)
    response.headers.emplace_back("Set-Cookie", session_cookie(secret, lasts, call.reply.secure()));
  return response;
}

void App::serve_sign_up(CallPtr call) {
  auto body = wire::from_json<wire::NewAccount>(call->http.body);
  Result<> ok = body ? check_call(*call) : Result<>(std::unexpected(body.error()));
  if (ok) ok = check_password(body->password);
  if (!ok) return call->reply.send(problem(ok.error()));
  if (throttled(sign_ups_, call->http.peer.address, *call)) return;
  // Without the password: what is journaled must not help to guess it.
  call->fingerprint = base::short_hash("sign up\n" + body->name);
  call->key = body->name + "/" + call->key;
  auto holder = std::make_shared<CallPtr>(std::move(call));
  const bool taken = hashers_.post([this, holder, body = *body] {
    create_account(std::move(*holder), body, hash_password(body.password));
  });
  if (!taken) (*holder)->reply.send(refusal(busy().error()));
}

void App::create_account(CallPtr call, wire::NewAccount body, std::string hash) {
  on_core(std::move(call), [this, body, hash](Core::Turn& turn, CallPtr c) {
    const auto& s = turn.state();
    if (s.find_answer({}, c->key) != nullptr)  // A repeat: the same account, a fresh token.
      return verify_then_open_session(std::move(c), {.name = body.name, .password = body.password});
    const auto make = [&]() -> Result<net::Response> {
      Actor actor;
      const bool first = s.accounts.size() == 0;
      if (first) {
        const bool invited = body.bootstrap && !options_.bootstrap.empty() &&
                             equal_secrets(*body.bootstrap, options_.bootstrap);
        if (!invited && !is_local(c->http))
          return fail(Code::forbidden, "this market has no operator yet",
                      "create the first account on the server itself, or with the bootstrap token "
                      "that `souk serve` printed",
                      "bootstrap");
        actor = market::kSystem;
      } else if (c->token && !(c->cookie && s.find_token(*c->token, turn.now()) == nullptr)) {
        // A cookie that outlived its session was sent by nobody's wish, and is replaced anyway.
        SOUK_ASSIGN(actor, authenticate(turn, *c));
      }
      SOUK_ASSIGN(const auto events,
                  turn.execute(actor, market::CreateAccount{body.name, hash, first}));
      const auto id = std::get<market::AccountCreated>(events.front()).account.id;
      SOUK_ASSIGN(auto response, open_session(turn, *c, id, "sign-up", kSession));
      turn.record(market::Answered{{.key = c->key,
                                    .fingerprint = c->fingerprint,
                                    .status = response.status,
                                    .at = turn.now()}});
      return response;
    };
    auto made = make();
    reply_after(turn, std::move(c), made ? *std::move(made) : refusal(made.error()));
  });
}

void App::serve_login(CallPtr call) {
  auto body = wire::from_json<wire::Login>(call->http.body);
  Result<> ok = body ? check_call(*call) : Result<>(std::unexpected(body.error()));
  if (ok && body->expires_in &&
      (*body->expires_in <= Duration() || *body->expires_in > kLongestSession))
    ok = fail(Code::invalid, "a session of " + to_string(*body->expires_in), "use up to 366d",
              "expires_in");
  if (!ok) return call->reply.send(problem(ok.error()));
  if (throttled(passwords_by_address_, call->http.peer.address, *call)) return;
  if (throttled(passwords_by_name_, body->name.substr(0, market::kNameMax + 1), *call)) return;
  verify_then_open_session(std::move(call), *std::move(body));
}

void App::verify_then_open_session(CallPtr call, wire::Login login) {
  on_core(std::move(call), [this, login = std::move(login)](Core::Turn& turn, CallPtr c) mutable {
    const auto* account = turn.state().find_account(login.name);
    const auto id = account == nullptr ? base::AccountId{} : account->id;
    auto hash = account == nullptr ? std::string() : account->password;
    auto holder = std::make_shared<CallPtr>(std::move(c));
    const bool taken = hashers_.post([this, holder, login, id, hash = std::move(hash)] {
      if (!verify_password(hash, login.password))
        return (*holder)->reply.send(problem(wrong_password().error()));
      on_core(std::move(*holder), [login, id, hash](Core::Turn& t, CallPtr done) {
        // The password may have been changed meanwhile, to keep this very caller out.
        auto session = t.state().accounts.at(id).password != hash
                           ? Result<net::Response>(wrong_password())
                           : open_session(t, *done, id, login.label.value_or("login"),
                                          login.expires_in.value_or(kSession));
        reply_after(t, std::move(done), session ? *std::move(session) : problem(session.error()));
      });
    });
    if (!taken) (*holder)->reply.send(refusal(busy().error()));
  });
}

void App::serve_logout(CallPtr call) {
  on_core(std::move(call), [this](Core::Turn& turn, CallPtr c) {
    const auto end = [&]() -> Result<net::Response> {
      SOUK_ASSIGN(const auto actor, authenticate(turn, *c));
      SOUK_TRY(check_call(*c));
      const auto token = turn.state().find_token(*c->token, turn.now())->id;
      SOUK_TRY(turn.execute(actor, market::RevokeToken{token}));
      if (c->cookie) c->reply.drop_cookie();
      return json(200, wire::to_json(wire::Acknowledged{}));
    };
    auto ended = end();
    reply_after(turn, std::move(c), ended ? *std::move(ended) : refusal(ended.error()));
  });
}

void App::serve_password(CallPtr call) {
  auto body = wire::from_json<wire::NewPassword>(call->http.body);
  Result<> ok = body ? check_call(*call) : Result<>(std::unexpected(body.error()));
  if (ok) ok = check_password(body->password);
  call->fingerprint = base::short_hash("change password");
  on_core(std::move(call), [this, ok, body](Core::Turn& turn, CallPtr c) mutable {
    const auto actor = authenticate(turn, *c);
    if (!actor) return reply_after(turn, std::move(c), refusal(actor.error()));
    if (!ok) return reply_after(turn, std::move(c), problem(ok.error()));
    if (auto first = repeated(turn, *c, actor->account))
      return reply_after(turn, std::move(c), *first ? **std::move(first) : problem(first->error()));
    if (throttled(passwords_by_name_, account_name(turn.state(), actor->account), *c)) return;
    change_password(std::move(c), *std::move(body), actor->account,
                    turn.state().accounts.at(actor->account).password);
  });
}

void App::change_password(CallPtr call, wire::NewPassword body, base::AccountId account,
                          std::string old_hash) {
  auto holder = std::make_shared<CallPtr>(std::move(call));
  const bool taken = hashers_.post([this, holder, body = std::move(body), account, old_hash] {
    if (!verify_password(old_hash, body.old_password))
      return (*holder)->reply.send(problem(wrong_password().error()));
    on_core(std::move(*holder), [this, account, old_hash, hash = hash_password(body.password)](
                                    Core::Turn& turn, CallPtr c) {
      const auto change = [&]() -> Result<net::Response> {
        SOUK_ASSIGN(const auto actor, authenticate(turn, *c));
        if (turn.state().accounts.at(account).password != old_hash) return wrong_password();
        SOUK_TRY(turn.execute(actor, market::ChangePassword{account, hash}));
        // Whoever knew the old password is out; this session stays.
        std::vector<base::TokenId> others;
        turn.state().tokens.for_each([&](const market::Token& t) {
          if (t.account == account && t.scope != Scope::machine && t.digest != *c->token)
            others.push_back(t.id);
        });
        for (const auto id : others) SOUK_TRY(turn.execute(actor, market::RevokeToken{id}));
        auto response = json(200, wire::to_json(wire::Acknowledged{}));
        remember(turn, *c, account, response);
        return response;
      };
      auto changed = change();
      reply_after(turn, std::move(c), changed ? *std::move(changed) : refusal(changed.error()));
    });
  });
  if (!taken) (*holder)->reply.send(refusal(busy().error()));
}

// --- Waiting for things to happen --------------------------------------------------------------

namespace {

constexpr auto kLongestWait = base::seconds(60);

Result<Duration> wait_of(const net::Request& http, Duration otherwise) {
  const auto text = http.param("wait");
  if (!text) return otherwise;
  SOUK_ASSIGN(const auto wait, base::parse_duration(*text));
  return std::min(wait, kLongestWait);
}

Result<std::uint64_t> number_of(const net::Request& http, std::string_view name) {
  auto text = http.param(name).value_or("");
  if (text.empty() && name == "after") text = http.header("Last-Event-ID");
  std::uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || (error == std::errc{} && end == text.data() + text.size())) return v;
  return fail(Code::invalid, fmt::format("'{}' is '{}'", name, text.substr(0, 40)),
              "use a whole number", std::string(name));
}

// Changes whenever the machine's open leases do. Fits a JavaScript number.
std::uint64_t version_of(const std::vector<wire::Lease>& leases) {
  std::string text;
  for (const auto& l : leases)
    text += fmt::format("{} {} {} {};", to_string(l.id), l.epoch, to_string(l.state), l.until.us);
  return base::short_hash(text) >> 11;
}

}  // namespace

void App::serve_events(CallPtr call) {
  on_core(std::move(call), [this](Core::Turn& turn, CallPtr c) {
    const auto actor = authenticate(turn, *c);
    const auto after = number_of(c->http, "after");
    const auto wait = wait_of(c->http, base::seconds(30));
    const auto checked = check_call(*c);
    for (const auto* error : {actor ? nullptr : &actor.error(), after ? nullptr : &after.error(),
                              wait ? nullptr : &wait.error(), checked ? nullptr : &checked.error()})
      if (error != nullptr) return reply_after(turn, std::move(c), refusal(*error));
    const Feed::Reader reader{actor->account, actor->scope == Scope::operator_,
                              turn.state().find_token(*c->token, turn.now())->id};
    const bool as_json =
        c->http.param("wait").has_value() ||
        c->http.header("Accept").find("application/json") != std::string_view::npos;
    const auto newest = turn.state().events;
    const auto deadline = clock_.now() + *wait;
    turn.after(
        [this, c = std::move(c), reader, as_json, newest, after = *after, deadline]() mutable {
          if (!as_json) {
            auto stream = c->reply.stream(
                {.content_type = "text/event-stream",
                 .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}});
            feed_.subscribe(std::move(stream), reader, after);
            return;
          }
          auto holder = std::make_shared<CallPtr>(std::move(c));
          const bool taken = feed_.poll(reader, after == 0 ? newest : after, deadline,
                                        [holder](wire::Notices notices) {
                                          (*holder)->reply.send(json(200, wire::to_json(notices)));
                                        });
          if (!taken) (*holder)->reply.send(problem(503, "too many readers"));
        });
  });
}

Result<const market::Machine*> App::machine_for(const market::State& s, const Actor& actor,
                                                const Call& call, bool operators) {
  const auto id = base::IdTraits<base::MachineId>::parse(call.params[0]);
  const auto* machine = id ? s.machines.find(*id) : nullptr;
  if (machine != nullptr) {
    const bool mine =
        actor.scope == Scope::machine ? actor.machine == *id : actor.account == machine->owner;
    if (mine || (operators && actor.scope == Scope::operator_)) return machine;
  }
  return Context::no_such("machine", call.params[0]);
}

void App::serve_work(CallPtr call) {
  on_core(std::move(call), [this](Core::Turn& turn, CallPtr c) {
    const auto& s = turn.state();
    const auto actor = authenticate(turn, *c);
    if (!actor) return reply_after(turn, std::move(c), refusal(actor.error()));
    const auto machine = machine_for(s, *actor, *c, true);
    if (!machine) return reply_after(turn, std::move(c), problem(machine.error()));
    const auto id = (*machine)->id;
    const auto seen = number_of(c->http, "seen");
    const auto wait = wait_of(c->http, Duration());
    if (const auto checked = check_call(*c); !checked || !seen || !wait)
      return reply_after(turn, std::move(c),
                         problem(!checked ? checked.error()
                                 : !seen  ? seen.error()
                                          : wait.error()));
    wire::OpenLeases work;
    for (const auto lease : s.index.leases_of[id.value])
      work.leases.push_back(view(s, s.leases.at(lease)));
    work.version = version_of(work.leases);
    for (auto& lease : work.leases) lease.task = job::task_of(s, s.leases.at(lease.id));
    const bool same = c->http.param("seen") && *seen == work.version;
    if (!same || *wait <= Duration())
      return reply_after(turn, std::move(c), json(200, wire::to_json(work)));
    // Ask again when something changed or the time is up, and do not wait then.
    std::erase_if(c->http.query, [](const auto& q) { return q.first == "wait"; });
    auto holder = std::make_shared<CallPtr>(std::move(c));
    const bool taken = feed_.await_work(id, clock_.now() + *wait,
                                        [this, holder] { serve_work(std::move(*holder)); });
    if (!taken) (*holder)->reply.send(problem(503, "too many agents are waiting"));
  });
}

// --- Metrics -----------------------------------------------------------------------------------

void App::serve_metrics(CallPtr call) {
  on_core(std::move(call), [this](Core::Turn& turn, CallPtr c) {
    if (!options_.metrics_public && !is_local(c->http)) {
      const auto actor = authenticate(turn, *c);
      if (!actor) return reply_after(turn, std::move(c), refusal(actor.error()));
      if (actor->scope != Scope::operator_)
        return reply_after(turn, std::move(c),
                           problem(base::Error{Code::forbidden, "metrics are for operators"}));
    }
    reply_after(turn, std::move(c), metrics(turn));
  });
}

net::Response App::metrics(const Core::Turn& turn) const {
  const auto& s = turn.state();
  std::string out;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       std::string_view value) {
    out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
  };
  const auto count = [&](std::string_view name, std::string_view help, std::uint64_t v) {
    add(name, "counter", help, std::to_string(v));
  };
  const auto gauge = [&](std::string_view name, std::string_view help, const std::string& v) {
    add(name, "gauge", help, v);
  };
  const auto core = core_.counters();
  count("souk_commands_total", "Commands decided.", core.commands);
  count("souk_commands_refused_total", "Commands refused.", core.refused);
  count("souk_events_total", "Events committed.", core.events);
  count("souk_commits_total", "Journal commits.", core.commits);
  add("souk_commit_seconds_total", "counter", "Time spent in journal commits.",
      fmt::format("{}", static_cast<double>(core.commit_us) / 1e6));
  count("souk_queue_full_total", "Requests turned away because the core was busy.",
        core.queue_full);
  if (net_counters_) {
    const auto net = net_counters_();
    gauge("souk_connections", "Open connections.", std::to_string(net.open));
    count("souk_requests_total", "HTTP requests.", net.requests);
    count("souk_connections_refused_total", "Connections over a limit.", net.refused);
  }
  gauge("souk_readers", "Streams and long polls.", std::to_string(feed_.readers()));
  gauge("souk_accounts", "Accounts.", std::to_string(s.accounts.size()));
  gauge("souk_machines", "Machines.", std::to_string(s.machines.size()));
  gauge("souk_offers", "Offers.", std::to_string(s.offers.size()));
  gauge("souk_ledger_sum_credits", "Sum of all balances; anything but 0 is a bug.",
        to_string(s.ledger.sum()));
  gauge("souk_minted_credits", "Credits granted so far.", to_string(s.ledger.minted()));
  std::map<std::string_view, int> jobs;
  for (const auto state : names_of(market::JobState{})) jobs[state] = 0;
  s.jobs.for_each([&](const market::Job& j) { ++jobs[to_string(j.state)]; });
  out += "# HELP souk_jobs Jobs by state.\n# TYPE souk_jobs gauge\n";
  for (const auto& [state, n] : jobs)
    out += fmt::format("souk_jobs{{state=\"{}\"}} {}\n", state, n);
  const auto& errors = services_.forecast_errors;
  gauge("souk_forecasts", "Forecasts of trainings that were compared with what happened.",
        std::to_string(errors.count()));
  out +=
      "# HELP souk_forecast_error How far their times were off, as a share.\n"
      "# TYPE souk_forecast_error gauge\n";
  for (const auto q : {0.5, 0.9})
    if (const auto error = errors.quantile(q))
      out += fmt::format("souk_forecast_error{{quantile=\"{}\"}} {:.4f}\n", q, *error);
  out += "# HELP souk_slots Slots by class.\n# TYPE souk_slots gauge\n";
  for (const auto& c : s.classes) {
    const auto& index = s.index.classes[c.id.value - 1];
    out += fmt::format(
        "souk_slots{{class=\"{0}\",kind=\"leased\"}} {1}\n"
        "souk_slots{{class=\"{0}\",kind=\"wanted\"}} {2}\n",
        c.name, index.leased, index.wanted);
  }
  return {.content_type = "text/plain; version=0.0.4", .body = std::move(out)};
}

}  // namespace souk::server
