#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "error.h"

namespace souk::trainer {

// Fields of JSON objects that others wrote. A field that is absent leaves `value` as it is; one of
// the wrong kind or out of bounds throws Error naming it. Unknown fields are nobody's business.

inline void read_field(const nlohmann::json& object, const char* name, std::string& value) {
  const auto field = object.find(name);
  if (field == object.end()) return;
  if (!field->is_string()) throw Error(std::string(name) + " must be a string");
  value = field->get<std::string>();
}

inline void read_field(const nlohmann::json& object, const char* name, bool& value) {
  const auto field = object.find(name);
  if (field == object.end()) return;
  if (!field->is_boolean()) throw Error(std::string(name) + " must be true or false");
  value = field->get<bool>();
}

template <class Number>
void read_field(const nlohmann::json& object, const char* name, Number& value, Number low,
                Number high) {
  const auto field = object.find(name);
  if (field == object.end()) return;
  // Any JSON number may stand for a double; an integer must be written as one and fit.
  const bool kind = std::is_floating_point_v<Number> ? field->is_number()
                    : std::is_signed_v<Number>
                        ? field->is_number_integer() && (!field->is_number_unsigned() ||
                                                         field->get<std::uint64_t>() <= INT64_MAX)
                        : field->is_number_unsigned();
  if (!kind || field->get<Number>() < low || field->get<Number>() > high)
    throw Error(std::string(name) + " is " + field->dump() + "; it must be " +
                (std::is_floating_point_v<Number> ? "a number" : "a whole number") + " from " +
                nlohmann::json(low).dump() + " to " + nlohmann::json(high).dump());
  value = field->get<Number>();
}

inline std::string require_string(const nlohmann::json& object, const char* name) {
  if (!object.contains(name)) throw Error(std::string(name) + " is missing");
  std::string value;
  read_field(object, name, value);
  return value;
}

}  // namespace souk::trainer
