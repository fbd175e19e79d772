#include "server/http/steps.h"

#include "server/http/idempotency.h"

namespace souk::server {
namespace {

net::Response answer(Context& context, const ApiCall& call, CoreStep step) {
  if (auto first = first_answer(context, call))
    return *first ? **std::move(first) : problem(first->error());
  const auto events = context.state().events;
  auto body = step(context);
  if (!body) return problem(body.error());
  auto response = json_response(*std::move(body), call.route->doc.status);
  // What changed nothing can be asked again: most heartbeats stay out of the journal so.
  if (context.state().events != events) remember_answer(context, call, response);
  return response;
}

}  // namespace

net::Response counted(ServerContext& server, base::AccountId account, net::Response response) {
  constexpr std::size_t small = 64 << 10;
  if (response.body.size() <= small) return response;
  auto share = base::BudgetShare::take(server.services.budgets.answer_bytes, party(account),
                                       response.body.size());
  if (!share) return refusal(share.error());
  response.held = std::make_shared<base::BudgetShare>(*std::move(share));
  return response;
}

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
  to_core_authorised(
      server, std::move(call), std::move(step), [](Context& context, ApiCallPtr c, CoreStep ready) {
        auto response = answer(context, *c, std::move(ready));
        // A change that was made is never answered as if it had been refused.
        if (!c->route->doc.idempotency_key)
          response = counted(context.server(), context.actor.account, std::move(response));
        answer_after(context.turn(), std::move(c), std::move(response));
      });
}

}  // namespace souk::server
