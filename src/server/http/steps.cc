#include "server/http/steps.h"

#include "server/http/idempotency.h"

namespace souk::server {
namespace {

net::Response answer(Context& context, const ApiCall& call, CoreStep step) {
  const auto account = context.actor.account;
  if (auto first = first_answer(context.state(), call, account))
    return *first ? **std::move(first) : problem(first->error());
  const auto events = context.state().events;
  auto body = step(context);
  if (!body) return problem(body.error());
  auto response = json_response(*std::move(body), call.route->doc.status);
  // What changed nothing can be asked again: most heartbeats stay out of the journal so.
  if (context.state().events != events) remember_answer(context.turn(), call, account, response);
  return response;
}

}  // namespace

void answer_after(Core::Turn& turn, ApiCallPtr call, net::Response response) {
  turn.after([call = std::move(call), response = std::move(response)]() mutable {
    call->reply.send(std::move(response));
  });
}

Result<market::Actor> authorise(ServerContext& server, const Core::Turn& turn, ApiCall& call) {
  if (call.route->access == Access::everybody) return market::Actor{};
  return server.authentication.actor_of(turn, call);
}

void serve_on_core(ServerContext& server, ApiCallPtr call, Result<CoreStep> step) {
  to_core_authorised(server, std::move(call), std::move(step),
                     [](Context& context, ApiCallPtr c, CoreStep ready) {
                       auto response = answer(context, *c, std::move(ready));
                       answer_after(context.turn(), std::move(c), std::move(response));
                     });
}

}  // namespace souk::server
