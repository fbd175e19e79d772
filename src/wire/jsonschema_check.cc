#include "wire/jsonschema_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <regex>

#include "wire/json.h"

namespace souk::wire {
namespace {

namespace json = boost::json;
using Problems = std::vector<SchemaProblem>;

std::string_view view(const json::string& s) { return {s.data(), s.size()}; }

std::string text_of(const json::value& value) {
  std::string out;
  write_value(out, value);
  return out.size() <= 80 ? out : out.substr(0, 77) + "...";
}

bool has_type(const json::value& value, std::string_view type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_bool();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "number") return value.is_number();
  const auto* d = value.if_double();
  return type == "integer" &&
         (value.is_int64() || value.is_uint64() || (d && *d == std::trunc(*d)));
}

// One walk over a value and the schemas that apply to it.
class Checker {
 public:
  explicit Checker(const json::value& document) : document_(document) {}

  void check(const json::value& value, const json::value& schema, const Path& at);
  Problems take() { return std::move(problems_); }

 private:
  using Rule = void (Checker::*)(const json::value&, const json::value&, const json::object&,
                                 const Path&);
  static Rule rule_for(std::string_view keyword);

  void report(const Path& at, std::string message) {
    problems_.push_back({to_string(at), std::move(message)});
  }
  // Does `schema` accept `value`? Reports nothing.
  bool accepts(const json::value& value, const json::value& schema, const Path& at) const {
    Checker other(document_);
    other.depth_ = depth_;
    other.check(value, schema, at);
    return other.problems_.empty();
  }

  // Each checks one keyword, whose value is `rule`, of `schema`.
  void type(const json::value& value, const json::value& rule, const json::object&, const Path& at);
  void properties(const json::value& value, const json::value& rule, const json::object&,
                  const Path& at);
  void required(const json::value& value, const json::value& rule, const json::object&,
                const Path& at);
  void additional(const json::value& value, const json::value& rule, const json::object& schema,
                  const Path& at);
  void items(const json::value& value, const json::value& rule, const json::object&,
             const Path& at);
  void one_of_values(const json::value& value, const json::value& rule, const json::object&,
                     const Path& at);
  void constant(const json::value& value, const json::value& rule, const json::object&,
                const Path& at);
  void minimum(const json::value& value, const json::value& rule, const json::object&,
               const Path& at);
  void maximum(const json::value& value, const json::value& rule, const json::object&,
               const Path& at);
  void pattern(const json::value& value, const json::value& rule, const json::object&,
               const Path& at);
  void reference(const json::value& value, const json::value& rule, const json::object&,
                 const Path& at);
  void any_of(const json::value& value, const json::value& rule, const json::object&,
              const Path& at);
  void one_of(const json::value& value, const json::value& rule, const json::object&,
              const Path& at);
  void ignore(const json::value&, const json::value&, const json::object&, const Path&) {}

