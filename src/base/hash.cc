#include "base/hash.h"

#include <sodium.h>

#include <cstring>

#include "base/check.h"

namespace souk::base {
namespace {

Digest digest(std::string_view data, const unsigned char* key, std::size_t key_size) {
  Digest out;
  CHECK(crypto_generichash(out.bytes.data(), out.bytes.size(),
                           reinterpret_cast<const unsigned char*>(data.data()), data.size(), key,
                           key_size) == 0);
  return out;
}

}  // namespace

Digest blake2b(std::string_view data) { return digest(data, nullptr, 0); }

Digest blake2b(std::string_view data, const Digest& key) {
  return digest(data, key.bytes.data(), key.bytes.size());
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const unsigned char b : bytes) {
    out += digits[b >> 4];
    out += digits[b & 15];
  }
  return out;
}

std::string to_string(const Digest& d) {
  return to_hex({reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()});
}

std::uint64_t short_hash(std::string_view data) {
  const auto d = blake2b(data);
  std::uint64_t out = 0;
  std::memcpy(&out, d.bytes.data(), sizeof out);
  return out;
}

std::size_t table_hash(std::string_view data) {
  static const auto secret = [] {
    std::array<unsigned char, crypto_shorthash_KEYBYTES> key;
    crypto_shorthash_keygen(key.data());
    return key;
  }();
  std::size_t out = 0;
  static_assert(sizeof out == crypto_shorthash_BYTES);
  crypto_shorthash(reinterpret_cast<unsigned char*>(&out),
                   reinterpret_cast<const unsigned char*>(data.data()), data.size(), secret.data());
  return out;
}

}  // namespace souk::base
