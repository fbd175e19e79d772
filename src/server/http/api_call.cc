#include "server/http/api_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "server/http/idempotency.h"

namespace souk::server {

using base::Code;
using base::fail;

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
    if (at->type == "boolean" && value != "true" && value != "false")
      return fail(Code::invalid, fmt::format("'{}' is '{}'", name, value.substr(0, 40)),
                  "use true or false", name);
  }
  return check_key(call);
}

}  // namespace souk::server
