#include "market/decide/decide.h"

#include <fmt/format.h>

#include <algorithm>

#include "market/decide/decider.h"

namespace souk::market {

using base::Code;
using base::fail;

Result<> Decider::need_operator(std::string_view what) const {
  if (is_operator() || is_system()) return {};
  return fail(Code::forbidden, fmt::format("only an operator may {}", what),
              "ask the operator of this market");
}

Result<> Decider::need_owner(AccountId owner, std::string_view what) const {
  if (acts_for(owner)) return {};
  return fail(
      Code::forbidden, fmt::format("{} belongs to somebody else", what),
      actor_.scope == Scope::machine ? "a machine's token acts for its machine's leases only" : "");
}

Result<> Decider::need_agent(const Machine& machine) const {
  if (actor_.scope == Scope::machine && actor_.machine == machine.id) return {};
  return need_owner(machine.owner, machine.id);
}

Result<> Decider::need_active(AccountId account) const {
  const auto& a = s.accounts.at(account);
  if (a.frozen.empty()) return {};
  return fail(Code::forbidden, fmt::format("account '{}' is frozen: {}", a.name, a.frozen),
              "ask the operator of this market");
}

Result<> Decider::need_person(std::string_view what) const {
  if (actor_.scope == Scope::machine || s.accounts.find(actor_.account) == nullptr)
    return fail(Code::forbidden, fmt::format("only people may {}", what), "use your own token");
  return need_active(actor_.account);
}

void Decider::audit(std::string action, std::string subject, std::string detail) {
  out.push_back(
      Audited{{now, actor_.account, std::move(action), std::move(subject), std::move(detail)}});
}

void Decider::audit_other(AccountId owner, std::string action, std::string subject,
                          std::string detail) {
  if (actor_.account != owner) audit(std::move(action), std::move(subject), std::move(detail));
}

Result<const SlotClass*> Decider::find_class(ClassId id) const {
  if (id.value >= 1 && id.value <= s.classes.size()) return &s.slot_class(id);
  return fail(Code::not_found, fmt::format("there is no slot class {}", to_string(id)), "",
              "class");
}

Result<Decision> decide(const State& state, const Request& request) {
  const auto at = std::max(request.now, state.now);
  Decider decider(state, at, request.actor);
  SOUK_TRY(std::visit(decider, request.command));
  return Decision{at, std::move(decider.out)};
}

Result<Events> execute(State& state, const Request& request) {
  SOUK_ASSIGN(auto decision, decide(state, request));
  for (const auto& event : decision.events) apply(state, decision.at, event);
  return std::move(decision.events);
}

}  // namespace souk::market
