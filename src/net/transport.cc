#include "net/transport.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace souk::net {
namespace {

constexpr std::size_t kTlsRecord = 16 * 1024;
constexpr std::size_t kLowWater = 128 * 1024;

int bio_fd(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool try_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL, so a peer that left would kill us.
int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto n = ::send(bio_fd(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (n < 0 && try_again()) BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const auto n = ::recv(bio_fd(bio), data, static_cast<std::size_t>(size), 0);
  if (n < 0 && try_again()) BIO_set_retry_read(bio);
  return static_cast<int>(n);
}

long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO_METHOD* socket_bio() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "souk socket");
    CHECK(m != nullptr);
    BIO_meth_set_write(m, bio_write);
    BIO_meth_set_read(m, bio_read);
    BIO_meth_set_ctrl(m, bio_control);
    return m;
  }();
  return method;
}

using MemoryBio = std::unique_ptr<BIO, decltype(&BIO_free)>;
MemoryBio memory_bio(std::string_view text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

bool use_certificates(SSL_CTX* context, std::string_view pem) {
  const MemoryBio bio = memory_bio(pem);
  X509* leaf = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr);
  const bool used = leaf != nullptr && SSL_CTX_use_certificate(context, leaf) == 1;
  X509_free(leaf);
  while (used) {
    X509* next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr);
    if (next == nullptr) break;
    if (SSL_CTX_add0_chain_cert(context, next) != 1) X509_free(next);
  }
  return used;
}

bool use_key(SSL_CTX* context, std::string_view pem) {
  const MemoryBio bio = memory_bio(pem);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr);
  const bool used = key != nullptr && SSL_CTX_use_PrivateKey(context, key) == 1;
  EVP_PKEY_free(key);
  return used && SSL_CTX_check_private_key(context) == 1;
}

}  // namespace

base::Result<std::shared_ptr<const TlsContext>> TlsContext::make(std::string_view certificate_pem,
                                                                 std::string_view key_pem) {
  SSL_CTX* raw = SSL_CTX_new(TLS_server_method());
  CHECK(raw != nullptr);
  auto context = std::make_shared<const TlsContext>(raw);
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_options(
      raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  const bool usable = use_certificates(raw, certificate_pem);
  const bool key_fits = usable && use_key(raw, key_pem);
  ERR_clear_error();
  if (!usable)
    return base::fail(base::Code::invalid, "the TLS certificate cannot be read",
                      "give one or more PEM certificates, the server's own first");
  if (!key_fits)
    return base::fail(base::Code::invalid, "the TLS key cannot be used with the certificate",
                      "give the unencrypted PEM private key that the certificate was made for");
  return context;
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

Transport::Transport(int fd, std::shared_ptr<const TlsContext> tls)
    : fd_(fd), context_(std::move(tls)) {
  if (!context_) return;
  ssl_ = SSL_new(context_->get());
  BIO* bio = BIO_new(socket_bio());
  CHECK(ssl_ != nullptr && bio != nullptr);
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_accept_state(ssl_);
}

Transport::Transport(Transport&& other) noexcept
    : fd_(other.fd_),
      context_(std::move(other.context_)),
      ssl_(std::exchange(other.ssl_, nullptr)),
      low_water_(other.low_water_) {}

Transport::~Transport() { SSL_free(ssl_); }

Transport::Io Transport::tls_outcome(int returned) {
  const int error = SSL_get_error(ssl_, returned);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ) return {Outcome::want_read};
  if (error == SSL_ERROR_WANT_WRITE) return {Outcome::want_write};
  return {Outcome::closed};
}

Transport::Io Transport::read(std::span<char> into) {
  if (ssl_ != nullptr) {
    const int n = SSL_read(ssl_, into.data(), static_cast<int>(into.size()));
    return n > 0 ? Io{Outcome::done, static_cast<std::size_t>(n)} : tls_outcome(n);
  }
  const auto n = ::recv(fd_, into.data(), into.size(), 0);
  if (n > 0) return {Outcome::done, static_cast<std::size_t>(n)};
  return {n < 0 && try_again() ? Outcome::want_read : Outcome::closed};
}

Transport::Io Transport::write(std::span<const iovec> from) {
  if (ssl_ != nullptr) return tls_write(from);
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(from.data());
  message.msg_iovlen = from.size();
  const auto n = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
  if (n > 0) return {Outcome::done, static_cast<std::size_t>(n)};
  return {n < 0 && try_again() ? Outcome::want_write : Outcome::closed};
}

// Fills one TLS record, so that a head and its body are one packet.
Transport::Io Transport::tls_write(std::span<const iovec> from) {
  std::array<char, kTlsRecord> record;
  std::size_t size = 0;
  for (const iovec& part : from) {
    const std::size_t n = std::min(part.iov_len, record.size() - size);
    std::memcpy(record.data() + size, part.iov_base, n);
    size += n;
  }
  const int n = SSL_write(ssl_, record.data(), static_cast<int>(size));
  return n > 0 ? Io{Outcome::done, static_cast<std::size_t>(n)} : tls_outcome(n);
}

void Transport::expect(std::size_t bytes) {
  if (ssl_ != nullptr) return;
  const int wanted = static_cast<int>(std::clamp<std::size_t>(bytes, 1, kLowWater));
  if (std::exchange(low_water_, wanted) != wanted)
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
}

namespace {

class TransportLine final : public Line {
 public:
  TransportLine(base::Fd socket, Transport transport, std::string unread,
                std::shared_ptr<void> held)
      : held_(std::move(held)),
        socket_(std::move(socket)),
        transport_(std::move(transport)),
        unread_(std::move(unread)) {}

  int fd() const override { return socket_.get(); }
  bool plain() const override { return false; }
  Io read(std::span<char> into) override {
    if (unread_.empty()) return as_line(transport_.read(into));
    const auto n = std::min(into.size(), unread_.size());
    std::memcpy(into.data(), unread_.data(), n);
    unread_.erase(0, n);
    return {Outcome::done, n};
  }
  Io write(std::span<const iovec> from) override { return as_line(transport_.write(from)); }
  void finish() override { transport_.shut_down_writing(); }

 private:
  static Io as_line(Transport::Io io) {
    switch (io.outcome) {
      case Transport::Outcome::done:
        return {Outcome::done, io.bytes};
      case Transport::Outcome::want_read:
        return {Outcome::want_read};
      case Transport::Outcome::want_write:
        return {Outcome::want_write};
      case Transport::Outcome::closed:
        break;
    }
    return {Outcome::closed};
  }

  std::shared_ptr<void> held_;
  base::Fd socket_;
  Transport transport_;
  std::string unread_;
};

}  // namespace

std::unique_ptr<Line> line_of(base::Fd socket, Transport transport, std::string unread,
                              std::shared_ptr<void> held) {
  if (!transport.encrypts()) return line_of(std::move(socket), std::move(unread), std::move(held));
  return std::make_unique<TransportLine>(std::move(socket), std::move(transport), std::move(unread),
                                         std::move(held));
}

void Transport::shut_down_writing() {
  if (ssl_ != nullptr && SSL_is_init_finished(ssl_) == 1) {
    SSL_shutdown(ssl_);
    ERR_clear_error();
  }
  ::shutdown(fd_, SHUT_WR);
}

}  // namespace souk::net
