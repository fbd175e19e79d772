#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>

#include "wire/json.h"
#include "wire/shape.h"

// JSON Schema (draft 2020-12, as in OpenAPI 3.1) of the types of shape.h.
//
// One schema serves requests and responses, by this rule: whatever the writer writes satisfies the
// schema, and the reader accepts the shape of whatever satisfies it. So `required` lists exactly
// the fields the reader requires (the writer always writes those, and more: lists, flags, fields
// with a default), and what the reader merely tolerates (null for an absent optional, a decimal
// string for credits) is not advertised.

namespace souk::wire {

// Gathers the named schemas (structs and enums) that the schemas it has been asked for refer to.
class Schemas {
 public:
  // The schema of T as JSON text. Structs and enums are a $ref into components().
  template <class T>
  std::string of();

  // Name -> schema text.
  const std::map<std::string, std::string>& components() const { return components_; }

 private:
  // Is `name` new? Two types with one name are our bug.
  bool claim(const std::string& name, std::string_view type);
  template <class T>
  std::string object_schema();

  std::map<std::string, std::string> components_;
  std::map<std::string, std::string> types_;  // Name -> the C++ type it stands for.
};

// The schema of T alone, for its own tests and for documents that hold the components elsewhere.
template <class T>
std::string schema_of() {
  return Schemas().of<T>();
}

// The component name of T: its C++ name without namespaces, Page<market::Job> being PageJob; or
// what the struct declares as `static constexpr std::string_view schema_name`.
template <class T>
std::string schema_name();

namespace detail {

template <class T>
constexpr std::string_view function_name() {
  return __PRETTY_FUNCTION__;
}

// The type's name as the compiler spells it, cut out of a function's.
template <class T>
constexpr std::string_view type_name() {
  constexpr std::string_view probe = function_name<double>();
  constexpr auto before = probe.find("double");
  constexpr auto after = probe.size() - before - std::string_view("double").size();
  const auto name = function_name<T>();
  return name.substr(before, name.size() - before - after);
}

std::string short_name(std::string_view type);
std::string scalar_schema(Shape shape);
std::string integer_schema(std::int64_t least, std::uint64_t most);
std::string id_schema(char prefix, std::string_view noun);
std::string enum_schema(std::span<const std::string_view> names);
// The object schema from `"name":{...}` items and names, each list joined by commas.
std::string join_object_schema(std::string_view properties, std::string_view required);
// `schema` with the keyword "default".
std::string with_default(std::string schema, std::string_view value);

constexpr bool has_plain_default(Shape shape) {
  return shape == Shape::boolean || shape == Shape::integer || shape == Shape::real ||
         shape == Shape::text || shape == Shape::credits || shape == Shape::duration ||
         shape == Shape::enumeration;
}

}  // namespace detail

template <class T>
std::string schema_name() {
  if constexpr (requires { T::schema_name; })
    return std::string(T::schema_name);
  else
    return detail::short_name(detail::type_name<T>());
}

template <class T>
std::string Schemas::object_schema() {
  const T defaults{};
  std::string properties, required;
  base::for_each_field(defaults, [&]<class M>(std::string_view member_name, const M& value) {
    const auto name = base::spelled(member_name);
    auto schema = of<M>();
    if (is_required<T, M>(name)) {
      if (!required.empty()) required += ',';
      write_text(required, name);
    } else if constexpr (detail::has_plain_default(shape_of<M>)) {
      schema = detail::with_default(std::move(schema), to_json(value));
    }
    if (!properties.empty()) properties += ',';
    write_text(properties, name);
    properties += ':';
    properties += schema;
  });
  return detail::join_object_schema(properties, required);
}

template <class T>
std::string Schemas::of() {
  constexpr Shape shape = shape_of<T>;
  if constexpr (shape == Shape::optional) {
    return of<typename T::value_type>();
  } else if constexpr (shape == Shape::list) {
    return R"({"type":"array","items":)" + of<typename T::value_type>() + "}";
  } else if constexpr (shape == Shape::map) {
    return R"({"type":"object","additionalProperties":)" + of<typename T::mapped_type>() + "}";
  } else if constexpr (shape == Shape::object || shape == Shape::enumeration) {
    const auto name = schema_name<T>();
    if (claim(name, detail::type_name<T>())) {  // Claimed first: a type may contain itself.
      if constexpr (shape == Shape::object)
        components_[name] = object_schema<T>();
      else
        components_[name] = detail::enum_schema(names_of(T{}));
    }
    return R"({"$ref":"#/components/schemas/)" + name + R"("})";
  } else if constexpr (shape == Shape::integer) {
    using Limits = std::numeric_limits<T>;
    return detail::integer_schema(Limits::min(), Limits::max());
  } else if constexpr (shape == Shape::id) {
    return detail::id_schema(base::to_string(T{})[0], base::IdTraits<T>::noun);
  } else {
    return detail::scalar_schema(shape);
  }
}

}  // namespace souk::wire

// The JSON of a struct, compiled once instead of in every file that uses it: wire/api/offer.h,
// where Offer is, ends with SOUK_JSON_ELSEWHERE(Offer), and wire/api/offer.cc has
// SOUK_JSON_HERE(Offer). A struct without the two works as well; it only costs time to build.
#define SOUK_JSON_HERE(T)                                                             \
  template void write_json<T>(std::string&, const T&);                                \
  template bool detail::read<T>(const detail::Value&, const Path&, T&, base::Error&); \
  template std::string Schemas::of<T>()
#define SOUK_JSON_ELSEWHERE(T)                                                               \
  extern template void write_json<T>(std::string&, const T&);                                \
  extern template bool detail::read<T>(const detail::Value&, const Path&, T&, base::Error&); \
  extern template std::string Schemas::of<T>()
