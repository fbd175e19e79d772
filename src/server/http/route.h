#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "wire/openapi.h"

namespace souk::server {

struct ApiCall;
struct ServerContext;

// Who may call: anybody, any token, any token but a machine's, an operator's token. A token with a
// spending limit may call what `Route::spending` says, and what anybody may.
enum class Access { everybody, agent, user, operator_ };

// Serves one request. Called on an I/O thread, which it must not block; the call belongs to it.
using Handler = std::function<void(ServerContext&, std::unique_ptr<ApiCall>)>;

// One row of the table of routes (router.h).
struct Route {
  wire::Operation doc;
  Access access = Access::user;
  Handler serve;
  void (*describe)(wire::Schemas&, wire::Operation&) = nullptr;  // Body and answer, for OpenAPI.
  bool secret_answer = false;  // Its answer is shown once, and not kept for a repeat.
  // What it reports carries a number (an epoch, a unit), so that a repeat has no effect in itself:
  // its key is known as long as its answer is kept, not for a day.
  bool numbered = false;
  bool spending = false;              // Tokens with a spending limit may call it too (spending.h).
  std::vector<std::string> segments;  // Of doc.path; "{id}" stands for any text.
};

}  // namespace souk::server
