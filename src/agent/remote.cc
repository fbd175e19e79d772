#include "agent/remote.h"

#include <algorithm>
#include <optional>

#include "agent/peers/direct_fetch.h"
#include "agent/peers/peer_fetch.h"
#include "wire/api/blob.h"
#include "wire/json.h"

namespace souk::agent {
namespace {

// A chunk of 4 MiB over a home line that sends 20 kB/s.
constexpr auto kSlowLine = base::minutes(4);

class HttpRemote final : public blob::Remote {
 public:
  HttpRemote(Link link, const std::string& right, std::function<bool()> give_up,
             std::optional<PeerFetch> peers, std::optional<DirectFetch> direct)
      : link_(std::move(link)),
        query_(right.empty() ? "" : "?" + right),
        give_up_(std::move(give_up)),
        peers_(std::move(peers)),
        direct_(std::move(direct)) {}

  blob::Result<std::vector<blob::Digest>> missing(std::span<const blob::Digest> names) override {
    wire::BlobNames body;
    for (const auto& name : names) body.names.push_back(to_string(name));
    SOUK_ASSIGN(const auto answer, link_.post("/v1/blobs/missing", wire::to_json(body)));
    SOUK_ASSIGN(const auto absent, wire::from_json<wire::BlobNames>(answer));
    std::vector<blob::Digest> out;
    for (const auto& name : absent.names) {
      SOUK_ASSIGN(const auto digest, blob::parse_digest(name));
      out.push_back(digest);
    }
    return out;
  }

  blob::Result<> put(const blob::Digest& name, std::string_view encoded) override {
    SOUK_TRY(link_.put("/v1/blobs/" + to_string(name), encoded));
    return {};
  }

  blob::Result<blob::Bytes> get(const blob::Digest& name) override {
    if (give_up_ && give_up_())
      return base::fail(base::Code::conflict, "the transfer was stopped", "begin it again");
    if (peers_)
      if (auto encoded = peers_->get(link_, name)) return *std::move(encoded);
    const auto path = "/v1/blobs/" + to_string(name) + query_;
    return direct_ ? direct_->get(link_, path, name) : link_.get(path);
  }

 private:
  Link link_;
  const std::string query_;
  const std::function<bool()> give_up_;
  std::optional<PeerFetch> peers_;
  std::optional<DirectFetch> direct_;
};

}  // namespace

blob::RemoteFactory blobs_at(LinkOptions options, std::string right,
                             std::function<bool()> give_up) {
  options.timeout = std::max(options.timeout, kSlowLine);
  return [options = std::move(options), right = std::move(right),
          give_up = std::move(give_up)]() -> blob::Result<std::unique_ptr<blob::Remote>> {
    SOUK_ASSIGN(auto link, Link::make(options));
    constexpr std::string_view lease = "lease=";
    std::optional<PeerFetch> peers;
    if (options.peers && right.starts_with(lease))
      peers.emplace(options, right.substr(lease.size()), give_up);
    std::optional<DirectFetch> direct;
    if (options.stores) direct.emplace(options);
    return std::make_unique<HttpRemote>(std::move(link), right, give_up, std::move(peers),
                                        std::move(direct));
  };
}

}  // namespace souk::agent
