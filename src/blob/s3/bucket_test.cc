#include "blob/s3/bucket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/testing/eventually.h"
#include "blob/testing/fault_s3.h"
#include "blob/testing/samples.h"

namespace souk::blob {
namespace {

using base::Code;
using testing::FaultS3;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(S3Address, WhatItSaysIsUnderstood) {
  const auto amazon = parse_s3("s3://my-bucket/a/b/?region=eu-west-1");
  ASSERT_TRUE(amazon);
  EXPECT_EQ(amazon->prefix, "a/b/");
  EXPECT_EQ(amazon->origin(amazon->endpoint), "https://my-bucket.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(amazon->path_of("k"), "/a/b/k");
  EXPECT_EQ(amazon->name(), "s3://my-bucket/a/b");
  const auto own = parse_s3(
      "s3://data?endpoint=https%3A%2F%2Fstore.example:443/&direct=http://10.0.0.1:9000&ca=/ca.pem");
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->origin(own->endpoint), "https://store.example");  // As `Host:` has it.
  EXPECT_EQ(own->direct, "http://10.0.0.1:9000");
  EXPECT_EQ(own->path_of("k"), "/data/k");
  EXPECT_EQ(own->name(), "s3://data/");
  EXPECT_EQ(parse_s3("s3://data?direct=off")->direct, "");
  EXPECT_EQ(parse_s3("s3://abc?endpoint=http://h&style=host")->origin("http://h"), "http://abc.h");
}

TEST(S3Address, WhatCannotBeRightIsNamed) {
  const std::pair<std::string, std::string> cases[] = {
      {"s3://", "''"},
      {"s3://Data", "'Data'"},
      {"s3://da", "'da'"},
      {"s3://data//x", "'/x'"},
      {"s3://data/a b", "'a b'"},
      {"s3://data?endpoint=store.example", "'store.example'"},
      {"s3://data?endpoint=http://u:p@h", "u:p@h"},
      {"s3://data?direct=here", "'here'"},
      {"s3://data?style=virtual", "'virtual'"},
      {"s3://data?regoin=eu", "'regoin'"},
      {"s3://data?a=%4", "escape"},
  };
  for (const auto& [url, part] : cases) {
    const auto parsed = parse_s3(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_THAT(parsed.error().message, HasSubstr(part)) << url;
    EXPECT_NE(parsed.error().hint, "") << url;
  }
  EXPECT_THAT(parse_s3("s3://data?regoin=eu").error().hint, HasSubstr("region"));
}

TEST(Bucket, WhatIsRefusedForAMomentIsTriedAgain) {
  FaultS3 s3;
  const auto bucket = s3.bucket();
  s3.refuse({{503, "SlowDown"}, {500, "InternalError"}, {400, "RequestTimeout"}});
  EXPECT_TRUE(bucket->put("a", "bytes"));
  EXPECT_EQ(s3.count("PUT bucket/pre/a"), 4u);
  EXPECT_EQ(bucket->get("a").value(), "bytes");
  EXPECT_EQ(bucket->get("a", 1, 3).value(), "yte");
  EXPECT_EQ(bucket->size_of("a").value(), 5u);
  EXPECT_EQ(bucket->size_of("b").value(), std::nullopt);
  EXPECT_EQ(bucket->get("b").error().code, Code::not_found);
  EXPECT_TRUE(bucket->remove("a"));
  EXPECT_TRUE(bucket->remove("a"));
  EXPECT_TRUE(s3.objects().empty());
}

TEST(Bucket, WhatIsRefusedForGoodIsNot) {
  FaultS3 s3;
  const auto bucket = s3.bucket();
  s3.refuse({{403, "AccessDenied"}});
  const auto refused = bucket->put("a", "bytes");
  EXPECT_EQ(refused.error().code, Code::forbidden);
  EXPECT_THAT(refused.error().message, HasSubstr("AccessDenied"));
  EXPECT_EQ(s3.count("PUT"), 1u);
  s3.refuse({{503, "SlowDown"}, {503, "SlowDown"}, {503, "SlowDown"}, {503, "SlowDown"}});
  EXPECT_EQ(bucket->get("a").error().code, Code::unavailable);  // After four tries.
  EXPECT_EQ(s3.count("GET"), 4u);
}

TEST(Bucket, AKeyThatWasChangedIsReadAgain) {
  FaultS3 s3;
  std::string id = "before";
  const auto bucket = s3.bucket([&] { return net::AwsKey{id, "secret", ""}; });
  s3.set_key("before");
  EXPECT_TRUE(bucket->put("a", "1"));
  s3.set_key("after");
  EXPECT_EQ(bucket->put("a", "2").error().code, Code::forbidden);
  id = "after";
  EXPECT_TRUE(bucket->put("a", "3"));
}

TEST(Bucket, AStoreThatIsGoneIsLeftAloneForAMoment) {
  FaultS3 s3;
  const auto bucket = s3.bucket();
  EXPECT_TRUE(bucket->put("a", "1"));
  s3.stop();
  const auto down = bucket->get("a");
  EXPECT_EQ(down.error().code, Code::unavailable);
  EXPECT_THAT(down.error().message, Not(HasSubstr("http")));
  EXPECT_THAT(bucket->get("a").error().message, HasSubstr("a moment ago"));
  s3.start_again();
  EXPECT_TRUE(base::testing::eventually([&] { return bucket->get("a").has_value(); }));
}

class ThrowingClock final : public base::Clock {
 public:
  [[nodiscard]] base::Time now() const override { throw std::runtime_error("no time"); }
};

TEST(Bucket, ACallThatThrewIsNotCancelled) {
  FaultS3 s3;
  const ThrowingClock clock;
  const auto bucket =
      Bucket::make(
          *parse_s3(s3.url()), [] { return net::AwsKey{"id", "secret", ""}; }, clock)
          .value();
  EXPECT_THROW((void)bucket->get("a"), std::runtime_error);
  bucket->cancel();  // There is nothing under way.
  EXPECT_EQ(bucket->get("a").error().code, Code::unavailable);
}

TEST(Bucket, AListingHasAllPages) {
  FaultS3 s3;
  s3.page = 2;
  const auto bucket = s3.bucket();
  for (const auto* key : {"a1", "a2", "a3", "a4", "a5", "b1"})
    ASSERT_TRUE(bucket->put(key, std::string(key) + "&<"));
  const auto all = bucket->list("a");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 5u);
  EXPECT_EQ(all->back().key, "a5");
  EXPECT_EQ(all->back().bytes, 4u);
  EXPECT_EQ(to_string(all->back().changed), "2026-11-01T00:00:00Z");
}

TEST(Bucket, ALargeObjectArrivesInPartsAndAnInterruptedOneGoesOn) {
  FaultS3 s3;
  const auto bucket = s3.bucket();
  const auto bytes = std::string(Bucket::kPartBytes, 'x') + "and more";
  int reads = 0;
  const auto read = [&](std::uint64_t from, std::uint64_t n) -> base::Result<base::Bytes> {
    if (++reads == 2) return base::fail(Code::internal, "the power went");
    return bytes.substr(from, n);
  };
  EXPECT_FALSE(bucket->put_large("big", bytes.size(), read));
  EXPECT_TRUE(s3.objects().empty());
  ASSERT_TRUE(bucket->put_large("big", bytes.size(), read));
  EXPECT_EQ(s3.count("POST bucket/pre/big?uploads="), 1u);  // The upload of before.
  EXPECT_TRUE(s3.objects().at("pre/big") == bytes);
  ASSERT_TRUE(bucket->put_large("small", 10, read));
  EXPECT_EQ(s3.count("PUT bucket/pre/small"), 1u);
}

TEST(Bucket, AnAddressForOthersNamesOneObjectAndNoSecret) {
  FaultS3 s3;
  const auto bucket = s3.bucket();
  const auto url = bucket->direct_url("ab/cd", base::minutes(5));
  EXPECT_THAT(url, HasSubstr("/bucket/pre/ab/cd?X-Amz-Algorithm="));
  EXPECT_THAT(url, HasSubstr("X-Amz-Expires=300"));
  EXPECT_THAT(url, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace souk::blob
