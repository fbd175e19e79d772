#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace souk::net {

struct Certificate {
  std::string certificate_pem;
  std::string key_pem;  // A secret.
};

// A new P-256 key and a certificate for it, signed by itself and valid from yesterday for `days`
// days (1 to 3650). `names` are DNS names or IP addresses; at least one, the first is the subject.
base::Result<Certificate> self_signed(std::span<const std::string> names, int days);

// SHA-256 of the first certificate in `pem`, as 64 hex digits: what a client pins.
base::Result<std::string> fingerprint(std::string_view pem);

}  // namespace souk::net
