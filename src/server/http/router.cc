#include "server/http/router.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/text.h"
#include "server/http/spending.h"

namespace souk::server {

using base::Code;
using base::fail;

Route& Routes::add(std::string method, std::string path, std::string id, std::string summary,
                   Access access) {
  static constexpr std::string_view scopes[] = {"public", "machine", "user", "operator"};
  auto& route = routes_.emplace_back();
  route.access = access;
  route.doc = {.method = std::move(method),
               .path = std::move(path),
               .id = std::move(id),
               .summary = std::move(summary),
               .scope = std::string(scopes[static_cast<int>(access)])};
  route.spending = std::ranges::binary_search(kSpendingRoutes, route.doc.id);
  for (const auto segment : base::split(route.doc.path, '/')) route.segments.emplace_back(segment);
  // "/v1/jobs/{id}" belongs to jobs.
  route.doc.tags = {route.segments.size() > 2 ? route.segments[2] : "system"};
  return route;
}

Result<> Routes::no_body(const net::Request& http) {
  const auto body = base::trim(http.body);
  if (body.empty() || body == "{}") return {};
  return fail(Code::invalid, "this request takes no body", "send none, or {}");
}

namespace {

// The decoded {parameters} of a path that fits the pattern.
std::optional<std::vector<std::string>> fit(const std::vector<std::string>& pattern,
                                            const std::vector<std::string_view>& segments) {
  // "{path...}" at the end stands for all that follows, as it was sent.
  const bool open = pattern.back().ends_with("...}");
  if (open ? segments.size() < pattern.size() - 1 : pattern.size() != segments.size())
    return std::nullopt;
  std::vector<std::string> params;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (open && i + 1 == pattern.size()) {
      std::string rest;
      for (auto at = i; at < segments.size(); ++at)
        rest.append(at == i ? "" : "/").append(segments[at]);
      params.push_back(std::move(rest));
      break;
    }
    if (!pattern[i].starts_with('{')) {
      if (pattern[i] != segments[i]) return std::nullopt;
      continue;
    }
    auto decoded = net::percent_decode(segments[i]);
    if (!decoded || decoded->empty()) return std::nullopt;
    params.push_back(*std::move(decoded));
  }
  return params;
}

}  // namespace

Routes::Match Routes::find(const net::Request& http) const {
  // A path that is written out ("/v1/blobs/missing") is not one of another thing's parameters
  // ("/v1/blobs/{name}"): of all patterns that fit, those with the fewest parameters count.
  Match out;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  const auto segments = base::split(http.path, '/');
  for (const auto& route : routes_) {
    auto params = fit(route.segments, segments);
    if (!params || params->size() > fewest) continue;
    if (params->size() < fewest) out = {};
    fewest = params->size();
    out.allowed += (out.allowed.empty() ? "" : ", ") + route.doc.method;
    if (route.doc.method != http.method) continue;
    out.route = &route;
    out.params = *std::move(params);
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
           "within 24 hours is never applied again."},
      operations, std::move(schemas));
}

Route& paged(Route& route) {
  route.doc.query.push_back(
      {"limit", "integer", "Items on a page: 1 to 500, 50 by default.", false, {}, 1, 500});
  route.doc.query.push_back({"after", "string", "The `next` of the page before.", false});
  return route;
}

Routes all_routes() {
  Routes routes;
  add_system_routes(routes);
  add_lend_routes(routes);
  add_metrics_routes(routes);
  add_event_routes(routes);
  add_session_routes(routes);
  add_account_routes(routes);
  add_budget_routes(routes);
  add_supply_routes(routes);
  add_job_routes(routes);
  add_usage_routes(routes);
  add_agent_routes(routes);
  add_file_routes(routes);
  add_sharing_routes(routes);
  add_network_routes(routes);
  add_service_routes(routes);
  add_volume_routes(routes);
  add_result_routes(routes);
  add_prepare_routes(routes);
  add_training_routes(routes);
  add_market_routes(routes);
  add_credit_request_routes(routes);
  add_earnings_routes(routes);
  add_lab_routes(routes);
  return routes;
}

}  // namespace souk::server
