#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "net/address.h"
#include "server/files/agent_bundle.h"
#include "server/files/trainer_file.h"
#include "server/http/router.h"
#include "server/http/version.h"
#include "wire/api/agent.h"

// Lending with one pasted line, on a computer that has no souk: a script and what it installs.
// Answers strangers.

namespace souk::server {
namespace {

using Bundle = std::shared_ptr<const AgentBundle>;
using Trainer = std::shared_ptr<const TrainerArchive>;

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
    // One that cannot be read is none: people can lend without.
    if (const auto trainer = server.trainer.get(); trainer && *trainer)
      out.trainer = {{(*trainer)->sha256(), static_cast<std::int64_t>((*trainer)->bytes())}};
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

// The trainer on its way: a piece of it is in memory, and the next is read when that has left. Its
// callbacks own it: on I/O threads, and on file threads, one at a time.
class TrainerDownload : public std::enable_shared_from_this<TrainerDownload> {
 public:
  TrainerDownload(Pool& files, Trainer trainer, std::uint64_t from, base::BudgetShare share)
      : files_(files), trainer_(std::move(trainer)), share_(std::move(share)), next_(from) {}

  // On a file thread.
  void send_to(net::Stream stream) {
    stream_ = std::move(stream);
    send_next();
  }

 private:
  static constexpr std::size_t kPiece = 512 << 10;  // What one write may queue is limited.

  void send_next() {
    if (!stream_.open()) return;
    auto piece = trainer_->read(next_, kPiece);
    if (!piece) return stream_.cut();
    if (piece->empty()) return stream_.close();
    next_ += piece->size();
    stream_.write(std::make_shared<const std::string>(*std::move(piece)));
    stream_.when_sent([self = shared_from_this()] {
      if (!self->files_.post([self] { self->send_next(); })) self->stream_.cut();
    });
  }

  Pool& files_;
  const Trainer trainer_;
  const base::BudgetShare share_;
  net::Stream stream_;
  std::uint64_t next_;  // Byte, to be sent.
};

bool knows(std::string_view tags, std::string_view etag) {
  return std::ranges::any_of(base::split(tags, ','), [&](std::string_view tag) {
    return base::trim(tag) == "*" || base::trim(tag) == etag;
  });
}

// Where a download goes on, by "bytes=N-": other ranges are not known, and get all of it.
std::uint64_t range_start(std::string_view range, std::uint64_t bytes) {
  constexpr std::string_view unit = "bytes=";
  if (!range.starts_with(unit) || !range.ends_with('-')) return 0;
  range = range.substr(unit.size(), range.size() - unit.size() - 1);
  std::uint64_t from = 0;
  const auto end = range.data() + range.size();
  const auto read = std::from_chars(range.data(), end, from);
  return read.ec == std::errc() && read.ptr == end && from < bytes ? from : 0;
}

net::Response head_of(std::string_view sha256, std::string type, std::string_view name) {
  return {.content_type = std::move(type),
          .headers = {{"ETag", fmt::format("\"{}\"", sha256)},
                      {"Cache-Control", "no-cache"},
                      {"Content-Disposition", fmt::format("attachment; filename=\"{}\"", name)}}};
}

// Goes on with send(share, stream), unless the download is known to the asker or has no place among
// those of its address.
template <class Send>
void send_download(ServerContext& server, ApiCallPtr call, net::Response head, Send send) {
  if (knows(call->http.header("If-None-Match"), net::find_header(head.headers, "ETag"))) {
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
  send(*std::move(share), std::move(stream));
}

void send_bundle(ServerContext& server, ApiCallPtr call, const Bundle& bundle) {
  if (!bundle)
    return call->reply.send(problem(base::Error{
        base::Code::not_found, "this market has no bundle of souk to give",
        "its operator makes one with `make package`, or names one: souk serve --bundle FILE"}));
  send_download(
      server, std::move(call),
      head_of(bundle->sha256(), "application/gzip",
              fmt::format("souk-{}-linux-x86_64.tar.gz", kVersion)),
      [&](base::BudgetShare share, net::Stream stream) {
        std::make_shared<BundleDownload>(bundle, std::move(share))->send_to(std::move(stream));
      });
}

void serve_bundle(ServerContext& server, ApiCallPtr call) {
  with_bundle(server, std::move(call), [&server](ApiCallPtr own, const Bundle& bundle) {
    send_bundle(server, std::move(own), bundle);
  });
}

void send_trainer(ServerContext& server, ApiCallPtr call) {
  const auto found = server.trainer.get();
  if (!found) return call->reply.send(problem(found.error()));
  if (*found == nullptr)
    return call->reply.send(
        problem(base::Error{base::Code::not_found, "this market has no trainer to give",
                            "its operator makes one with `make package`, or names one: souk serve "
                            "--trainer FILE"}));
  const auto& trainer = *found;
  auto head = head_of(trainer->sha256(), "application/octet-stream",
                      fmt::format("souk-torch-{}-linux-x86_64.tar.zst", kVersion));
  const auto from = range_start(call->http.header("Range"), trainer->bytes());
  if (from > 0) {
    head.status = 206;
    head.headers.emplace_back("Content-Range", fmt::format("bytes {}-{}/{}", from,
                                                           trainer->bytes() - 1, trainer->bytes()));
  }
  send_download(server, std::move(call), std::move(head),
                [&](base::BudgetShare share, net::Stream stream) {
                  std::make_shared<TrainerDownload>(server.files, trainer, from, std::move(share))
                      ->send_to(std::move(stream));
                });
}

void serve_trainer(ServerContext& server, ApiCallPtr call) {
  to_pool(server.files, std::move(call),
          [&server](ApiCallPtr own) { send_trainer(server, std::move(own)); });
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
  routes
      .on_io<void, void>("GET", "/v1/agent/trainer", "getAgentTrainer",
                         "The built-in trainer for Linux on x86_64, with its libraries: a .tar.zst",
                         Access::everybody, &serve_trainer)
      .doc.media = "application/octet-stream";
  auto& script = routes.on_io<void, void>(
      "GET", "/lend", "getLendScript",
      "A shell script that installs souk and lends: curl -fsS MARKET/lend | sh -s TOKEN",
      Access::everybody, &serve_script);
  script.doc.media = "text/plain";
}

}  // namespace souk::server
