#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/problem.h"
#include "wire/schema.h"

// The OpenAPI 3.1 document of a list of operations. Pure: the same list gives the same text.

namespace souk::wire {

// Of an Idempotency-Key: printable ASCII without blanks.
inline constexpr std::size_t kMostKeyBytes = 200;

struct QueryParameter {
  std::string name;
  std::string type = "string";  // A JSON Schema type: string, integer, number or boolean.
  std::string description;
  bool required = false;
  std::vector<std::string_view> values = {};  // It is one of these.
  // Of an integer.
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

// For QueryParameter::values: the names of E.
template <base::NamedEnum E>
std::vector<std::string_view> names_list() {
  return {names_of(E{}).begin(), names_of(E{}).end()};
}

// One route. Parameters in the path are the {names} in `path`: an {id} is that of the noun before
// it ("/v1/jobs/{id}"), a {unit} is a number, the {name} of one of the "blobs" is a digest, others
// are texts. A {name...} at the end is all that follows.
struct Operation {
  std::string method;  // "GET", "POST"...
  std::string path;    // "/v1/jobs/{id}"
  std::string id;      // "getJob": the name of the call in generated clients; unique.
  std::string summary;
  std::string description;
  std::vector<std::string> tags;
  std::string scope = "user";  // "public" needs no token; anything else names the token's scope.
  std::optional<std::string> request;  // A name in Schemas; none: no body.
  std::string response;                // A name in Schemas; "" and no `media`: no body.
  int status = 200;
  std::vector<QueryParameter> query;
  bool idempotency_key = false;    // Must carry an Idempotency-Key header.
  std::string media = {};          // Of a response that is not JSON: "text/event-stream".
  std::string request_media = {};  // Of a request body that is not JSON.
};

struct ApiInfo {
  std::string title;
  std::string version;
  std::string description;
  std::string server = "/";
};

// Adds Problem to `schemas`: every operation may answer with one. Names that are not in `schemas`,
// ids or routes given twice are our bugs.
std::string openapi(const ApiInfo& info, std::span<const Operation> operations, Schemas schemas);

}  // namespace souk::wire
