#include "server/http/responses.h"

#include <spdlog/spdlog.h>

#include <algorithm>

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

net::Response problem(const base::Error& error) {
  auto body = wire::problem_of(error);
  if (body.status < 500) return respond(body);
  // What went wrong on our side may name our files, which is for the operator alone.
  if (auto detail = without_paths(body.detail); detail != body.detail) {
    spdlog::warn("{}", wire::one_line(error));
    body.detail = std::move(detail);
  }
  return respond(body);
}

std::string without_paths(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size() - 1) + 1;
    const auto word = text.substr(0, end);
    const auto slash = word.find('/');
    const auto quoted = word.find_first_not_of("'\"(");
    const bool path =
        slash != word.npos && slash == quoted && !word.substr(slash).starts_with("/v1");
    if (!path) {
      out += word;
    } else {
      const auto last = word.find_last_not_of(" '\":;,.)") + 1;
      out += std::string(word.substr(0, slash)) + "(a file of the server)" +
             std::string(word.substr(last));
    }
    text.remove_prefix(end);
  }
  return out;
}

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
