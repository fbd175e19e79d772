#include "relay/overlay/seal.h"

#include <openssl/evp.h>
#include <sodium.h>

#include "base/check.h"
#include "base/hash.h"

#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace souk::relay {
namespace {

void start_sodium() { CHECK(sodium_init() >= 0); }

const EVP_CIPHER* kind_of(Cipher cipher) {
  return cipher == Cipher::aes ? EVP_aes_128_gcm() : EVP_chacha20_poly1305();
}

void write_counter(std::uint8_t* to, std::uint64_t counter) {
  for (int i = 7; i >= 0; --i, counter >>= 8) to[i] = static_cast<std::uint8_t>(counter);
}

std::uint64_t read_counter(const std::uint8_t* from) {
  std::uint64_t out = 0;
  for (int i = 0; i < 8; ++i) out = out << 8 | from[i];
  return out;
}

using Nonce = std::array<std::uint8_t, 12>;

Nonce nonce_of(const std::uint8_t* counter) {
  Nonce out{};
  std::copy_n(counter, kCounterBytes, out.begin() + 4);
  return out;
}

struct Context {
  EVP_CIPHER_CTX* get = EVP_CIPHER_CTX_new();

  Context() { CHECK(get != nullptr); }
  ~Context() { EVP_CIPHER_CTX_free(get); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

}  // namespace

KeyPair KeyPair::make() {
  start_sodium();
  KeyPair out;
  CHECK(crypto_kx_keypair(out.public_key.data(), out.secret.data()) == 0);
  return out;
}

std::string to_text(const PublicKey& key) {
  return base::to_hex({reinterpret_cast<const char*>(key.data()), key.size()});
}

base::Result<PublicKey> parse_key(std::string_view text) {
  PublicKey out{};
  std::size_t size = 0;
  if (text.size() != 2 * out.size() ||
      sodium_hex2bin(out.data(), out.size(), text.data(), text.size(), nullptr, &size, nullptr) !=
          0 ||
      size != out.size())
    return base::fail(base::Code::invalid, "this is no key", "64 hex digits", "key");
  return out;
}

bool has_fast_aes() {
#if defined(__x86_64__)
  start_sodium();
  return crypto_aead_aes256gcm_is_available() == 1;
#elif defined(__aarch64__)
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0 && (getauxval(AT_HWCAP) & HWCAP_PMULL) != 0;
#else
  return false;
#endif
}

base::Result<SessionKeys> agree(const KeyPair& ours, const PublicKey& theirs, bool first) {
  start_sodium();
  SessionKeys out;
  const auto make = first ? crypto_kx_client_session_keys : crypto_kx_server_session_keys;
  if (make(out.receive.data(), out.send.data(), ours.public_key.data(), ours.secret.data(),
           theirs.data()) != 0)
    return base::fail(base::Code::invalid, "the key of another worker is no key");
  return out;
}

struct Sealer::Impl : Context {};

Sealer::Sealer(std::span<const std::uint8_t, 32> key, Cipher cipher)
    : impl_(std::make_unique<Impl>()) {
  CHECK(EVP_EncryptInit_ex(impl_->get, kind_of(cipher), nullptr, key.data(), nullptr) == 1);
}
Sealer::~Sealer() = default;

std::size_t Sealer::seal(std::uint8_t* record, std::size_t size) {
  write_counter(record, next_++);
  const auto nonce = nonce_of(record);
  auto* text = record + kCounterBytes;
  int length = 0, rest = 0;
  CHECK(EVP_EncryptInit_ex(impl_->get, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
        EVP_EncryptUpdate(impl_->get, text, &length, text, static_cast<int>(size)) == 1 &&
        EVP_EncryptFinal_ex(impl_->get, text + length, &rest) == 1 &&
        EVP_CIPHER_CTX_ctrl(impl_->get, EVP_CTRL_AEAD_GET_TAG, kTagBytes, text + size) == 1);
  return kSealBytes + size;
}

struct Opener::Impl : Context {};

Opener::Opener(std::span<const std::uint8_t, 32> key, Cipher cipher)
    : impl_(std::make_unique<Impl>()) {
  CHECK(EVP_DecryptInit_ex(impl_->get, kind_of(cipher), nullptr, key.data(), nullptr) == 1);
}
Opener::~Opener() = default;

bool Opener::is_new(std::uint64_t counter) const {
  if (!any_ || counter > highest_) return true;
  return highest_ - counter < kWindow && !seen_[counter % kWindow];
}

void Opener::note(std::uint64_t counter) {
  if (!any_ || counter > highest_) {
    const auto from = any_ ? highest_ + 1 : counter;
    if (counter - from >= kWindow)
      seen_.reset();
    else
      for (auto i = from; i <= counter; ++i) seen_.reset(i % kWindow);
    highest_ = counter;
    any_ = true;
  }
  seen_.set(counter % kWindow);
}

std::optional<std::span<std::uint8_t>> Opener::open(std::span<std::uint8_t> record) {
  if (record.size() < kSealBytes) return std::nullopt;
  const auto counter = read_counter(record.data());
  if (!is_new(counter)) return std::nullopt;
  const auto nonce = nonce_of(record.data());
  auto* text = record.data() + kCounterBytes;
  const auto size = record.size() - kSealBytes;
  int length = 0, rest = 0;
  const bool good =
      EVP_DecryptInit_ex(impl_->get, nullptr, nullptr, nullptr, nonce.data()) == 1 &&
      EVP_DecryptUpdate(impl_->get, text, &length, text, static_cast<int>(size)) == 1 &&
      EVP_CIPHER_CTX_ctrl(impl_->get, EVP_CTRL_AEAD_SET_TAG, kTagBytes, text + size) == 1 &&
      EVP_DecryptFinal_ex(impl_->get, text + length, &rest) == 1;
  if (!good) return std::nullopt;
  note(counter);
  return std::span(text, size);
}

}  // namespace souk::relay
