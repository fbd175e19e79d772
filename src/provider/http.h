#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

// One HTTP call to a cloud, with what clouds want and net::Client has no use for: signatures and
// certificates of clients. Blocks. Errors contain no header and no key.

namespace souk::provider {

struct HttpCall {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // AWS Signature Version 4: "aws:amz:us-east-1:ec2", with the key and its secret.
  std::string sign = {};
  std::string key = {}, secret = {};
  // Files, PEM.
  std::string ca_file = {}, cert_file = {}, key_file = {};
  base::Duration timeout = base::seconds(30);
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// Any status is an answer. Code::unavailable: there was none, and the call may have been heard.
base::Result<HttpAnswer> call_http(const HttpCall& call);

std::string url_encoded(std::string_view text);

}  // namespace souk::provider
