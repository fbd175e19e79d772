#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace souk::net {

// A key of an AWS account, or of a store that speaks like one. Never written anywhere, never in an
// error.
struct AwsKey {
  std::string id;
  std::string secret;
  std::string session;  // Empty: a lasting key.
  bool operator==(const AwsKey&) const = default;
};

// The key of AWS's own tools: AWS_ACCESS_KEY_ID and so on, else the profile (AWS_PROFILE) in
// AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials.
[[nodiscard]] base::Result<AwsKey> aws_key(
    const std::function<std::optional<std::string>(const char* name)>& env);

}  // namespace souk::net
