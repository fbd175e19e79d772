#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/result.h"

namespace souk::wire {

// The body of every error response: RFC 9457, application/problem+json.
struct Problem {
  std::string type;                  // A link that explains this kind of problem, or about:blank.
  std::string title;                 // The same words for every problem of this kind.
  std::int32_t status = 500;         // The HTTP status, for those who see only the body.
  std::string code;                  // base::Code: what programs should branch on.
  std::string detail;                // What happened this time.
  std::optional<std::string> field;  // The path of the offending input field.
  std::optional<std::string> hint;   // What would be accepted.

  bool operator==(const Problem&) const = default;
  SOUK_FIELDS(Problem, type, title, status, code, detail, field, hint)
};

// How an error is answered: the status and the title follow from its code.
[[nodiscard]] Problem problem_of(const base::Error& error);
// The same for what the HTTP layer itself refuses; `title` is the status's own phrase.
[[nodiscard]] Problem problem_of(int status, std::string_view title, std::string_view message);

// The error that an answer with a status of 300 or more stands for.
[[nodiscard]] base::Error refusal(int status, std::string_view body);

}  // namespace souk::wire
