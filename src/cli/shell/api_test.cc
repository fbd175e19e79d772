#include "cli/shell/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::cli {
namespace {

using ::testing::HasSubstr;

TEST(Refusal, SaysWhatTheServerSaid) {
  const auto error = refusal(
      {.status = 422,
       .content_type = "application/problem+json",
       .body = R"({"type":"about:blank","title":"Invalid","status":422,"code":"invalid",)"
               R"("detail":"a budget of 0","field":"budget","hint":"use more than 0 credits"})"});
  EXPECT_EQ(error.message, "a budget of 0");
  EXPECT_EQ(error.hint, "use more than 0 credits");
  EXPECT_EQ(error.field, "budget");
  EXPECT_EQ(error.exit, Exit::refused);  // Not usage: the command line was understood.
}

TEST(Refusal, AnAnswerThatIsNotOursIsNamedByItsStatus) {
  const auto error = refusal({.status = 502, .content_type = "text/html", .body = "<html>"});
  EXPECT_THAT(error.message, HasSubstr("502"));
  EXPECT_THAT(error.hint, HasSubstr("/healthz"));
}

TEST(Api, AServerThatIsNotThereIsExitStatus3) {
  auto api = Api::connect({.server = "http://127.0.0.1:1", .token = "souk_secret"});
  ASSERT_TRUE(api);
  const auto answer = api->post("/v1/offers", "{}");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().exit, Exit::unreachable);
  EXPECT_THAT(answer.error().message, HasSubstr("http://127.0.0.1:1"));
  EXPECT_THAT(answer.error().hint, HasSubstr("SOUK_SERVER"));
  EXPECT_EQ((answer.error().message + answer.error().hint).find("souk_secret"), std::string::npos);
}

TEST(Api, TextsBecomeOnePathSegment) {
  EXPECT_EQ(path_of("/v1/accounts", "a/../b ?", "/grant"), "/v1/accounts/a%2F..%2Fb%20%3F/grant");
  EXPECT_EQ(query_string({{"where", "a=1 & b"}, {"mine", ""}, {"limit", "5"}}),
            "?where=a%3D1%20%26%20b&limit=5");
}

}  // namespace
}  // namespace souk::cli
