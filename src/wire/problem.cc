#include "wire/problem.h"

#include <fmt/format.h>

#include "wire/json.h"

namespace souk::wire {

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
