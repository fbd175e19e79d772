#include "agent/fetch/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"
#include "base/hash.h"

namespace souk::agent {
namespace {

template <class Context>
EVP_MD_CTX* of(const Context& context) {
  return static_cast<EVP_MD_CTX*>(context.get());
}

}  // namespace

void Sha256::Free::operator()(void* context) const {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context));
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  CHECK(context_ != nullptr);
  CHECK(EVP_DigestInit_ex(of(context_), EVP_sha256(), nullptr) == 1);
}

void Sha256::add(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(of(context_), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  std::array<unsigned char, 32> out{};
  CHECK(EVP_DigestFinal_ex(of(context_), out.data(), nullptr) == 1);
  return base::to_hex({reinterpret_cast<const char*>(out.data()), out.size()});
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.hex();
}

}  // namespace souk::agent
