#include "wire/problem.h"

#include <fmt/format.h>

#include <array>

#include "wire/json.h"

namespace souk::wire {
namespace {

using base::Code;

struct Row {
  Code code;
  int status;
  std::string_view title;
};
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
  return row(Code::internal);
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

Problem problem_of(const base::Error& error) {
  const auto& r = row(error.code);
  return {.type = "about:blank",
          .title = std::string(r.title),
          .status = r.status,
          .code = std::string(to_string(error.code)),
          .detail = error.message,
          .field = unless_empty(error.field),
          .hint = unless_empty(error.hint)};
}

Problem problem_of(int status, std::string_view title, std::string_view message) {
  Code code = status >= 500 ? Code::internal : Code::invalid;
  for (const auto& r : kRows)
    if (r.status == status && r.code != Code::damaged) code = r.code;
  return {.type = "about:blank",
          .title = std::string(title),
          .status = status,
          .code = std::string(to_string(code)),
          .detail = std::string(message)};
}

base::Error refusal(int status, std::string_view body) {
  const auto problem = from_json<Problem>(body);
  if (!problem)
    return {base::Code::internal, fmt::format("the server answered with status {}", status),
            "is it a Souk server? ask /healthz"};
  return {.code = base::from_string<base::Code>(problem->code).value_or(base::Code::internal),
          .message = problem->detail.empty() ? problem->title : problem->detail,
          .hint = problem->hint.value_or(""),
          .field = problem->field.value_or("")};
}

}  // namespace souk::wire
