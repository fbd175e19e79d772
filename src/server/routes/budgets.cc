#include "server/core/budgets.h"

#include "server/http/router.h"
#include "wire/api/budget.h"

// What one account uses of what members share.

namespace souk::server {
namespace {

// Connections belong to addresses: those of whoever asks are shown, and of nobody else.
wire::BudgetUses uses_of(Context& c, base::AccountId account) {
  const auto& budgets = c.services().budgets;
  const auto& connections = c.server().options.connections_from;
  wire::BudgetUses out;
  for (const auto* budget : budgets.all) {
    const bool by_address = budget == &budgets.connections;
    if (by_address && (account != c.actor.account || !connections)) continue;
    const auto used =
        by_address ? connections(c.http().peer.address) : budget->used(party(account));
    out.items.push_back({.name = budget->name(),
                         .what = budget->what(),
                         .unit = budget->unit(),
                         .used = static_cast<std::int64_t>(used),
                         .limit = static_cast<std::int64_t>(budget->limit().each)});
  }
  return out;
}

}  // namespace

void add_budget_routes(Routes& routes) {
  routes.get("/v1/accounts/{name}/budgets", "getBudgets",
             "What an account uses of its budgets: one's own, or an operator any", Access::user,
             [](Context& c) -> Result<wire::BudgetUses> {
               const auto* account = c.state().find_account(c.param());
               const bool mine = account != nullptr && account->id == c.actor.account;
               if (account == nullptr || !(mine || c.is_operator()))
                 return Context::no_such("account", c.param());
               return uses_of(c, account->id);
             });
}

}  // namespace souk::server
