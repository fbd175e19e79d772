#include "wire/schema.h"

#include <fmt/format.h>

#include <limits>

#include "base/check.h"

namespace souk::wire {

bool Schemas::claim(const std::string& name, std::string_view type) {
  const auto [entry, fresh] = types_.try_emplace(name, type);
  CHECK(entry->second == type);
  return fresh;
}

namespace detail {

std::string short_name(std::string_view type) {
  std::string out, word;
  for (std::size_t i = 0; i < type.size(); ++i) {
    if (type.substr(i).starts_with("(anonymous namespace)")) {
      i += std::string_view("(anonymous namespace)").size() - 1;
    } else if (type.substr(i).starts_with("::")) {
      word.clear();  // It was a namespace or an enclosing class.
      ++i;
    } else if (std::isalnum(static_cast<unsigned char>(type[i])) || type[i] == '_') {
      word += type[i];
    } else {
      out += std::exchange(word, {});
    }
  }
  return out + word;
}

std::string scalar_schema(Shape shape) {
  switch (shape) {
    case Shape::boolean:
      return R"({"type":"boolean"})";
    case Shape::real:
      return R"({"type":"number"})";
    case Shape::text:
      return R"({"type":"string"})";
    case Shape::credits:
      return R"({"type":"number","description":"Credits, with at most six decimals.",)"
             R"("examples":[0.4]})";
    case Shape::time:
      return R"({"type":"string","format":"date-time"})";
    case Shape::duration:
      return R"({"type":"string","description":"A length of time.","examples":["1h30m"]})";
    case Shape::any:
      return "{}";
    default:
      CHECK(!"not a scalar");
      return {};
  }
}

std::string integer_schema(std::int64_t least, std::uint64_t most) {
  // The ends of 64 bits are left out: they say nothing, and JavaScript would round them.
  std::string out = R"({"type":"integer")";
  if (least > std::numeric_limits<std::int64_t>::min())
    out += fmt::format(R"(,"minimum":{})", least);
  if (most < std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    out += fmt::format(R"(,"maximum":{})", most);
  else
    out += R"(,"format":"int64")";
  return out + "}";
}

std::string id_schema(char prefix, std::string_view noun) {
  return fmt::format(
      R"({{"type":"string","description":"Names one {}.","pattern":"^{}[1-9][0-9]*$",)"
      R"("examples":["{}17"]}})",
      noun, prefix, prefix);
}

std::string enum_schema(std::span<const std::string_view> names) {
  std::string out = R"({"type":"string","enum":[)";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ',';
    write_text(out, names[i]);
  }
  return out + "]}";
}

std::string join_object_schema(std::string_view properties, std::string_view required) {
  std::string out = fmt::format(R"({{"type":"object","properties":{{{}}})", properties);
  if (!required.empty()) out += fmt::format(R"(,"required":[{}])", required);
  return out + R"(,"additionalProperties":false})";
}

std::string with_default(std::string schema, std::string_view value) {
  schema.pop_back();
  return fmt::format(R"({},"default":{}}})", schema, value);
}

}  // namespace detail
}  // namespace souk::wire
