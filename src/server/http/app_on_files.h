#pragma once

#include <memory>
#include <string>
#include <utility>

#include "server/http/app.h"
#include "server/http/problem.h"

// What the routes share whose work is done beside the core (app_files.cc, app_training.cc).

namespace souk::server {

inline net::Response as_json(std::string body) { return {.status = 200, .body = std::move(body)}; }

inline net::Response as_bytes(std::string body) {
  return {.status = 200, .content_type = "application/octet-stream", .body = std::move(body)};
}

inline net::Response or_problem(Result<net::Response> result) {
  return result ? *std::move(result) : problem(result.error());
}

// The lease a route is about, for its machine's agent or for those it concerns.
Result<const market::Lease*> lease_for(const market::State& s, const market::Actor& actor,
                                       const std::string& text, bool as_agent);

// The job a route is about, for its owner and for operators.
Result<const market::Job*> job_for(const market::State& s, const market::Actor& actor,
                                   const std::string& text);

// A whole number that is not negative.
Result<std::int64_t> number_of(const std::string& text, std::string_view name);
// One in the query, or `otherwise` where it is absent.
Result<std::int64_t> number_in(const net::Request& http, std::string_view name,
                               std::int64_t otherwise);

// Authenticates and asks `look` on the core, then does `work` with what it said on one of `pool`.
template <class Look, class Work>
void App::on_pool(Pool& pool, CallPtr call, Look look, Work work) {
  on_core(std::move(call), [this, &pool, look, work](Core::Turn& turn, CallPtr c) {
    const auto seen =
        [&]() -> std::invoke_result_t<Look, const market::State&, const market::Actor&, Call&> {
      SOUK_ASSIGN(const auto actor, authenticate(turn, *c));
      SOUK_TRY(check_call(*c));
      return look(turn.state(), actor, *c);
    }();
    if (!seen) return reply_after(turn, std::move(c), problem(seen.error()));
    auto holder = std::make_shared<CallPtr>(std::move(c));
    const bool taken = pool.post([holder, work, seen = *seen] {
      auto response = or_problem(work(**holder, seen));
      (*holder)->reply.send(std::move(response));
    });
    if (!taken)
      (*holder)->reply.send(
          problem(base::Error{base::Code::unavailable, "too many files are moving", "try again"}));
  });
}

template <class Look, class Work>
void App::on_files(CallPtr call, Look look, Work work) {
  on_pool(files_, std::move(call), std::move(look), std::move(work));
}

}  // namespace souk::server
