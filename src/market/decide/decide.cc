#include "market/decide/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "market/decide/decider.h"

namespace souk::market {

using base::Code;
using base::fail;

namespace {

// What a token that can spend only so much may ask for: jobs, and nothing else.
struct AskedBySpenders {
  template <class C>
  bool operator()(const C&) const {
    return std::is_same_v<C, SubmitJob> || std::is_same_v<C, ChangeJob> ||
           std::is_same_v<C, PauseJob> || std::is_same_v<C, ResumeJob> ||
           std::is_same_v<C, CancelJob>;
  }
};

}  // namespace

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

Result<> Decider::need_job(const Job& job) const {
  SOUK_TRY(need_owner(job.owner, job.id));
  if (!is_spender() || (actor_.token && job.token == actor_.token)) return {};
  return fail(Code::forbidden,
              fmt::format("job {} was not submitted with this token", to_string(job.id)),
              "use the token it was submitted with, or your own: souk login NAME");
}

Result<> Decider::need_allowance(Credits more) const {
  if (!is_spender() || more <= Credits()) return {};
  const auto* token = s.tokens.find(actor_.token);
  if (token == nullptr || !token->limit)
    return fail(Code::forbidden, "this token can spend nothing", "make one: souk spend 5");
  const auto left = *token->limit - token->used;
  if (more <= left) return {};
  return fail(Code::conflict,
              fmt::format("token {} can spend {} credits in all: {} are spent, {} are reserved for "
                          "its live jobs, {} are left, and this needs {}",
                          to_string(token->id), to_string(*token->limit), to_string(token->spent),
                          to_string(token->used - token->spent), to_string(left), to_string(more)),
              fmt::format("use a budget of at most {}, or ask the owner of the account for a token "
                          "with a higher limit: souk spend CREDITS",
                          to_string(left)),
              "budget");
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

namespace {

// Fills `events` and returns when they happen.
Result<Time> decide_into(const State& state, const Request& request, Events& events) {
  events.clear();
  const auto at = std::max(request.now, state.now);
  if (request.actor.scope == Scope::spend && !std::visit(AskedBySpenders{}, request.command))
    return fail(Code::forbidden, "a token with a spending limit can only run jobs",
                "use your own token: souk login NAME");
  Decider decider(state, at, request.actor, std::move(events));
  SOUK_TRY(std::visit(decider, request.command));
  events = std::move(decider.out);
  return at;
}

}  // namespace

Result<Decision> decide(const State& state, const Request& request) {
  Decision out;
  SOUK_ASSIGN(out.at, decide_into(state, request, out.events));
  return out;
}

Result<> execute(State& state, const Request& request, Events& events) {
  SOUK_ASSIGN(const auto at, decide_into(state, request, events));
  for (const auto& event : events) apply(state, at, event);
  return {};
}

Result<Events> execute(State& state, const Request& request) {
  Events events;
  SOUK_TRY(execute(state, request, events));
  return events;
}

}  // namespace souk::market
