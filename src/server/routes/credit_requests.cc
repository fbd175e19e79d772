#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "server/http/router.h"
#include "server/routes/views.h"

// What people ask of the operator when they have no credits, and the answers.

namespace souk::server {
namespace {

constexpr std::size_t kMostShown = 500;

using Requests = std::map<base::AccountId, market::CreditRequest>;

// Open ones first, the longest waiting before others; then what was answered last.
wire::CreditRequests all_of(const market::State& s, const Requests& requests) {
  std::vector<const Requests::value_type*> order;
  for (const auto& entry : requests) order.push_back(&entry);
  const auto shown = std::min(order.size(), kMostShown);
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(shown), {}, [](const auto* entry) {
        const auto& r = entry->second;
        return std::tuple(!r.open(), r.open() ? r.at.us : -r.answered.us, entry->first);
      });
  wire::CreditRequests out;
  for (std::size_t i = 0; i < shown; ++i)
    out.items.push_back(view(s, order[i]->first, order[i]->second));
  return out;
}

Result<wire::CreditRequests> list_requests(Context& c) {
  const auto& requests = c.state().requests;
  if (c.is_operator()) {
    c.charge(requests.size(), kLooksPerRequest);
    return all_of(c.state(), requests);
  }
  wire::CreditRequests out;
  if (const auto mine = requests.find(c.actor.account); mine != requests.end())
    out.items.push_back(view(c.state(), mine->first, mine->second));
  return out;
}

Result<wire::CreditRequest> shown(const Context& c, base::AccountId account) {
  return view(c.state(), account, c.state().requests.at(account));
}

Result<wire::CreditRequest> request_credits(Context& c, const wire::NewCreditRequest& body) {
  SOUK_TRY(c.execute(market::RequestCredits{body.amount, body.why}));
  return shown(c, c.actor.account);
}

Result<wire::CreditRequest> answer_request(Context& c, const wire::CreditAnswer& body) {
  const auto* account = c.state().find_account(c.param());
  if (account == nullptr) return Context::no_such("account", c.param());
  if (body.amount && *body.amount <= base::Credits())
    return base::fail(base::Code::invalid,
                      fmt::format("{} credits cannot be granted", to_string(*body.amount)),
                      "use more than 0, or leave the amount out to decline", "amount");
  SOUK_TRY(c.execute(
      market::AnswerRequest{account->id, body.amount.value_or(base::Credits()), body.word}));
  return shown(c, account->id);
}

}  // namespace

void add_credit_request_routes(Routes& routes) {
  routes.get("/v1/credits/requests", "listCreditRequests",
             "Requests for credits: one's own last, for an operator everybody's", Access::user,
             &list_requests);
  routes.change<wire::NewCreditRequest>(
      "POST", "/v1/credits/requests", "requestCredits",
      "Ask the operator for credits; replaces one's own open request", Access::user, 201,
      &request_credits);
  routes.change<wire::CreditAnswer>(
      "POST", "/v1/accounts/{name}/request", "answerCreditRequest",
      "Grant what an account asked for, or a part of it, or decline; with a word",
      Access::operator_, 200, &answer_request);
}

}  // namespace souk::server
