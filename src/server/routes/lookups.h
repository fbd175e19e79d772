#pragma once

#include <string>
#include <string_view>

#include "server/http/context.h"

// What the path and the query of a request name, for those whom it concerns. To all others there is
// no such thing.

namespace souk::server {

// Is the job the actor's own? Of a token with a spending limit: was it submitted with that token?
[[nodiscard]] bool is_owner_of(const market::Actor& actor, const market::Job& job);

// The lease of the path: for its machine's agent and its lender; or for its borrower and operators.
[[nodiscard]] Result<const market::Lease*> lease_for_agent(const Context& c);
// The open lease that `text` names, for its machine's agent and its lender.
[[nodiscard]] Result<const market::Lease*> open_lease_for_agent(const Context& c,
                                                                std::string_view text);
[[nodiscard]] Result<const market::Lease*> lease_for_reader(const Context& c);

// The job of the path, for its owner and for operators.
[[nodiscard]] Result<const market::Job*> job_for(const Context& c);

// The machine of the path, for its agent and its owner; for operators too if `operators`.
[[nodiscard]] Result<const market::Machine*> machine_for(const Context& c, bool operators);

// A whole number that is not negative.
[[nodiscard]] Result<std::int64_t> number_of(std::string_view text, std::string_view name);
// One in the query, or `otherwise` where it is absent.
[[nodiscard]] Result<std::int64_t> number_in(const net::Request& http, std::string_view name,
                                             std::int64_t otherwise);

}  // namespace souk::server
