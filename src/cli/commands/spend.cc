#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "wire/api/account.h"

// A token for a program that runs jobs without anybody watching.

namespace souk::cli {

Command spend_command() {
  struct Options {
    std::optional<base::Credits> credits;
    base::Duration length = base::hours(24);
    std::string label;
  };
  auto o = std::make_shared<Options>();
  Command out{
      .name = "spend",
      .summary = "make a token with a spending limit, for scripts and agents",
      .examples = {"spend 5", "spend 5 --for 24h --label nightly", "spend 0.5 --for 1h --json"}};
  out.options = {
      optional(argument("CREDITS", "the most that all its jobs may cost together", o->credits)),
      another_spelling("--limit CREDITS", "CREDITS", o->credits),
      flag("--for TIME", "how long it can be used; default 24h", o->length),
      flag("--label TEXT", "to recognise it by", o->label)};
  out.details =
      "Whoever has the token can plan, run, follow, change and cancel its jobs, fetch their "
      "results and see prices, and nothing else. What its live jobs have reserved and what its "
      "jobs have spent never passes the limit; what a job gives back can be spent again. Jobs that "
      "run when it ends go on. `souk token list` shows what it has spent, and `souk token revoke` "
      "ends it.";
  out.run = [o](Context& c) -> Result<> {
    if (!o->credits)
      return usage("`souk spend` needs CREDITS", "the most its jobs may cost: souk spend 5");
    SOUK_ASSIGN(auto* api, c.api());
    const wire::NewToken request{base::Scope::spend, {}, o->label, o->length, o->credits};
    SOUK_ASSIGN(const auto body, api->post("/v1/tokens", wire::to_json(request)));
    return c.show<wire::IssuedToken>(body, [&](const wire::IssuedToken& t) {
      c.note(
          fmt::format("token {} can spend {} credits and ends {}. It is shown only now; give it "
                      "to the program as SOUK_TOKEN:",
                      to_string(t.id), brief(t.limit), relative(t.expires, c.now())));
      c.print(t.token + "\n");
    });
  };
  return out;
}

}  // namespace souk::cli
