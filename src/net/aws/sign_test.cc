#include "net/aws/sign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "net/aws/key.h"

namespace souk::net {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// The examples of "Authenticating Requests (AWS Signature Version 4)" in Amazon S3's API Reference.
const AwsKey kKey{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
const base::Time kWhen = *base::parse_time("2013-05-24T00:00:00Z");

AwsRequest example(std::string method, std::string path) {
  return {.method = std::move(method),
          .host = "examplebucket.s3.amazonaws.com",
          .path = aws_path(path),
          .region = "us-east-1"};
}

std::string authorization(const AwsRequest& request) {
  return std::string(find_header(aws_signed(request, kKey, kWhen), "Authorization"));
}

TEST(AwsSign, AGetIsSignedAsAmazonsOwnExample) {
  auto request = example("GET", "/test.txt");
  request.headers = {{"Range", "bytes=0-9"}};
  EXPECT_EQ(authorization(request),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature="
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(AwsSign, APutIsSignedAsAmazonsOwnExample) {
  auto request = example("PUT", "/test$file.text");
  request.headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                     {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  request.payload_sha256 = sha256_hex("Welcome to Amazon S3.");
  EXPECT_THAT(authorization(request),
              EndsWith("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(AwsSign, QueriesAreSignedAsAmazonsOwnExamples) {
  auto request = example("GET", "/");
  request.query = {{"lifecycle", ""}};
  EXPECT_THAT(authorization(request),
              EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  request.query = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_EQ(aws_query(request), "?max-keys=2&prefix=J");
  EXPECT_THAT(authorization(request),
              EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(AwsSign, AnAddressForOthersIsAmazonsOwnExample) {
  EXPECT_EQ(aws_presigned(example("GET", "/test.txt"), kKey, kWhen, base::days(1)),
            "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F"
            "20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires="
            "86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
            "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST(AwsSign, TheSecretIsInNothingThatIsSent) {
  auto key = kKey;
  key.session = "token";
  const auto address = aws_presigned(example("GET", "/a b"), key, kWhen, base::days(30));
  EXPECT_THAT(address, Not(HasSubstr("wJalr")));
  EXPECT_THAT(address, HasSubstr("/a%20b?"));
  EXPECT_THAT(address, HasSubstr("X-Amz-Expires=604800&"));  // AWS takes no longer.
  EXPECT_THAT(address, HasSubstr("X-Amz-Security-Token=token&"));
  for (const auto& [name, value] : aws_signed(example("GET", "/"), key, kWhen))
    EXPECT_THAT(value, Not(HasSubstr("wJalr"))) << name;
}

TEST(AwsKey, ComesFromTheVariablesOrTheFileOfTheProfile) {
  std::map<std::string, std::string> env;
  const auto get = [&](const char* name) -> std::optional<std::string> {
    const auto it = env.find(name);
    return it == env.end() ? std::nullopt : std::optional(it->second);
  };
  const auto file = ::testing::TempDir() + "souk-aws-credentials";
  std::ofstream(file) << "[default]\naws_access_key_id = A\naws_secret_access_key=B\n[other]\n"
                         "aws_access_key_id=C\naws_secret_access_key = D=\naws_session_token=E\n";
  env["HOME"] = "/nonexistent";
  EXPECT_EQ(aws_key(get).error().code, base::Code::not_found);
  env["AWS_SHARED_CREDENTIALS_FILE"] = file;
  EXPECT_EQ(aws_key(get).value(), (AwsKey{"A", "B", ""}));
  env["AWS_PROFILE"] = "other";
  EXPECT_EQ(aws_key(get).value(), (AwsKey{"C", "D=", "E"}));
  env["AWS_ACCESS_KEY_ID"] = "X";
  env["AWS_SECRET_ACCESS_KEY"] = "Y";
  EXPECT_EQ(aws_key(get).value(), (AwsKey{"X", "Y", ""}));
}

}  // namespace
}  // namespace souk::net
