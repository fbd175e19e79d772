#include "wire/openapi.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cctype>
#include <set>

#include "base/check.h"
#include "base/id.h"
#include "base/text.h"
#include "wire/api/lab.h"

namespace souk::wire {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kMostInteger = std::numeric_limits<std::int64_t>::max();

json::object ref(std::string_view kind, std::string_view name) {
  return {{"$ref", "#/components/" + std::string(kind) + "/" + std::string(name)}};
}

json::object json_content(std::string_view media, std::string_view schema) {
  return {{media, {{"schema", ref("schemas", schema)}}}};
}

json::value parsed(const std::string& schema) {
  auto value = parse(schema);
  CHECK(value.has_value());
  return *std::move(value);
}

// The schema of the id whose noun, in the plural, is this segment of a path.
template <class... Ids>
std::optional<json::value> id_of(std::string_view segment) {
  std::optional<json::value> out;
  const auto look = [&]<class I>(I) {
    if (segment == std::string(base::IdTraits<I>::noun) + "s") out = parsed(schema_of<I>());
  };
  (look(Ids{}), ...);
  return out;
}

json::value path_schema(std::string_view before, std::string_view name) {
  if (name == "unit") return parsed(detail::integer_schema(0, kMostInteger));
  if (name == "name" && before == "blobs")
    return {{"type", "string"}, {"pattern", "^[0-9a-f]{64}$"}};
  auto id = name != "id" ? std::nullopt
                         : id_of<base::TokenId, base::MachineId, base::OfferId, base::JobId,
                                 base::LeaseId, LabRunId>(before);
  return id ? *std::move(id) : json::value{{"type", "string"}, {"minLength", 1}};
}

// "{path...}" stands for all that follows. OpenAPI has no word for that.
constexpr std::string_view kOpen = "...";

json::array path_parameters(std::string_view path) {
  json::array out;
  std::string_view before;
  for (const auto segment : base::split(path, '/')) {
    if (segment.starts_with('{')) {
      CHECK(segment.ends_with('}') && segment.size() > 2);
      auto name = segment.substr(1, segment.size() - 2);
      const bool open = name.ends_with(kOpen);
      if (open) name.remove_suffix(kOpen.size());
      json::object parameter{{"name", name},
                             {"in", "path"},
                             {"required", true},
                             {"schema", path_schema(before, name)}};
      if (open) parameter["description"] = "All that follows, with its slashes.";
      out.push_back(std::move(parameter));
    }
    before = segment;
  }
  return out;
}

json::object query_schema(const QueryParameter& q) {
  if (q.type == "integer")
    return parsed(detail::integer_schema(q.least, static_cast<std::uint64_t>(q.most))).as_object();
  json::object out{{"type", q.type}};
  if (!q.values.empty()) out["enum"] = json::array(q.values.begin(), q.values.end());
  return out;
}

json::array parameters(const Operation& op) {
  auto out = path_parameters(op.path);
  for (const auto& q : op.query)
    out.push_back({{"name", q.name},
                   {"in", "query"},
                   {"required", q.required},
                   {"description", q.description},
                   {"schema", query_schema(q)}});
  if (op.idempotency_key) out.push_back(ref("parameters", "IdempotencyKey"));
  return out;
}

json::object success(const Operation& op) {
  json::object out{{"description", op.summary}};
  if (!op.media.empty())
    out["content"] = {{op.media, {{"schema", {{"type", "string"}}}}}};
  else if (!op.response.empty())
    out["content"] = json_content("application/json", op.response);
  return out;
}

json::object describe(const Operation& op) {
  json::object out{{"operationId", op.id}, {"summary", op.summary}};
  if (!op.description.empty()) out["description"] = op.description;
  if (!op.tags.empty()) out["tags"] = json::array(op.tags.begin(), op.tags.end());
  if (auto list = parameters(op); !list.empty()) out["parameters"] = std::move(list);
  if (op.request)
    out["requestBody"] = {{"required", true},
                          {"content", json_content("application/json", *op.request)}};
  if (!op.request_media.empty())
    out["requestBody"] = {{"required", true}, {"content", {{op.request_media, json::object{}}}}};
  out["responses"] = {{std::to_string(op.status), success(op)},
                      {"default", ref("responses", "Problem")}};
  json::array security;
  if (op.scope != "public") {
    json::array scopes;
    scopes.emplace_back(op.scope);
    security.push_back(json::object{{"bearer", std::move(scopes)}});
  }
  out["security"] = std::move(security);
  return out;
}

void check_names(std::span<const Operation> operations, const Schemas& schemas) {
  std::set<std::string> ids, routes;
  const auto known = [&](const std::string& name) { return schemas.components().contains(name); };
  for (const auto& op : operations) {
    CHECK(ids.insert(op.id).second);
    CHECK(routes.insert(op.method + " " + op.path).second);
    CHECK(!op.request || known(*op.request));
    CHECK(op.response.empty() || known(op.response));
  }
}

json::object components(const Schemas& schemas) {
  json::object named;
  for (const auto& [name, text] : schemas.components()) {
    named[name] = parsed(text);
  }
  return {
      {"schemas", std::move(named)},
      {"responses",
       {{"Problem",
         {{"description", "The request was refused or failed; the body says why."},
          {"content", json_content("application/problem+json", "Problem")}}}}},
      {"parameters",
       {{"IdempotencyKey",
         {{"name", "Idempotency-Key"},
          {"in", "header"},
          {"required", true},
          {"description",
           "Any text that is new for every new request. For 24 hours, whatever the load, a request "
           "with a key that the account has used is not applied again. A repeat gets the first "
           "answer "
           "(Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 "
           "KiB "
           "and the account did not make very many. After that it gets a 409 that says that the "
           "request was applied and what it made. Another request under the same key gets a 409 "
           "too. "
           "A key older than 24 hours is forgotten: do not retry a request for so long."},
          {"schema",
           {{"type", "string"},
            {"minLength", 1},
            {"maxLength", kMostKeyBytes},
            {"pattern", "^[!-~]+$"}}}}}}},
      {"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}},
  };
}

}  // namespace

std::string openapi(const ApiInfo& info, std::span<const Operation> operations, Schemas schemas) {
  schemas.of<Problem>();
  check_names(operations, schemas);
  json::object paths;
  for (const auto& op : operations) {
    auto method = op.method;
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    auto path = op.path;
    if (const auto open = path.find(kOpen); open != path.npos) path.erase(open, kOpen.size());
    auto& at = paths[path];
    if (!at.is_object()) at = json::object{};
    at.get_object()[method] = describe(op);
  }
  json::array servers;
  servers.push_back(json::object{{"url", info.server}});
  const json::value document = {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", info.title}, {"version", info.version}, {"description", info.description}}},
      {"servers", std::move(servers)},
      {"paths", std::move(paths)},
      {"components", components(schemas)},
  };
  std::string out;
  write_value(out, document);
  return out;
}

}  // namespace souk::wire
