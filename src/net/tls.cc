#include "net/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdint>
#include <memory>

#include "base/check.h"
#include "base/hash.h"

namespace souk::net {
namespace {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using BioPointer = std::unique_ptr<BIO, Freer<BIO_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using CertificatePointer = std::unique_ptr<X509, Freer<X509_free>>;
using NamesPointer = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;

std::string contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

bool is_dns_name(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  for (const char c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '-' &&
        c != '.' && c != '*' && c != '_')
      return false;
  return true;
}

// A subject alternative name: an IP address if it reads as one, else a DNS name.
GENERAL_NAME* general_name(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  int size = 0;
  if (::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1) size = 4;
  if (size == 0 && ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1) size = 16;
  GENERAL_NAME* out = GENERAL_NAME_new();
  ASN1_STRING* value = size > 0 ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
  CHECK(out != nullptr && value != nullptr);
  if (size > 0)
    ASN1_STRING_set(value, bytes.data(), size);
  else
    ASN1_STRING_set(value, name.data(), static_cast<int>(name.size()));
  GENERAL_NAME_set0_value(out, size > 0 ? GEN_IPADD : GEN_DNS, value);
  return out;
}

bool accepts(const std::string& name) {
  std::array<unsigned char, 16> bytes{};
  return is_dns_name(name) || ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

void set_serial_and_dates(X509* certificate, int days) {
  std::uint64_t serial = 0;
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1);
  // From yesterday: other people's clocks are late.
  X509_time_adj_ex(X509_getm_notBefore(certificate), -1, 0, nullptr);
  X509_time_adj_ex(X509_getm_notAfter(certificate), days, 0, nullptr);
}

void set_names(X509* certificate, std::span<const std::string> names) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const std::string common = names[0].substr(0, 64);  // The standard's limit.
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common.data()),
                             static_cast<int>(common.size()), -1, 0);
  X509_set_issuer_name(certificate, subject);
  const NamesPointer alternatives(GENERAL_NAMES_new());
  for (const std::string& name : names)
    sk_GENERAL_NAME_push(alternatives.get(), general_name(name));
  CHECK(X509_add1_ext_i2d(certificate, NID_subject_alt_name, alternatives.get(), 0, 0) == 1);
}

}  // namespace

base::Result<Certificate> self_signed(std::span<const std::string> names, int days) {
  if (names.empty() || days < 1 || days > 3650)
    return base::fail(
        base::Code::invalid,
        fmt::format("cannot make a certificate for {} names and {} days", names.size(), days),
        "at least one name, 1 to 3650 days");
  for (const std::string& name : names)
    if (!accepts(name))
      return base::fail(base::Code::invalid,
                        fmt::format("cannot make a certificate for the name '{}'", name),
                        "a DNS name such as market.example, or an IP address");
  const KeyPointer key(EVP_EC_gen("P-256"));
  const CertificatePointer certificate(X509_new());
  CHECK(key && certificate);
  X509_set_version(certificate.get(), X509_VERSION_3);
  set_serial_and_dates(certificate.get(), days);
  set_names(certificate.get(), names);
  X509_set_pubkey(certificate.get(), key.get());
  CHECK(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);

  const BioPointer certificate_text(BIO_new(BIO_s_mem()));
  const BioPointer key_text(BIO_new(BIO_s_mem()));
  CHECK(PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1);
  CHECK(PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                 nullptr) == 1);
  return Certificate{contents(certificate_text.get()), contents(key_text.get())};
}

base::Result<std::string> fingerprint(std::string_view pem) {
  const BioPointer bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const CertificatePointer certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (!certificate)
    return base::fail(base::Code::invalid, "this is not a PEM certificate",
                      "text that begins with -----BEGIN CERTIFICATE-----");
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  CHECK(X509_digest(certificate.get(), EVP_sha256(), digest.data(), &size) == 1);
  return base::to_hex({reinterpret_cast<const char*>(digest.data()), size});
}

}  // namespace souk::net
