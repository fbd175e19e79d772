#pragma once

#include <optional>

#include "net/http.h"
#include "server/http/api_call.h"
#include "server/http/context.h"

// A change carries a key. A request whose key was used is not applied again for market::kKeysFor,
// whatever the load: a repeat gets the first answer, or is told what that request made
// (docs/decisions/0026-keys-are-kept-by-time.md).

namespace souk::server {

// Has a change a key that can be kept?
[[nodiscard]] Result<> check_key(const ApiCall& call);

// What to answer instead of serving the call: the first answer to this key, if it was used before;
// an error if it was used for something else, if that answer is not kept, or if no more keys can
// be.
[[nodiscard]] std::optional<Result<net::Response>> first_answer(Context& c, const ApiCall& call);

// Records the answer under the key, and what the whole request takes in the journal.
void remember_answer(Context& c, const ApiCall& call, const net::Response& response);

}  // namespace souk::server