  const json::value& document_;
  Problems problems_;
  int depth_ = 0;
};

Checker::Rule Checker::rule_for(std::string_view keyword) {
  static constexpr std::array<std::pair<std::string_view, Rule>, 19> rules{{
      {"$ref", &Checker::reference},        {"additionalProperties", &Checker::additional},
      {"anyOf", &Checker::any_of},          {"const", &Checker::constant},
      {"default", &Checker::ignore},        {"description", &Checker::ignore},
      {"enum", &Checker::one_of_values},    {"examples", &Checker::ignore},
      {"format", &Checker::ignore},         {"items", &Checker::items},
      {"maximum", &Checker::maximum},       {"minimum", &Checker::minimum},
      {"oneOf", &Checker::one_of},          {"pattern", &Checker::pattern},
      {"properties", &Checker::properties}, {"required", &Checker::required},
      {"title", &Checker::ignore},          {"type", &Checker::type},
      {"$schema", &Checker::ignore},
  }};
  for (const auto& [name, rule] : rules)
    if (name == keyword) return rule;
  return nullptr;
}

void Checker::check(const json::value& value, const json::value& schema, const Path& at) {
  if (const auto* flag = schema.if_bool()) {
    if (!*flag) report(at, "nothing is allowed here");
    return;
  }
  const auto* keywords = schema.if_object();
  if (!keywords) return report(at, "the schema is " + text_of(schema) + ", not an object");
  if (depth_ > 200) return report(at, "the schema refers to itself without end");
  ++depth_;
  for (const auto& keyword : *keywords) {
    const std::string_view name(keyword.key().data(), keyword.key().size());
    if (const auto rule = rule_for(name))
      (this->*rule)(value, keyword.value(), *keywords, at);
    else
      report(at, fmt::format("schema keyword '{}' is not supported", name));
  }
  --depth_;
}

void Checker::type(const json::value& value, const json::value& rule, const json::object&,
                   const Path& at) {
  bool good = false;
  if (const auto* name = rule.if_string()) good = has_type(value, view(*name));
  if (const auto* names = rule.if_array())
    for (const auto& name : *names)
      good = good || (name.is_string() && has_type(value, view(name.get_string())));
  if (!good) report(at, fmt::format("{} is not of type {}", text_of(value), text_of(rule)));
}

void Checker::properties(const json::value& value, const json::value& rule, const json::object&,
                         const Path& at) {
  const auto* object = value.if_object();
  if (!object || !rule.is_object()) return;
  for (const auto& property : rule.get_object()) {
    const std::string_view name(property.key().data(), property.key().size());
    if (const auto* found = object->if_contains(name))
      check(*found, property.value(), Path{&at, name});
  }
}

void Checker::required(const json::value& value, const json::value& rule, const json::object&,
                       const Path& at) {
  const auto* object = value.if_object();
  if (!object || !rule.is_array()) return;
  for (const auto& name : rule.get_array())
    if (name.is_string() && !object->contains(name.get_string()))
      report(Path{&at, view(name.get_string())}, "is required but missing");
}

void Checker::additional(const json::value& value, const json::value& rule,
                         const json::object& schema, const Path& at) {
  const auto* object = value.if_object();
  if (!object) return;
  const auto* listed = schema.if_contains("properties");
  for (const auto& member : *object) {
    if (listed && listed->is_object() && listed->get_object().contains(member.key())) continue;
    const Path path{&at, {member.key().data(), member.key().size()}};
    if (const auto* flag = rule.if_bool(); flag && !*flag)
      report(path, "is not in the schema");
    else
      check(member.value(), rule, path);
  }
}

void Checker::items(const json::value& value, const json::value& rule, const json::object&,
                    const Path& at) {
  const auto* list = value.if_array();
  if (!list) return;
  for (std::size_t i = 0; i < list->size(); ++i) check((*list)[i], rule, Path{&at, {}, i});
}

void Checker::one_of_values(const json::value& value, const json::value& rule, const json::object&,
                            const Path& at) {
  const auto* values = rule.if_array();
  if (!values || std::ranges::find(*values, value) == values->end())
    report(at, fmt::format("{} is not one of {}", text_of(value), text_of(rule)));
}

void Checker::constant(const json::value& value, const json::value& rule, const json::object&,
                       const Path& at) {
  if (value != rule) report(at, fmt::format("{} is not {}", text_of(value), text_of(rule)));
}

void Checker::minimum(const json::value& value, const json::value& rule, const json::object&,
                      const Path& at) {
  if (value.is_number() && rule.is_number() && value.to_number<double>() < rule.to_number<double>())
    report(at, fmt::format("{} is less than {}", text_of(value), text_of(rule)));
}

void Checker::maximum(const json::value& value, const json::value& rule, const json::object&,
                      const Path& at) {
  if (value.is_number() && rule.is_number() && value.to_number<double>() > rule.to_number<double>())
    report(at, fmt::format("{} is more than {}", text_of(value), text_of(rule)));
}

void Checker::pattern(const json::value& value, const json::value& rule, const json::object&,
                      const Path& at) {
  const auto* text = value.if_string();
  if (!text || !rule.is_string()) return;
  // std::regex recurses once per character; what we give patterns to is short.
  const bool short_enough = text->size() <= 200;
  const std::regex regex(std::string(view(rule.get_string())));
  if (!short_enough || !std::regex_search(text->begin(), text->end(), regex))
    report(at, fmt::format("{} does not match {}", text_of(value), text_of(rule)));
}

void Checker::reference(const json::value& value, const json::value& rule, const json::object&,
                        const Path& at) {
  const json::value* target = nullptr;
  if (const auto* pointer = rule.if_string(); pointer && view(*pointer).starts_with("#")) {
    json::error_code ec;
    target = document_.find_pointer(view(*pointer).substr(1), ec);
  }
  if (target)
    check(value, *target, at);
  else
    report(at, fmt::format("the schema refers to {}, which does not exist", text_of(rule)));
}

void Checker::any_of(const json::value& value, const json::value& rule, const json::object&,
                     const Path& at) {
  const auto* choices = rule.if_array();
  if (!choices ||
      std::ranges::none_of(*choices, [&](const json::value& s) { return accepts(value, s, at); }))
    report(at, fmt::format("{} fits none of anyOf", text_of(value)));
}

void Checker::one_of(const json::value& value, const json::value& rule, const json::object&,
                     const Path& at) {
  const auto* choices = rule.if_array();
  const auto fitting =
      choices ? std::ranges::count_if(*choices,
                                      [&](const json::value& s) { return accepts(value, s, at); })
              : 0;
  if (fitting != 1)
    report(at, fmt::format("{} fits {} of oneOf, not exactly one", text_of(value), fitting));
}

}  // namespace

Problems check_against_schema(const json::value& value, const json::value& schema,
                              const json::value& document) {
  Checker checker(document);
  checker.check(value, schema, Path{});
  return checker.take();
}

Problems check_against_component(const json::value& value, std::string_view name,
                                 const json::value& document) {
  const json::value schema = {{"$ref", "#/components/schemas/" + std::string(name)}};
  return check_against_schema(value, schema, document);
}

}  // namespace souk::wire
