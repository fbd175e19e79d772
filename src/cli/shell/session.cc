#include "cli/shell/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/shell/human.h"

namespace souk::cli {
namespace {

Command token_create() {
  struct Options {
    std::string label;
    base::Scope scope = base::Scope::user;
    std::optional<base::MachineId> machine;
    std::optional<base::Duration> expires_in;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "create",
              .summary = "make a token, printed once",
              .examples = {"token create --label laptop --expires-in 30d",
                           "token create --scope machine --machine m1"}};
  out.options = {flag("--label TEXT", "to recognise it by", o->label),
                 flag("--scope SCOPE", one_of(o->scope), o->scope),
                 flag("--machine ID", "the machine, with scope machine", o->machine),
                 flag("--expires-in TIME", "for example 30d", o->expires_in)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    if (o->scope == base::Scope::spend)
      return usage("a token that can spend needs a limit", "souk spend 5 --for 24h");
    const wire::NewToken request{o->scope, o->machine, o->label, o->expires_in, {}};
    SOUK_ASSIGN(const auto body, api->post("/v1/tokens", wire::to_json(request)));
    return c.show<wire::IssuedToken>(body, [&](const auto& t) {
      c.note(fmt::format("token {} ({}), shown only now; use it as SOUK_TOKEN:", to_string(t.id),
                         to_string(t.scope)));
      c.print(t.token + "\n");
    });
  };
  return out;
}

Command token_revoke() {
  struct Options {
    base::TokenId id;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "revoke", .summary = "end a token at once", .examples = {"token revoke t3"}};
  out.options = {argument("TOKEN", "its id, as `souk token list` shows", o->id)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->remove(path_of("/v1/tokens", to_string(o->id))));
    return c.done(body, fmt::format("token {} is revoked", to_string(o->id)));
  };
  return out;
}

}  // namespace

base::Result<std::string> new_password(Context& c, const char* variable) {
  SOUK_ASSIGN(auto first, read_password(c.env(), "new password", variable));
  if (c.env()(variable)) return first;
  SOUK_ASSIGN(const auto again, read_password(c.env(), "the same again", variable));
  if (first != again) return usage("the two passwords differ", "try again");
  return first;
}

Result<> keep_if_first(Context& c, const wire::Session& session) {
  SOUK_ASSIGN(const bool stored, c.has_stored_token());
  SOUK_ASSIGN(const auto* target, c.target());
  if (stored) {
    c.note(
        fmt::format("souk: another account's token is stored for {}, so this one is not: `souk "
                    "login {}` changes to it",
                    target->server, session.account.name));
    return {};
  }
  const auto kept = c.remember([&](KnownServer& known, Config& config) {
    if (!config.server) config.server = target->server;
    known.token = session.token;
    known.account = session.account.name;
    if (!target->pin.empty()) known.pin = target->pin;
    if (!target->ca.empty()) known.ca = target->ca;
  });
  // The account exists now, whatever happens to the file.
  c.note(kept ? fmt::format("souk: you are logged in to {} as {}", target->server,
                            session.account.name)
              : fmt::format("souk: the token could not be stored: {}", kept.error().message));
  return {};
}

Command tokens_command(std::string name) {
  auto o = std::make_shared<Paging>();
  Command out{.name = std::move(name),
              .summary = "your live tokens, and what those with a limit have spent",
              .examples = {"token list", "token list --json"}};
  out.options = paging_flags(*o);
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/tokens" + query_string(params(*o))));
    return c.show<wire::Page<wire::Token>>(body, [&](const auto& page) {
      using enum Column::Align;
      Table table({{"id"},
                   {"scope"},
                   {"machine", left, 0, 1},
                   {"label", left, 8},
                   {"limit", right},
                   {"spent", right},
                   {"reserved", right},
                   {"made", right, 0, 2},
                   {"ends", right}});
      for (const auto& t : page.items)
        table.add({to_string(t.id), word(t.scope), t.machine ? to_string(*t.machine) : "", t.label,
                   brief(t.limit, ""), brief(t.spent, ""), brief(t.reserved, ""),
                   relative(t.created, c.now()),
                   t.expires ? relative(*t.expires, c.now()) : "never"});
      c.print(table);
      show_next(c, page.next);
    });
  };
  return out;
}

Command token_command() {
  Command out{.name = "token",
              .summary = "list, make and revoke tokens",
              .examples = {"token list", "token create --label laptop", "token revoke t3"}};
  out.commands = {tokens_command("list"), token_create(), token_revoke()};
  return out;
}

Command login_command() {
  struct Options {
    std::string name;
    std::string label;
    std::optional<base::Duration> expires_in;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "login",
              .summary = "get a token for an account and store it",
              .examples = {"login ada", "login ada --server https://souk.example --pin 9f86d0..."}};
  out.options = {argument("NAME", "the account", o->name),
                 flag("--label TEXT", "to recognise the token by; default: this host", o->label),
                 flag("--expires-in TIME", "for example 30d", o->expires_in)};
  out.details =
      "The password is asked for, or taken from SOUK_PASSWORD. The server becomes the one that "
      "souk "
      "uses unless you name another; --pin and --ca are stored with it.";
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(const auto password, read_password(c.env(), "password of " + o->name));
    SOUK_ASSIGN(auto* api, c.api());
    char host[256] = "souk";
    gethostname(host, sizeof host - 1);
    const wire::Login request{o->name, password, o->label.empty() ? host : o->label, o->expires_in};
    SOUK_ASSIGN(const auto body, api->post("/v1/login", wire::to_json(request)));
    SOUK_ASSIGN(const auto session, parse_body<wire::Session>(body));
    SOUK_ASSIGN(const auto* target, c.target());
    SOUK_TRY(c.remember([&](KnownServer& known, Config& config) {
      config.server = target->server;
      known = {.account = session.account.name, .token = session.token};
      if (!target->pin.empty()) known.pin = target->pin;
      if (!target->ca.empty()) known.ca = target->ca;
    }));
    if (c.env()("SOUK_TOKEN"))
      c.note("souk: SOUK_TOKEN is set and goes before the stored token: unset it");
    return c.done(body, fmt::format("logged in to {} as {}, until {}", target->server,
                                    printable(session.account.name), to_string(session.expires)));
  };
  return out;
}

Command logout_command() {
  struct Options {
    bool everywhere = false;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "logout",
              .summary = "forget the stored token",
              .examples = {"logout", "logout --everywhere"}};
  out.options = {flag("--everywhere", "revoke all tokens of the account too", o->everywhere)};
  out.run = [o](Context& c) -> Result<> {
    std::string body = R"({"ok":true})";
    if (o->everywhere) {
      SOUK_ASSIGN(auto* api, c.api());
      SOUK_ASSIGN(body, api->remove("/v1/tokens"));
    }
    SOUK_TRY(c.remember([](KnownServer& known, Config&) {
      known.token.reset();
      known.account.reset();
    }));
    return c.done(body, o->everywhere ? "logged out everywhere: all tokens are revoked"
                                      : "logged out here; --everywhere revokes all tokens too");
  };
  return out;
}

std::vector<Option> paging_flags(Paging& p) {
  return {flag("--limit N", "at most this many rows", p.limit),
          flag("--after CURSOR", "go on after an earlier page", p.after)};
}

std::vector<std::pair<std::string, std::string>> params(const Paging& p) {
  return {{"limit", p.limit ? std::to_string(*p.limit) : ""}, {"after", p.after}};
}

void show_next(Context& c, const std::optional<std::string>& next) {
  if (next) c.note(fmt::format("there is more: --after {}", printable(*next)));
}

}  // namespace souk::cli
