#include "server/problem.h"

#include <array>

#include "wire/json.h"
#include "wire/problem.h"

namespace souk::server {
namespace {

struct Row {
  base::Code code;
  int status;
  std::string_view title;
};
using base::Code;
constexpr std::array kRows{
    Row{Code::invalid, 400, "Invalid request"}, Row{Code::unauthenticated, 401, "Not logged in"},
    Row{Code::forbidden, 403, "Not allowed"},   Row{Code::not_found, 404, "Not found"},
    Row{Code::conflict, 409, "Conflict"},       Row{Code::too_large, 413, "Too large"},
    Row{Code::exhausted, 429, "Too many"},      Row{Code::internal, 500, "Internal error"},
    Row{Code::damaged, 500, "Damaged data"},    Row{Code::unavailable, 503, "Unavailable"},
};

const Row& row(Code code) {
  for (const auto& r : kRows)
    if (r.code == code) return r;
  return kRows[7];
}

net::Response respond(wire::Problem body) {
  net::Response out{.status = body.status, .content_type = "application/problem+json"};
  if (out.status == 401) out.headers.emplace_back("WWW-Authenticate", "Bearer");
  out.body = wire::to_json(body);
  return out;
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

int status_of(Code code) { return row(code).status; }

net::Response problem(const base::Error& error) {
  const auto& r = row(error.code);
  return respond({.type = "about:blank",
                  .title = std::string(r.title),
                  .status = r.status,
                  .code = std::string(to_string(error.code)),
                  .detail = error.message,
                  .field = unless_empty(error.field),
                  .hint = unless_empty(error.hint)});
}

net::Response problem(int status, std::string_view message) {
  Code code = status >= 500 ? Code::internal : Code::invalid;
  for (const auto& r : kRows)
    if (r.status == status && r.code != Code::damaged) code = r.code;
  return respond({.type = "about:blank",
                  .title = std::string(net::reason_phrase(status)),
                  .status = status,
                  .code = std::string(to_string(code)),
                  .detail = std::string(message)});
}

}  // namespace souk::server
