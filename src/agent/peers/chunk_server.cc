#include "agent/peers/chunk_server.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "blob/share_ticket.h"
#include "net/client.h"
#include "net/tls.h"

namespace souk::agent {
namespace {

using base::Code;
using base::fail;

constexpr std::string_view kPath = "/chunks/";
constexpr std::string_view kBearer = "Bearer ";
constexpr int kDays = 365;

struct Listening {
  std::string address;
  std::uint16_t port = 0;
};

base::Result<Listening> read_place(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto digits = colon == text.npos ? std::string_view() : text.substr(colon + 1);
  Listening out;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
  auto address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address.remove_prefix(1);
    address.remove_suffix(1);
  }
  if (digits.empty() || read.ec != std::errc{} || read.ptr != digits.data() + digits.size() ||
      address.empty())
    return fail(Code::invalid, fmt::format("cannot share chunks at '{}'", text),
                "ADDRESS:PORT, such as 0.0.0.0:7075; port 0 is any free one");
  out.address = address;
  return out;
}

net::Response plain(int status, std::string text) {
  return {.status = status, .content_type = "text/plain", .body = std::move(text)};
}

}  // namespace

base::Result<std::unique_ptr<ChunkServer>> ChunkServer::start(const std::string& place,
                                                              const blob::Store& store,
                                                              const base::Clock& clock) {
  SOUK_ASSIGN(const auto where, read_place(place));
  auto out = std::unique_ptr<ChunkServer>(new ChunkServer(store, clock));
  const std::array names{std::string("souk-lend")};
  SOUK_ASSIGN(const auto own, net::self_signed(names, kDays));
  SOUK_ASSIGN(out->sharing_.pin, net::fingerprint(own.certificate_pem));
  out->key_ = base::blake2b(net::fresh_key() + net::fresh_key());
  out->sharing_.key = to_string(out->key_);
  net::ServerOptions options{.address = where.address,
                             .port = where.port,
                             .threads = 2,
                             .tls = net::ServerTls{own.certificate_pem, own.key_pem},
                             .max_header_bytes = 4 << 10,
                             .max_body_bytes = 1,
                             .max_connections = 128,
                             .max_connections_per_address = 64};
  // The handler reads a file, as nothing else waits for these threads.
  SOUK_ASSIGN(out->server_,
              net::Server::start(std::move(options),
                                 [self = out.get()](net::Request request, net::Reply reply) {
                                   reply.send(self->answer(request));
                                 }));
  out->sharing_.port = out->server_->port();
  return out;
}

net::Response ChunkServer::answer(const net::Request& request) const {
  auto said = request.header("Authorization");
  if (request.method != "GET" || !request.path.starts_with(kPath) || !said.starts_with(kBearer))
    return plain(403, "no ticket\n");
  said.remove_prefix(kBearer.size());
  const auto ticket = blob::read_share_ticket(said, key_, clock_.now());
  if (!ticket || request.path.substr(kPath.size()) != to_string(ticket->chunk))
    return plain(403, "no ticket\n");
  auto bytes = store_.get(ticket->chunk);
  if (!bytes) return plain(404, "not here\n");
  return {.content_type = "application/octet-stream", .body = *std::move(bytes)};
}

}  // namespace souk::agent
