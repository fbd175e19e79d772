#include "agent/peers/direct_fetch.h"

#include <algorithm>

#include "net/local_address.h"

namespace souk::agent {
namespace {

constexpr std::size_t kMostStores = 8;
constexpr auto kStoreConnect = base::seconds(4);
constexpr auto kStoreSilence = base::seconds(20);

// "127.0.0.1" of "http://127.0.0.1:80/a".
std::string_view host_of(std::string_view url) {
  const auto scheme = url.find("://");
  auto host = url.substr(scheme == url.npos ? 0 : scheme + 3);
  host = host.substr(0, host.find('/'));
  return host.starts_with('[') ? host.substr(1, host.find(']') - 1)
                               : host.substr(0, host.find(':'));
}

// Written as numbers, of one computer or one wire.
bool is_local_address(std::string_view host) {
  const bool number =
      host.contains(':') || host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || (number && net::is_local(host));
}

}  // namespace

bool to_this_computer(std::string_view url) {
  const auto host = host_of(url);
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

DirectFetch::DirectFetch(const LinkOptions& market)
    : stores_(market.stores),
      ca_file_(market.ca_file),
      on_this_computer_(std::ranges::all_of(market.servers, to_this_computer)),
      plain_(std::ranges::all_of(market.servers,
                                 [](const auto& url) { return url.starts_with("http://"); })) {}

base::Result<blob::Bytes> DirectFetch::get(Link& market, const std::string& path,
                                           const blob::Digest& name) {
  if (stores_->any_failed()) return market.get(path);
  SOUK_ASSIGN(auto answer,
              market.get_or_redirect(path + (path.contains('?') ? "&" : "?") + "direct=1"));
  if (answer.status < 300) return std::move(answer.body);
  if (auto encoded = fetch(std::string(answer.header("Location")), name))
    return *std::move(encoded);
  return market.get(path);
}

net::Client* DirectFetch::client_of(const std::string& origin) {
  if (const auto it = clients_.find(origin); it != clients_.end()) return &it->second;
  const bool plain = origin.starts_with("http://");
  if (!plain && !origin.starts_with("https://")) return nullptr;
  // Whoever speaks to the market in private does not fetch its files in public.
  if (plain && !plain_) return nullptr;
  // Never to this computer or its own wire because somebody says so, unless the market is here.
  if (is_local_address(host_of(origin)) && !on_this_computer_) return nullptr;
  if (clients_.size() >= kMostStores) return nullptr;
  auto client = net::Client::make({.base_url = origin,
                                   .connect_timeout = kStoreConnect,
                                   .stream_silence_timeout = kStoreSilence,
                                   .max_response_bytes = 64 << 10,
                                   .ca_file = ca_file_,
                                   .user_agent = "souk-agent"});
  if (!client) return nullptr;
  return &clients_.emplace(origin, std::move(*client)).first->second;
}

std::optional<blob::Bytes> DirectFetch::fetch(const std::string& url, const blob::Digest& name) {
  const auto scheme = url.find("://");
  const auto slash = scheme == url.npos ? url.npos : url.find('/', scheme + 3);
  if (slash == url.npos) return std::nullopt;
  const auto origin = url.substr(0, slash);
  if (!stores_->usable(origin)) return std::nullopt;
  auto* client = client_of(origin);
  blob::Bytes out;
  if (client != nullptr) {
    const auto answer = client->stream(url.substr(slash), {}, [&](std::string_view piece) {
      out += piece;
      return out.size() <= blob::kMostEncodedBytes;
    });
    if (answer && answer->status == 200 && blob::verify(out, name)) return out;
    // It went meanwhile, which is no fault of the store: the market says what became of it.
    if (answer && answer->status == 404) return std::nullopt;
  }
  stores_->failed(origin);
  return std::nullopt;
}

}  // namespace souk::agent
