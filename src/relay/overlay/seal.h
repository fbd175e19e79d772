#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

// Records between two workers of a gang: keys that nobody else has, and authenticated encryption.
//
// Keys: X25519 and BLAKE2b (libsodium's crypto_kx). Each worker makes a pair when its lease begins;
// the market tells the public halves to those who have leases of the same gang. Records:
// AES-128-GCM where both processors have instructions for it, else ChaCha20-Poly1305 (OpenSSL; see
// docs/decisions/0071). Each direction has a key of its own.
//
//   record = counter (8 bytes, big endian) | ciphertext | tag (16 bytes); the counter is the nonce

namespace souk::relay {

using PublicKey = std::array<std::uint8_t, 32>;

struct KeyPair {
  PublicKey public_key = {};
  std::array<std::uint8_t, 32> secret = {};

  [[nodiscard]] static KeyPair make();
};

[[nodiscard]] std::string to_text(const PublicKey& key);  // 64 hex digits.
[[nodiscard]] base::Result<PublicKey> parse_key(std::string_view text);

// Does this processor have instructions for AES?
[[nodiscard]] bool has_fast_aes();

enum class Cipher : std::uint8_t { aes, chacha };

struct SessionKeys {
  std::array<std::uint8_t, 32> send = {}, receive = {};
};
// Both workers get the same keys, crossed. `first`: ours is the lower worker. An error: theirs is
// no good key.
[[nodiscard]] base::Result<SessionKeys> agree(const KeyPair& ours, const PublicKey& theirs,
                                              bool first);

inline constexpr std::size_t kCounterBytes = 8;
inline constexpr std::size_t kTagBytes = 16;
inline constexpr std::size_t kSealBytes = kCounterBytes + kTagBytes;

// For one thread at a time.
class Sealer {
 public:
  Sealer(std::span<const std::uint8_t, 32> key, Cipher cipher);
  ~Sealer();
  Sealer(const Sealer&) = delete;
  Sealer& operator=(const Sealer&) = delete;
  // `record` has room for the counter, `size` bytes of text behind it, and the tag. Encrypts in
  // place and returns the size of the record.
  std::size_t seal(std::uint8_t* record, std::size_t size);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::uint64_t next_ = 0;
};

// For one thread at a time. Takes each record once; those that come late by more than kWindow are
// lost.
class Opener {
 public:
  static constexpr std::uint64_t kWindow = 4'096;

  Opener(std::span<const std::uint8_t, 32> key, Cipher cipher);
  ~Opener();
  Opener(const Opener&) = delete;
  Opener& operator=(const Opener&) = delete;
  // Decrypts in place. Nothing: it is forged, damaged, or was there before.
  [[nodiscard]] std::optional<std::span<std::uint8_t>> open(std::span<std::uint8_t> record);

 private:
  struct Impl;
  [[nodiscard]] bool is_new(std::uint64_t counter) const;
  void note(std::uint64_t counter);

  std::unique_ptr<Impl> impl_;
  std::uint64_t highest_ = 0;
  bool any_ = false;
  std::bitset<kWindow> seen_;
};

}  // namespace souk::relay
