#pragma once

#include <functional>
#include <string>
#include <utility>

#include "server/http/context.h"
#include "server/http/responses.h"

// How a request gets from one thread to the next. Where a queue is full, or its thread has stopped,
// the call is dropped and answers 503 itself: nobody here looks at what `post` says.

namespace souk::server {

// Goes on with step(turn, call) on the core thread.
template <class Step>
void to_core(ServerContext& server, ApiCallPtr call, Step step) {
  server.core.post([call = std::move(call), step = std::move(step)](Core::Turn& turn) mutable {
    step(turn, std::move(call));
  });
}

// Goes on with step(call) on a thread of the pool.
template <class Step>
void to_pool(Pool& pool, ApiCallPtr call, Step step) {
  pool.post([call = std::move(call), step = std::move(step)]() mutable { step(std::move(call)); });
}

// The answer, counted as the account's for as long as it is on its way; a refusal where that is
// more than they may have there. A small one is not counted: connections are.
[[nodiscard]] net::Response counted(ServerContext& server, base::AccountId account,
                                    net::Response response);

// Answers once everything that the answer may tell of is durable.
void answer_after(Core::Turn& turn, ApiCallPtr call, net::Response response);

// Who asks, as far as the route wants to know; an error where it is not for them.
[[nodiscard]] Result<market::Actor> authorise(ServerContext& server, const Core::Turn& turn,
                                              ApiCall& call);

// Goes on with step(context, call, body) on the core thread for those who may; answers the others,
// and only then what is wrong with the request.
template <class Body, class Step>
void to_core_authorised(ServerContext& server, ApiCallPtr call, Result<Body> body, Step step) {
  to_core(server, std::move(call),
          [&server, body = std::move(body), step = std::move(step)](Core::Turn& turn,
                                                                    ApiCallPtr c) mutable {
            const auto actor = authorise(server, turn, *c);
            if (!actor) return answer_after(turn, std::move(c), refusal(actor.error()));
            if (!body) return answer_after(turn, std::move(c), problem(body.error()));
            Context context(turn, *c, *actor, server);
            step(context, std::move(c), *std::move(body));
          });
}

// What is left to do on the core once the body has been read. Gives the body of the answer.
using CoreStep = std::move_only_function<Result<std::string>(Context&)>;

// Does it, unless the key of the request was used before; what changed something is remembered
// under that key. An error: what is wrong with the request.
void serve_on_core(ServerContext& server, ApiCallPtr call, Result<CoreStep> step);

}  // namespace souk::server
