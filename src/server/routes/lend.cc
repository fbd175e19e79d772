#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "net/address.h"
#include "server/files/agent_bundle.h"
#include "server/http/router.h"
#include "server/http/version.h"
#include "wire/api/agent.h"

// Lending with one pasted line, on a computer that has no souk: a script and what it installs.
// Answers strangers.

namespace souk::server {
namespace {

using Bundle = std::shared_ptr<const AgentBundle>;

// Goes on with step(call, bundle) on a file thread.
template <class Step>
void with_bundle(ServerContext& server, ApiCallPtr call, Step step) {
  to_pool(server.files, std::move(call), [&server, step](ApiCallPtr own) {
    auto bundle = server.bundle.get();
    if (!bundle) return own->reply.send(problem(bundle.error()));
    step(std::move(own), *std::move(bundle));
  });
}

void serve_agent(ServerContext& server, ApiCallPtr call) {
  with_bundle(server, std::move(call), [&server](ApiCallPtr own, const Bundle& bundle) {
    wire::AgentBundle out{.available = bundle != nullptr,
                          .version = std::string(kVersion),
                          .public_url = server.options.public_url};
    if (bundle) {
      out.sha256 = bundle->sha256();
      out.bytes = static_cast<std::int64_t>(bundle->bytes());
    }
    own->reply.send(json_response(wire::to_json(out)));
  });
}

// The market's address is the operator's word, or else the Host that this very request was sent to.
// No cache keeps the answer, so nobody gets a script that was made for another's Host.
void serve_script(ServerContext& server, ApiCallPtr call) {
  auto market = server.options.public_url.empty()
                    ? address_of(call->http.header("Host"), call->reply.secure())
                    : Result<std::string>(server.options.public_url);
  if (!market) return call->reply.send(problem(market.error()));
  with_bundle(server, std::move(call),
              [market = *std::move(market)](ApiCallPtr own, const Bundle& bundle) {
                own->reply.send({.content_type = "text/plain; charset=utf-8",
                                 .body = lend_script(bundle.get(), market)});
              });
}

// The bundle on its way to somebody who may read slowly. Its callbacks own it.
class BundleDownload : public std::enable_shared_from_this<BundleDownload> {
 public:
  BundleDownload(Bundle bundle, base::BudgetShare share)
      : bundle_(std::move(bundle)), share_(std::move(share)) {}

  void send_to(net::Stream stream) {
    stream_ = std::move(stream);
    go_on();
  }

 private:
  void go_on() {
    if (!stream_.open()) return;
    if (next_ == bundle_->pieces().size()) return stream_.close();
    stream_.write(bundle_->pieces()[next_++]);
    stream_.when_sent([self = shared_from_this()] { self->go_on(); });
  }

  const Bundle bundle_;
  const base::BudgetShare share_;
  net::Stream stream_;
  std::size_t next_ = 0;  // Of the pieces, to be sent.
};

bool knows(std::string_view tags, std::string_view etag) {
  return std::ranges::any_of(base::split(tags, ','), [&](std::string_view tag) {
    return base::trim(tag) == "*" || base::trim(tag) == etag;
  });
}

void send_bundle(ServerContext& server, ApiCallPtr call, const Bundle& bundle) {
  if (!bundle)
    return call->reply.send(problem(base::Error{
        base::Code::not_found, "this market has no bundle of souk to give",
        "its operator makes one with `make package`, or names one: souk serve --bundle FILE"}));
  const auto etag = fmt::format("\"{}\"", bundle->sha256());
  const auto name = fmt::format("attachment; filename=\"souk-{}-linux-x86_64.tar.gz\"", kVersion);
  net::Response head{
      .content_type = "application/gzip",
      .headers = {{"ETag", etag}, {"Cache-Control", "no-cache"}, {"Content-Disposition", name}}};
  if (knows(call->http.header("If-None-Match"), etag)) {
    head.status = 304;
    return call->reply.send(std::move(head));
  }
  auto share = base::BudgetShare::take(server.services.budgets.bundle_downloads,
                                       net::address_key(call->http.peer.address), 1);
  if (!share) {
    server.bundle_downloads.make_room();
    return call->reply.send(refusal(share.error()));
  }
  auto stream = call->reply.stream(std::move(head));
  server.bundle_downloads.add(stream);
  std::make_shared<BundleDownload>(bundle, *std::move(share))->send_to(std::move(stream));
}

void serve_bundle(ServerContext& server, ApiCallPtr call) {
  with_bundle(server, std::move(call), [&server](ApiCallPtr own, const Bundle& bundle) {
    send_bundle(server, std::move(own), bundle);
  });
}

}  // namespace

void add_lend_routes(Routes& routes) {
  routes.on_io<void, wire::AgentBundle>("GET", "/v1/agent", "getAgent",
                                        "What a computer without souk fetches to lend",
                                        Access::everybody, &serve_agent);
  routes
      .on_io<void, void>("GET", "/v1/agent/bundle", "getAgentBundle",
                         "Souk for Linux on x86_64, with its libraries: a .tar.gz",
                         Access::everybody, &serve_bundle)
      .doc.media = "application/gzip";
  auto& script = routes.on_io<void, void>(
      "GET", "/lend", "getLendScript",
      "A shell script that installs souk and lends: curl -fsS MARKET/lend | sh -s TOKEN",
      Access::everybody, &serve_script);
  script.doc.media = "text/plain";
}

}  // namespace souk::server
