#include "server/http/idempotency.h"

#include <fmt/format.h>

#include <algorithm>

#include "market/limits.h"
#include "server/http/responses.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kKeptAnswer = 16 << 10;  // A longer answer is not kept for a repeat.

bool printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c > 32 && c < 127; });
}

// The id that an answer begins with: that of the thing it is about.
std::string id_in(std::string_view body) {
  constexpr std::string_view begin = R"({"id":")";
  if (!body.starts_with(begin)) return "";
  body.remove_prefix(begin.size());
  return std::string(body.substr(0, std::min<std::size_t>(body.find('"'), 24)));
}

// Of an account that uses up the server's memory for keys, or its journal, nothing more is taken,
// except reports of machines: these carry numbers, so that a repeat has no effect.
Result<> check_budgets(Context& c, const ApiCall& call) {
  if (call.route->numbered) return {};
  auto& budgets = c.services().budgets;
  const auto& s = c.state();
  const auto who = party(c.actor.account);
  // Some are due to be forgotten, with the next thing that happens.
  const bool growing_old = !s.keys.empty() && s.keys.front().at + market::kKeysFor <= c.now();
  if (!growing_old) SOUK_TRY(budgets.keys.would_take(who, 1));
  return budgets.journal_bytes.would_take(who, c.now(), 1);
}

}  // namespace

Result<> check_key(const ApiCall& call) {
  if (!call.route->doc.idempotency_key) return {};
  if (!call.key.empty() && call.key.size() <= wire::kMostKeyBytes && printable(call.key)) return {};
  return fail(Code::invalid,
              call.key.empty() ? "a change needs an Idempotency-Key header"
                               : "the Idempotency-Key cannot be used",
              fmt::format("send 1 to {} printable characters, new for each change and the same "
                          "when you retry it",
                          wire::kMostKeyBytes),
              "Idempotency-Key");
}

std::optional<Result<net::Response>> first_answer(Context& c, const ApiCall& call) {
  if (!call.route->doc.idempotency_key) return std::nullopt;
  const auto account = c.actor.account;
  const auto* used = c.state().find_key(account, call.key);
  const auto* first = c.state().find_answer(account, call.key);
  if (used == nullptr && first == nullptr) {
    if (auto room = check_budgets(c, call); !room) return std::unexpected(room.error());
    return std::nullopt;
  }
  if ((used != nullptr ? used->fingerprint : first->fingerprint) != call.fingerprint)
    return fail(Code::conflict, "this Idempotency-Key was used for another request",
                "use a new key for a new request", "Idempotency-Key");
  if (first != nullptr) {
    auto response = json_response(first->body, first->status);
    response.headers.emplace_back("Idempotent-Replay", "true");
    return response;
  }
  const auto made = market::unpack_id(used->made);
  const auto done = made.empty() ? std::string("this was done already")
                                 : fmt::format("this was done already, and made {}", made);
  if (call.route->secret_answer)
    return fail(Code::conflict, done + "; its answer held a secret shown once",
                "revoke that token and make another with a new key", "Idempotency-Key");
  return fail(Code::conflict, done + "; its answer is not kept any more",
              "ask for the thing itself; it is not done twice", "Idempotency-Key");
}

void remember_answer(Context& c, const ApiCall& call, const net::Response& response) {
  const bool kept = !call.route->secret_answer && response.body.size() <= kKeptAnswer;
  const auto account = c.actor.account;
  c.turn().record(market::Answered{{.account = account,
                                    .fingerprint = call.fingerprint,
                                    .status = response.status,
                                    .body = kept ? response.body : std::string(),
                                    .at = c.now(),
                                    .key_hash = market::key_hash_of(account, call.key),
                                    .made = id_in(response.body),
                                    .numbered = call.route->numbered}});
  auto& budgets = c.services().budgets;
  budgets.keys.set_used(party(account), c.state().index.counts[account.value].keys);
  budgets.journal_bytes.charge(party(account), c.now(), c.turn().task_bytes());
}

}  // namespace souk::server
