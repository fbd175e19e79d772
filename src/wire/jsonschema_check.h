#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace souk::wire {

struct SchemaProblem {
  std::string path;  // As in Path: "jobs[2].budget"; "" is the whole value.
  std::string message;

  bool operator==(const SchemaProblem&) const = default;
};

// Everything in `value` that `schema` forbids, in document order. `document` is what $ref points
// into: the OpenAPI document, or the schema itself. Knows the keywords schema.h writes plus anyOf,
// oneOf and const; any other keyword is itself reported, so that a test cannot pass because a
// constraint was skipped. For tests of real responses: complete, not fast.
std::vector<SchemaProblem> check_against_schema(const boost::json::value& value,
                                                const boost::json::value& schema,
                                                const boost::json::value& document);

// The same, with `name` from the document's components/schemas.
std::vector<SchemaProblem> check_against_component(const boost::json::value& value,
                                                   std::string_view name,
                                                   const boost::json::value& document);

}  // namespace souk::wire
