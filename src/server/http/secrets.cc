#include "server/http/secrets.h"

#include <sodium.h>

#include <array>

#include "base/check.h"

namespace souk::server {
namespace {

constexpr unsigned long long kPasses = 2;
constexpr std::size_t kMemory = 19u << 20;

}  // namespace

void init_secrets() { CHECK(sodium_init() >= 0); }

std::string new_token() {
  std::array<unsigned char, 32> bytes;
  randombytes_buf(bytes.data(), bytes.size());
  constexpr int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::string text(sodium_base64_ENCODED_LEN(32, variant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), variant);
  text.resize(text.size() - 1);  // The terminator.
  return "souk_" + text;
}

base::Digest token_digest(std::string_view token) { return base::blake2b(token); }

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string hash_password(const std::string& password) {
  std::array<char, crypto_pwhash_STRBYTES> out{};
  CHECK(crypto_pwhash_str_alg(out.data(), password.data(), password.size(), kPasses, kMemory,
                              crypto_pwhash_ALG_ARGON2ID13) == 0);
  return out.data();
}

bool verify_password(const std::string& hash, const std::string& password) {
  static const std::string decoy = hash_password("nobody has this password");
  const auto& against = hash.empty() ? decoy : hash;
  const bool same =
      crypto_pwhash_str_verify(against.c_str(), password.data(), password.size()) == 0;
  return same && !hash.empty();
}

}  // namespace souk::server
