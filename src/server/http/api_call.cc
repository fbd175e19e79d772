#include "server/http/api_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.h"
#include "server/http/idempotency.h"

namespace souk::server {

using base::Code;
using base::fail;

namespace {

// What to write instead; "": it is good.
std::string complaint(const wire::QueryParameter& q, std::string_view value) {
  if (q.type == "boolean" && value != "true" && value != "false") return "use true or false";
  if (!q.values.empty() && std::ranges::find(q.values, value) == q.values.end())
    return base::suggest(value.substr(0, 100), q.values);
  if (q.type != "integer") return "";
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc{} && end == value.data() + value.size() && number >= q.least &&
      number <= q.most)
    return "";
  if (q.most == std::numeric_limits<std::int64_t>::max()) return "use a whole number";
  return fmt::format("use a whole number from {} to {}", q.least, q.most);
}

}  // namespace

Result<> check_call(const ApiCall& call) {
  const auto& doc = call.route->doc;
  for (const auto& [name, value] : call.http.query) {
    const auto at = std::ranges::find(doc.query, name, &wire::QueryParameter::name);
    if (at == doc.query.end()) {
      std::vector<std::string_view> known;
      for (const auto& q : doc.query) known.push_back(q.name);
      return fail(Code::invalid,
                  fmt::format("'{}' is not a query parameter of {}", name.substr(0, 40), doc.path),
                  known.empty() ? "it takes none" : base::suggest(name, known), name.substr(0, 40));
    }
    if (std::ranges::count(call.http.query, name, &decltype(call.http.query)::value_type::first) >
        1)
      return fail(Code::invalid, fmt::format("'{}' is there twice", name), "give it once", name);
    if (const auto wrong = complaint(*at, value); !wrong.empty())
      return fail(Code::invalid, fmt::format("'{}' is '{}'", name, value.substr(0, 40)), wrong,
                  name);
  }
  return check_key(call);
}

}  // namespace souk::server
