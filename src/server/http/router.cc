#include "server/http/router.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace souk::server {

using base::Code;
using base::fail;

base::Failure Context::no_such(std::string_view noun, std::string_view name) {
  return fail(Code::not_found, fmt::format("there is no {} '{}'", noun, name.substr(0, 80)));
}

Result<std::int64_t> Context::number(std::string_view name, std::int64_t otherwise,
                                     std::int64_t least, std::int64_t most) const {
  const auto text = query(name);
  if (text.empty()) return otherwise;
  std::int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error == std::errc{} && end == text.data() + text.size() && v >= least && v <= most) return v;
  return fail(Code::invalid, fmt::format("'{}' is '{}'", name, text.substr(0, 40)),
              fmt::format("use a whole number from {} to {}", least, most), std::string(name));
}

Route& Routes::add(std::string method, std::string path, std::string id, std::string summary,
                   Access access, int status) {
  static constexpr std::string_view scopes[] = {"public", "machine", "user", "operator"};
  auto& route = routes_.emplace_back();
  route.access = access;
  route.doc = {.method = std::move(method),
               .path = std::move(path),
               .id = std::move(id),
               .summary = std::move(summary),
               .scope = std::string(scopes[static_cast<int>(access)]),
               .status = status};
  // "/v1/jobs/{id}" belongs to jobs.
  const auto parts = base::split(route.doc.path, '/');
  route.doc.tags = {std::string(parts.size() > 2 ? parts[2] : "system")};
  return route;
}

Result<> Routes::no_body(const net::Request& http) {
  const auto body = base::trim(http.body);
  if (body.empty() || body == "{}") return {};
  return fail(Code::invalid, "this request takes no body", "send none, or {}");
}

Routes::Match Routes::find(const net::Request& http) const {
  Match out;
  const auto segments = base::split(http.path, '/');
  for (const auto& route : routes_) {
    const auto pattern = base::split(route.doc.path, '/');
    if (pattern.size() != segments.size()) continue;
    std::vector<std::string> params;
    bool same = true;
    for (std::size_t i = 0; i < pattern.size() && same; ++i) {
      if (pattern[i].starts_with('{')) {
        const auto decoded = net::percent_decode(segments[i]);
        same = decoded && !decoded->empty();
        if (same) params.push_back(*decoded);
      } else {
        same = pattern[i] == segments[i];
      }
    }
    if (!same) continue;
    if (route.doc.method == http.method) return {&route, std::move(params), {}};
    out.allowed += (out.allowed.empty() ? "" : ", ") + route.doc.method;
  }
  return out;
}

std::string Routes::openapi() const {
  wire::Schemas schemas;
  std::vector<wire::Operation> operations;
  for (const auto& route : routes_) {
    auto doc = route.doc;
    route.describe(schemas, doc);
    operations.push_back(std::move(doc));
  }
  return wire::openapi(
      {.title = "Souk",
       .version = "1",
       .description =
           "A community market of computers for distributed machine learning. Prices are "
           "credits per slot-hour. Every change carries an Idempotency-Key: a repeat "
           "gets the first answer."},
      operations, std::move(schemas));
}

Route& paged(Route& route) {
  route.doc.query.push_back(
      {"limit", "integer", "Items on a page: 1 to 500, 50 by default.", false});
  route.doc.query.push_back({"after", "string", "The `next` of the page before.", false});
  return route;
}

Routes all_routes() {
  Routes routes;
  add_system_routes(routes);
  add_account_routes(routes);
  add_supply_routes(routes);
  add_job_routes(routes);
  add_file_routes(routes);
  add_result_routes(routes);
  add_prepare_routes(routes);
  add_training_routes(routes);
  add_market_routes(routes);
  add_lab_routes(routes);
  return routes;
}

}  // namespace souk::server
