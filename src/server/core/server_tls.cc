#include "server/core/server_tls.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "server/record/recovery.h"

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

constexpr const char* kRights = "check its path and rights";

Result<> write_private(const std::string& path, const std::string& text) {
  const auto old = ::umask(0077);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  ::umask(old);
  if (out) return {};
  return fail(Code::unavailable, fmt::format("cannot write '{}'", path),
              "check the folder's rights");
}

Result<net::ServerTls> own_certificate(const Options& o) {
  const auto certificate = o.data + "/tls-certificate.pem", key = o.data + "/tls-key.pem";
  if (in_memory(o) || !fs::exists(certificate) || !fs::exists(key)) {
    const std::vector<std::string> names{"localhost", "127.0.0.1", o.address};
    SOUK_ASSIGN(auto made, net::self_signed(names, 3650));
    if (in_memory(o))
      return net::ServerTls{std::move(made.certificate_pem), std::move(made.key_pem)};
    SOUK_TRY(write_private(key, made.key_pem));
    SOUK_TRY(write_private(certificate, made.certificate_pem));
  }
  SOUK_ASSIGN(auto certificate_pem, base::read_file(certificate, kRights));
  SOUK_ASSIGN(auto key_pem, base::read_file(key, kRights));
  return net::ServerTls{std::move(certificate_pem), std::move(key_pem)};
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace

Result<std::optional<net::ServerTls>> tls_for(const Options& o) {
  if (o.tls_certificate.empty() != o.tls_key.empty())
    return fail(Code::invalid, "a certificate and its key come together",
                "give both --tls-cert and --tls-key");
  if (!o.tls_certificate.empty()) {
    SOUK_ASSIGN(auto certificate, base::read_file(o.tls_certificate, kRights));
    SOUK_ASSIGN(auto key, base::read_file(o.tls_key, kRights));
    return net::ServerTls{std::move(certificate), std::move(key)};
  }
  const bool wanted = o.self_signed || (!is_loopback(o.address) && !o.plain_http);
  if (!wanted) return std::nullopt;
  SOUK_ASSIGN(auto own, own_certificate(o));
  return own;
}

}  // namespace souk::server
