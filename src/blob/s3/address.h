#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace souk::blob {

// Where objects lie: s3://BUCKET[/PREFIX][?NAME=VALUE[&...]], with
//   region    "eu-central-1"; default us-east-1, which stores other than Amazon's seldom look at
//   endpoint  "https://store.example:9000" of a store that is not Amazon's
//   style     "path" (ENDPOINT/BUCKET/KEY, the default with an endpoint) or
//             "host" (BUCKET.ENDPOINT)
//   direct    the endpoint as machines of lenders reach it, where it has another name for them;
//             "off": only the server fetches from there
//   ca        a PEM file with the authority of the endpoint's certificate
struct S3Address {
  std::string bucket;
  std::string prefix;    // "a/b/" or empty.
  std::string endpoint;  // Without the bucket: "https://s3.eu-central-1.amazonaws.com".
  std::string direct;    // The same for others; empty: off.
  std::string region;
  std::string ca_file;
  bool path_style = true;

  // Scheme and authority of the bucket at `endpoint` or `direct`.
  [[nodiscard]] std::string origin(const std::string& at) const;
  // The path of an object below that, not encoded.
  [[nodiscard]] std::string path_of(std::string_view key) const;
  // "s3://bucket/prefix", for messages.
  [[nodiscard]] std::string name() const;
};

[[nodiscard]] bool is_s3(std::string_view text);  // Does it begin like one?
[[nodiscard]] base::Result<S3Address> parse_s3(std::string_view url);

}  // namespace souk::blob
