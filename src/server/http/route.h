#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "wire/openapi.h"

namespace souk::server {

struct ApiCall;
struct ServerContext;

// Who may call: anybody, any token, any token but a machine's, an operator's token.
enum class Access { everybody, agent, user, operator_ };

// Serves one request. Called on an I/O thread, which it must not block; the call belongs to it.
using Handler = std::function<void(ServerContext&, std::unique_ptr<ApiCall>)>;

// One row of the table of routes (router.h).
struct Route {
  wire::Operation doc;
  Access access = Access::user;
  Handler serve;
  void (*describe)(wire::Schemas&, wire::Operation&) = nullptr;  // Body and answer, for OpenAPI.
  bool secret_answer = false;         // Its answer is shown once, and not kept for a repeat.
  std::vector<std::string> segments;  // Of doc.path; "{id}" stands for any text.
};

}  // namespace souk::server
