#include "server/http/responses.h"

#include "wire/json.h"
#include "wire/problem.h"

namespace souk::server {
namespace {

net::Response respond(const wire::Problem& body) {
  net::Response out{.status = body.status, .content_type = "application/problem+json"};
  if (out.status == 401) out.headers.emplace_back("WWW-Authenticate", "Bearer");
  out.body = wire::to_json(body);
  return out;
}

}  // namespace

net::Response problem(const base::Error& error) { return respond(wire::problem_of(error)); }

net::Response problem(int status, std::string_view message) {
  return respond(wire::problem_of(status, net::reason_phrase(status), message));
}

net::Response refusal(const base::Error& error) {
  auto response = problem(error);
  if (error.code == base::Code::exhausted || error.code == base::Code::unavailable)
    response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace souk::server
