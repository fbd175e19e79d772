#include "wire/openapi.h"

#include <gtest/gtest.h>

#include "wire/jsonschema_check.h"
#include "wire/testing/samples.h"

namespace souk::wire {
namespace {

const std::vector<Operation> kOperations{
    {.method = "GET",
     .path = "/v1/samples/{id}/parts/{part}",
     .id = "getPart",
     .summary = "One part",
     .tags = {"samples"},
     .scope = "public",
     .response = "Workers",
     .query = {{.name = "limit", .type = "integer", .description = "At most this many."}}},
    {.method = "POST",
     .path = "/v1/samples",
     .id = "addSample",
     .summary = "Add a sample",
     .description = "Long text.",
     .request = "Sample",
     .response = "Sample",
     .status = 201,
     .idempotency_key = true},
    {.method = "DELETE",
     .path = "/v1/samples",
     .id = "clear",
     .summary = "Clear",
     .scope = "operator",
     .status = 204},
    {.method = "PUT",
     .path = "/v1/leases/{id}/units/{unit}",
     .id = "paint",
     .summary = "Paint",
     .query = {{.name = "color", .values = names_list<testing::Color>()}}},
    {.method = "GET", .path = "/v1/files/{path...}", .id = "getFile", .summary = "A file"},
    {.method = "GET",
     .path = "/v1/events",
     .id = "events",
     .summary = "Events",
     .media = "text/event-stream"},
};

Schemas sample_schemas() {
  Schemas schemas;
  schemas.of<testing::Sample>();
  return schemas;
}

boost::json::value document() {
  const auto text = openapi({.title = "Souk", .version = "1", .description = "A market."},
                            kOperations, sample_schemas());
  auto value = parse(text);
  CHECK(value.has_value());
  return *value;
}

TEST(OpenApi, DescribesEveryOperation) {
  const auto d = document();
  EXPECT_EQ(d.at("openapi"), "3.1.0");
  EXPECT_EQ(d.at("info").at("title"), "Souk");
  const auto& get = d.at("paths").at("/v1/samples/{id}/parts/{part}").at("get");
  EXPECT_EQ(get.at("operationId"), "getPart");
  EXPECT_EQ(get.at("parameters").as_array().size(), 3u);
  EXPECT_EQ(get.at("parameters").at(1).at("name"), "part");
  EXPECT_EQ(get.at("parameters").at(1).at("in"), "path");
  EXPECT_EQ(get.at("parameters").at(2).at("schema").at("type"), "integer");
  EXPECT_EQ(get.at("security"), boost::json::array{});
  EXPECT_EQ(
      get.at("responses").at("200").at("content").at("application/json").at("schema").at("$ref"),
      "#/components/schemas/Workers");
  EXPECT_EQ(get.at("responses").at("default").at("$ref"), "#/components/responses/Problem");
}

TEST(OpenApi, ParametersSayWhatTheyAccept) {
  const auto d = document();
  const auto& list = d.at("paths").at("/v1/leases/{id}/units/{unit}").at("put").at("parameters");
  EXPECT_EQ(list.at(0).at("schema").at("pattern"), *parse(R"("^l[1-9][0-9]*$")"));
  EXPECT_EQ(list.at(1).at("schema").at("type"), "integer");
  EXPECT_EQ(list.at(2).at("schema").at("enum"), *parse(R"(["red","green","dark_blue"])"));
}

TEST(OpenApi, AllThatFollowsIsOneParameter) {
  const auto d = document();
  const auto& rest = d.at("paths").at("/v1/files/{path}").at("get").at("parameters").at(0);
  EXPECT_EQ(rest.at("name"), "path");
  EXPECT_EQ(rest.at("description"), "All that follows, with its slashes.");
}

TEST(OpenApi, MutationsNeedATokenAndAnIdempotencyKey) {
  const auto d = document();
  const auto& post = d.at("paths").at("/v1/samples").at("post");
  EXPECT_EQ(post.at("parameters").at(0).at("$ref"), "#/components/parameters/IdempotencyKey");
  EXPECT_EQ(post.at("security").at(0).at("bearer").at(0), "user");
  EXPECT_TRUE(post.at("responses").as_object().contains("201"));
  EXPECT_EQ(post.at("requestBody").at("content").at("application/json").at("schema").at("$ref"),
            "#/components/schemas/Sample");
  EXPECT_EQ(d.at("components").at("securitySchemes").at("bearer").at("scheme"), "bearer");
  const auto& remove = d.at("paths").at("/v1/samples").at("delete");
  EXPECT_FALSE(remove.at("responses").at("204").as_object().contains("content"));
  EXPECT_EQ(remove.at("security").at(0).at("bearer").at(0), "operator");
}

TEST(OpenApi, StreamsAreNotDescribedAsJson) {
  const auto d = document();
  const auto& ok = d.at("paths").at("/v1/events").at("get").at("responses").at("200");
  EXPECT_TRUE(ok.at("content").as_object().contains("text/event-stream"));
}

TEST(OpenApi, EveryReferenceResolves) {
  const auto d = document();
  const auto visit = [&](const auto& self, const boost::json::value& v) -> void {
    if (const auto* list = v.if_array())
      for (const auto& item : *list) self(self, item);
    if (const auto* object = v.if_object())
      for (const auto& member : *object) {
        self(self, member.value());
        if (member.key() != "$ref") continue;
        boost::json::error_code ec;
        const std::string pointer(member.value().as_string().c_str() + 1);
        EXPECT_NE(d.find_pointer(pointer, ec), nullptr) << pointer;
      }
  };
  visit(visit, d);
}

TEST(OpenApi, ProblemsFollowTheirSchema) {
  const auto problem = parse(to_json(Problem{.type = "about:blank",
                                             .title = "Invalid",
                                             .status = 400,
                                             .code = "invalid",
                                             .detail = "missing key 'budget'",
                                             .field = "budget"}));
  ASSERT_TRUE(problem);
  EXPECT_TRUE(check_against_component(*problem, "Problem", document()).empty());
}

TEST(OpenApi, TheSameListGivesTheSameText) {
  const ApiInfo info{.title = "Souk", .version = "1"};
  EXPECT_EQ(openapi(info, kOperations, sample_schemas()),
            openapi(info, kOperations, sample_schemas()));
}

TEST(OpenApiDeathTest, OurOwnMistakesEndTheProcess) {
  const ApiInfo info{.title = "Souk", .version = "1"};
  EXPECT_DEATH(openapi(info, kOperations, Schemas{}), "known");
  const std::vector<Operation> twice{kOperations[2], kOperations[2]};
  EXPECT_DEATH(openapi(info, twice, Schemas{}), "ids.insert");
}

}  // namespace
}  // namespace souk::wire
