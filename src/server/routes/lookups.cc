#include "server/routes/lookups.h"

#include <fmt/format.h>

#include <charconv>

namespace souk::server {

using base::Code;
using base::fail;
using market::Scope;

namespace {

bool is_agent_of(const market::Actor& actor, const market::Lease& l) {
  return actor.scope == Scope::machine ? actor.machine == l.machine : actor.account == l.lender;
}

}  // namespace

bool is_owner_of(const market::Actor& actor, const market::Job& job) {
  return job.owner == actor.account && actor.scope != Scope::machine &&
         (actor.scope != Scope::spend || job.token == actor.token);
}

Result<const market::Lease*> lease_for_agent(const Context& c) {
  SOUK_ASSIGN(const auto id, c.id<base::LeaseId>());
  const auto* l = c.state().leases.find(id);
  if (l != nullptr && is_agent_of(c.actor, *l)) return l;
  return Context::no_such("lease", c.param());
}

Result<const market::Lease*> open_lease_for_agent(const Context& c, std::string_view text) {
  const auto id = base::IdTraits<base::LeaseId>::parse(text);
  const auto* l = id ? c.state().leases.find(*id) : nullptr;
  if (l != nullptr && is_agent_of(c.actor, *l) && l->state != market::LeaseState::closed) return l;
  return Context::no_such("open lease", text);
}

Result<const market::Lease*> lease_for_reader(const Context& c) {
  SOUK_ASSIGN(const auto id, c.id<base::LeaseId>());
  const auto* l = c.state().leases.find(id);
  const auto* job = l == nullptr ? nullptr : c.state().jobs.find(l->job);
  // A job may be forgotten before its leases are; then it was no live token's.
  const bool own = c.actor.scope == Scope::spend ? job != nullptr && is_owner_of(c.actor, *job)
                                                 : l != nullptr && c.actor.account == l->borrower;
  if (l != nullptr && c.actor.scope != Scope::machine && (own || c.is_operator())) return l;
  return Context::no_such("lease", c.param());
}

Result<const market::Job*> job_for(const Context& c) {
  SOUK_ASSIGN(const auto id, c.id<base::JobId>());
  const auto* job = c.state().jobs.find(id);
  if (job == nullptr || !(is_owner_of(c.actor, *job) || c.is_operator()))
    return Context::no_such("job", c.param());
  return job;
}

Result<const market::Machine*> machine_for(const Context& c, bool operators) {
  SOUK_ASSIGN(const auto id, c.id<base::MachineId>());
  if (const auto* machine = c.state().machines.find(id)) {
    const bool mine =
        c.actor.scope == Scope::machine ? c.actor.machine == id : c.actor.account == machine->owner;
    if (mine || (operators && c.is_operator())) return machine;
  }
  return Context::no_such("machine", c.param());
}

Result<std::int64_t> number_of(std::string_view text, std::string_view name) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc{} && end == text.data() + text.size() && out >= 0) return out;
  return fail(Code::invalid, fmt::format("'{}' is '{}'", name, text.substr(0, 40)),
              "use a whole number", std::string(name));
}

Result<std::int64_t> number_in(const net::Request& http, std::string_view name,
                               std::int64_t otherwise) {
  const auto text = http.param(name);
  return text ? number_of(*text, name) : otherwise;
}

}  // namespace souk::server
