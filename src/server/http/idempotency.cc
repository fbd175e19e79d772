#include "server/http/idempotency.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/http/responses.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kKeyMax = 200;
constexpr std::size_t kKeptAnswer = 64 << 10;  // A longer answer is not kept for a repeat.

bool printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c > 32 && c < 127; });
}

}  // namespace

Result<> check_key(const ApiCall& call) {
  if (!call.route->doc.idempotency_key) return {};
  if (!call.key.empty() && call.key.size() <= kKeyMax && printable(call.key)) return {};
  return fail(Code::invalid,
              call.key.empty() ? "a change needs an Idempotency-Key header"
                               : "the Idempotency-Key cannot be used",
              fmt::format("send 1 to {} printable characters, new for each change and the same "
                          "when you retry it",
                          kKeyMax),
              "Idempotency-Key");
}

std::optional<Result<net::Response>> first_answer(const market::State& s, const ApiCall& call,
                                                  base::AccountId account) {
  if (!call.route->doc.idempotency_key) return std::nullopt;
  const auto* first = s.find_answer(account, call.key);
  if (first == nullptr) return std::nullopt;
  if (first->fingerprint != call.fingerprint)
    return fail(Code::conflict, "this Idempotency-Key was used for another request",
                "use a new key for a new request", "Idempotency-Key");
  if (first->body.empty() && call.route->secret_answer)
    return fail(Code::conflict, "this was done already, and its answer held a secret shown once",
                "revoke that token and make another with a new key", "Idempotency-Key");
  if (first->body.empty())
    return fail(Code::conflict, "this was done already, and its answer was too long to keep",
                "ask for the thing itself", "Idempotency-Key");
  auto response = json_response(first->body, first->status);
  response.headers.emplace_back("Idempotent-Replay", "true");
  return response;
}

void remember_answer(Core::Turn& turn, const ApiCall& call, base::AccountId account,
                     const net::Response& response) {
  const bool kept = !call.route->secret_answer && response.body.size() <= kKeptAnswer;
  turn.record(market::Answered{{.account = account,
                                .key = call.key,
                                .fingerprint = call.fingerprint,
                                .status = response.status,
                                .body = kept ? response.body : std::string(),
                                .at = turn.now()}});
}

}  // namespace souk::server
