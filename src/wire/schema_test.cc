#include "wire/schema.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "wire/jsonschema_check.h"
#include "wire/openapi.h"
#include "wire/testing/samples.h"

namespace souk::wire {

namespace elsewhere {
template <class T>
struct Page {
  std::vector<T> items;
  std::optional<std::string> next;
  SOUK_FIELDS(Page, items, next)
};
struct Tree {
  int different = 0;
  SOUK_FIELDS(Tree, different)
};
}  // namespace elsewhere

namespace {

namespace json = boost::json;

struct Tree {
  std::string name;
  std::vector<Tree> children;
  SOUK_FIELDS(Tree, name, children)
};

struct Renamed {
  static constexpr std::string_view schema_name = "Other";
  std::int8_t tiny = 0;
  std::uint64_t huge = 0;
  SOUK_FIELDS(Renamed, tiny, huge)
};

json::value parsed(std::string_view text) {
  auto value = parse(text);
  CHECK(value.has_value());
  return *value;
}

// A document whose components are those that T needs.
template <class T>
json::value document_for() {
  Schemas schemas;
  schemas.of<T>();
  return parsed(openapi({.title = "t", .version = "1"}, {}, schemas));
}

std::string listed(const std::vector<SchemaProblem>& problems) {
  std::string out;
  for (const auto& p : problems) out += p.path + ": " + p.message + "\n";
  return out;
}

std::vector<SchemaProblem> check_text(std::string_view value, std::string_view schema) {
  const auto s = parsed(schema);
  return check_against_schema(parsed(value), s, s);
}

TEST(Schema, ClientsSeeTheTypesOfTheApi) {
  Schemas schemas;
  EXPECT_EQ(schemas.of<testing::Sample>(), R"({"$ref":"#/components/schemas/Sample"})");
  EXPECT_EQ(
      schemas.components().at("Workers"),
      R"({"type":"object","properties":{"min":{"type":"integer","minimum":0,"maximum":65535},)"
      R"("max":{"type":"integer","minimum":0,"maximum":65535}},"required":["min","max"],)"
      R"("additionalProperties":false})");
  EXPECT_EQ(schemas.components().at("Color"),
            R"({"type":"string","enum":["red","green","dark_blue"]})");
  const auto sample = parsed(schemas.components().at("Sample"));
  EXPECT_EQ(sample.at("required"),
            parsed(R"(["name","class","job","budget","workers","small","big","ratio","extra"])"));
  const auto& properties = sample.at("properties");
  EXPECT_EQ(properties.at("priority").at("default"), 5);
  EXPECT_EQ(properties.at("color").at("default"), "green");
  EXPECT_EQ(properties.at("gang").at("default"), false);
  EXPECT_EQ(properties.at("job").at("pattern"), "^j[1-9][0-9]*$");
  EXPECT_EQ(properties.at("deadline").at("format"), "date-time");
  EXPECT_EQ(properties.at("spare").at("$ref"), "#/components/schemas/Workers");
  EXPECT_EQ(properties.at("prices").at("additionalProperties").at("type"), "number");
}

TEST(Schema, NamesAreShortAndStable) {
  EXPECT_EQ(schema_name<testing::Sample>(), "Sample");
  EXPECT_EQ(schema_name<Tree>(), "Tree");
  EXPECT_EQ(schema_name<testing::Color>(), "Color");
  EXPECT_EQ(schema_name<elsewhere::Page<testing::Sample>>(), "PageSample");
  EXPECT_EQ(schema_name<Renamed>(), "Other");
  EXPECT_EQ(schema_of<std::vector<Tree>>(),
            R"({"type":"array","items":{"$ref":"#/components/schemas/Tree"}})");
}

TEST(Schema, ATypeMayContainItself) {
  const auto document = document_for<Tree>();
  const auto good = parsed(R"({"name":"a","children":[{"name":"b","children":[]}]})");
  EXPECT_EQ(listed(check_against_component(good, "Tree", document)), "");
  const auto bad = parsed(R"({"name":"a","children":[{"name":"b","children":[{}]}]})");
  EXPECT_EQ(listed(check_against_component(bad, "Tree", document)),
            "children[0].children[0].name: is required but missing\n");
}

TEST(Schema, IntegersStateTheirRangeUnlessItIsAllOf64Bits) {
  EXPECT_EQ(schema_of<std::int8_t>(), R"({"type":"integer","minimum":-128,"maximum":127})");
  EXPECT_EQ(schema_of<std::uint64_t>(), R"({"type":"integer","minimum":0,"format":"int64"})");
  EXPECT_EQ(schema_of<std::int64_t>(), R"({"type":"integer","format":"int64"})");
  EXPECT_EQ(schema_of<Renamed>(), R"({"$ref":"#/components/schemas/Other"})");
}

TEST(SchemaDeathTest, TwoTypesCannotShareAName) {
  Schemas schemas;
  schemas.of<Tree>();
  EXPECT_DEATH(schemas.of<elsewhere::Tree>(), "entry->second == type");
}

TEST(Schema, EveryResponseSatisfiesItsSchema) {
  const auto document = document_for<testing::Sample>();
  base::Random random(1);
  for (int i = 0; i < 500; ++i) {
    const auto text = to_json(testing::random_sample(random));
    ASSERT_EQ(listed(check_against_component(parsed(text), "Sample", document)), "") << text;
  }
}

// For every field of every object: leave it out, and ask both.
template <class T>
void dropping_fields_agrees(const T& value) {
  const auto document = document_for<T>();
  const auto full = parsed(to_json(value));
  for (const auto& member : full.get_object()) {
    auto less = full.get_object();
    less.erase(member.key());
    const auto problems = check_against_component(less, schema_name<T>(), document);
    EXPECT_EQ(problems.empty(), from_value<T>(less).has_value()) << member.key();
  }
  auto more = full.get_object();
  more["surprise"] = 1;
  EXPECT_FALSE(check_against_component(more, schema_name<T>(), document).empty());
  EXPECT_FALSE(from_value<T>(more));
}

TEST(Schema, WhatItRequiresTheReaderRequiresAndNothingElse) {
  base::Random random(2);
  for (int i = 0; i < 50; ++i) dropping_fields_agrees(testing::random_sample(random));
  dropping_fields_agrees(Problem{.field = "a", .hint = "b"});
  dropping_fields_agrees(testing::Workers{});
  dropping_fields_agrees(Tree{.name = "a", .children = {{.name = "b"}}});
}

// Replaces each field by values of every JSON type: whatever the schema lets through, the reader
// must read, apart from the spelling of times and durations and amounts of more than six decimals.
TEST(Schema, TheReaderAcceptsTheTypesTheSchemaPromises) {
  const auto document = document_for<testing::Sample>();
  base::Random random(3);
  const auto full = parsed(to_json(testing::random_sample(random)));
  const json::value swaps[] = {nullptr,        true,           7,    -7, 0.5,
                               1e30,           "red",          "j1", "", json::array{},
                               json::object{}, json::array{1}, 300,  1e9};
  for (const auto& member : full.get_object()) {
    for (const auto& swap : swaps) {
      auto other = full.get_object();
      other[member.key()] = swap;
      const bool fits = check_against_component(other, "Sample", document).empty();
      const auto read = from_value<testing::Sample>(other);
      const bool spelling = member.key() == "deadline" || swap == json::value(1e30);
      if (fits && !spelling) EXPECT_TRUE(read) << member.key() << " " << swap;
      const bool tolerated =
          swap.is_null() && (member.key() == "deadline" || member.key() == "spare");
      if (!fits && !tolerated) EXPECT_FALSE(read) << member.key() << " " << swap;
    }
  }
}

TEST(SchemaCheck, ReportsEveryProblemWithItsPath) {
  const struct {
    std::string_view value, schema, problems;
  } table[] = {
      {"1", "{}", ""},
      {"1", "true", ""},
      {"1", "false", ": nothing is allowed here\n"},
      {"1", R"({"type":"integer"})", ""},
      {"1.0", R"({"type":"integer"})", ""},
      {"1.5", R"({"type":"integer"})", ": 1.5 is not of type \"integer\"\n"},
      {"null", R"({"type":["string","null"]})", ""},
      {"1", R"({"type":["string","null"]})", ": 1 is not of type [\"string\",\"null\"]\n"},
      {"3", R"({"minimum":1,"maximum":2})", ": 3 is more than 2\n"},
      {"0", R"({"minimum":1})", ": 0 is less than 1\n"},
      {"\"b\"", R"({"enum":["a","c"]})", ": \"b\" is not one of [\"a\",\"c\"]\n"},
      {"1", R"({"const":1})", ""},
      {"\"x17\"", R"({"pattern":"^j[1-9][0-9]*$"})",
       ": \"x17\" does not match \"^j[1-9][0-9]*$\"\n"},
      {R"([1,"a",null])", R"({"items":{"type":"integer"}})",
       "[1]: \"a\" is not of type \"integer\"\n[2]: null is not of type \"integer\"\n"},
      {R"({"a":1,"b":2})", R"({"properties":{"a":{}},"additionalProperties":false})",
       "b: is not in the schema\n"},
      {R"({"a":"x"})", R"({"additionalProperties":{"type":"number"}})",
       "a: \"x\" is not of type \"number\"\n"},
      {"null", R"({"anyOf":[{"type":"string"},{"type":"null"}]})", ""},
      {"1", R"({"anyOf":[{"type":"string"},{"type":"null"}]})", ": 1 fits none of anyOf\n"},
      {"1", R"({"oneOf":[{"type":"number"},{"type":"integer"}]})",
       ": 1 fits 2 of oneOf, not exactly one\n"},
      {"1", R"({"multipleOf":2})", ": schema keyword 'multipleOf' is not supported\n"},
      {"1", R"({"$ref":"#/nowhere"})",
       ": the schema refers to \"#/nowhere\", which does not exist\n"},
  };
  for (const auto& row : table)
    EXPECT_EQ(listed(check_text(row.value, row.schema)), row.problems) << row.schema;
  EXPECT_FALSE(check_text("1", R"({"$ref":"#"})").empty());  // Without end, but it ends.
}

}  // namespace
}  // namespace souk::wire
