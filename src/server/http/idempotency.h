#pragma once

#include <optional>

#include "net/http.h"
#include "server/core/core.h"
#include "server/http/api_call.h"

// A change carries a key, and a repeat of the key gets the first answer
// (docs/decisions/0007-answers-are-events.md).

namespace souk::server {

// Has a change a key that can be kept?
[[nodiscard]] Result<> check_key(const ApiCall& call);

// The first answer to this key, if it was used before; an error if it was used for something else,
// or if that answer was not kept.
[[nodiscard]] std::optional<Result<net::Response>> first_answer(const market::State& s,
                                                                const ApiCall& call,
                                                                base::AccountId account);

// Records the answer under the key.
void remember_answer(Core::Turn& turn, const ApiCall& call, base::AccountId account,
                     const net::Response& response);

}  // namespace souk::server
