#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "net/aws/key.h"
#include "net/http.h"

// AWS Signature Version 4, as S3 wants it: in the headers of a request, or in the query of an
// address that somebody else may ask for a while. libcurl signs headers too, but not addresses, and
// its versions differ in what they do to queries and paths; this is one way for both. Pure.

namespace souk::net {

struct AwsRequest {
  std::string method = "GET";
  std::string host;  // With its port where that is not the usual one: what `Host:` will say.
  std::string path;  // Encoded, as it is sent: aws_path().
  std::vector<std::pair<std::string, std::string>> query = {};  // Not encoded.
  Headers headers = {};                                         // To be signed too.
  std::string payload_sha256 = {};                              // 64 hex digits; empty: no body.
  std::string region, service = "s3";
};

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

// Encodes each part of a path between its '/'.
[[nodiscard]] std::string aws_path(std::string_view path);
// "?a=1&b=2", sorted and encoded as it is signed; empty without parameters.
[[nodiscard]] std::string aws_query(const AwsRequest& request);

// The request's own headers and those that sign it, to be sent with the path and aws_query().
[[nodiscard]] Headers aws_signed(const AwsRequest& request, const AwsKey& key, base::Time now);

// The path and the query of an address that is good for this one request, from now on for
// `lasts` (1 s to 7 days). It names the key, and does not contain its secret.
[[nodiscard]] std::string aws_presigned(const AwsRequest& request, const AwsKey& key,
                                        base::Time now, base::Duration lasts);

}  // namespace souk::net
