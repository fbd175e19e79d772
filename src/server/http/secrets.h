#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"

// Passwords and tokens. Passwords are kept as Argon2id (19 MiB, 2 passes); tokens are 256 random
// bits of which only a hash is kept.

namespace souk::server {

// Call once before anything else here.
void init_secrets();

// "souk_" and 43 characters.
[[nodiscard]] std::string new_token();
[[nodiscard]] base::Digest token_digest(std::string_view token);
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b);  // In constant time.

[[nodiscard]] std::string hash_password(const std::string& password);
// An empty `hash` (no such account) takes as long as a wrong password.
[[nodiscard]] bool verify_password(const std::string& hash, const std::string& password);

}  // namespace souk::server
