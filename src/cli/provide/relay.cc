#include "relay/relay.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/hash.h"
#include "cli/commands/commands.h"
#include "cli/shell/config.h"
#include "net/client.h"
#include "wire/api/network.h"
#include "wire/spellings.h"

// `souk relay`.

namespace souk::cli {
namespace {

struct RelayFlags {
  std::string listen = "127.0.0.1:7071";
  std::int64_t most = 256;
  bool gangs = false;
  std::string url;  // As machines reach it.
  std::string region;
};

struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};

Result<HostPort> host_port(std::string_view text, std::optional<std::uint16_t> otherwise) {
  const auto bracket = text.rfind(']');
  const auto colon = text.rfind(':');
  const bool has_port = colon != text.npos && (bracket == text.npos || colon > bracket);
  HostPort out{std::string(text.substr(0, has_port ? colon : text.npos)), otherwise.value_or(0)};
  if (out.host.starts_with('[') && out.host.ends_with(']'))
    out.host = out.host.substr(1, out.host.size() - 2);
  if (has_port) {
    SOUK_ASSIGN(out.port, wire::parse_whole<std::uint16_t>(text.substr(colon + 1)));
  } else if (!otherwise) {
    return usage(fmt::format("'{}' has no port", text), "for example 10.0.0.1:7071");
  }
  if (out.host.empty()) return usage(fmt::format("'{}' has no host", text));
  return out;
}

// Tells the market every few seconds that machines may meet here.
class Announcing {
 public:
  Announcing(Context& c, const Target& target, wire::RelayHere relay)
      : thread_([this, &c, target, relay = std::move(relay)] { run(c, target, relay); }) {}
  ~Announcing() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  void run(Context& c, const Target& target, const wire::RelayHere& relay) {
    constexpr auto every = std::chrono::seconds(20);
    std::string trouble;
    std::unique_lock lock(mutex_);
    while (!over_) {
      lock.unlock();
      const auto said = [&]() -> Result<> {
        SOUK_ASSIGN(auto api, Api::connect(target, base::seconds(10)));
        SOUK_TRY(api.put("/v1/relays", wire::to_json(relay)));
        return {};
      }();
      const auto now = said ? std::string() : said.error().message;
      if (now != trouble) c.note(said ? "the market knows this relay" : now);
      trouble = now;
      lock.lock();
      wake_.wait_for(lock, every, [this] { return over_; });
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

Result<> relay(Context& c, const RelayFlags& o) {
  SOUK_ASSIGN(const auto* target, c.target());
  const auto& url = target->server;
  const auto begin = url.find("://") + 3;
  SOUK_ASSIGN(const auto to,
              host_port(std::string_view(url).substr(begin, url.find('/', begin) - begin),
                        target->encrypted() ? 443 : 80));
  SOUK_ASSIGN(const auto at, host_port(o.listen, std::nullopt));
  if (o.most < 1 || o.most > 10'000)
    return usage(fmt::format("--connections: {}", o.most), "1 to 10000");
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const base::SystemClock clock;
  const auto key = base::blake2b(net::fresh_key() + net::fresh_key());
  SOUK_ASSIGN(
      const auto made,
      relay::Relay::open({.listen_host = at.host,
                          .listen_port = at.port,
                          .host = to.host,
                          .port = to.port,
                          .most_connections = static_cast<std::size_t>(o.most),
                          .ticket_key = o.gangs ? std::optional<base::Digest>(key) : std::nullopt,
                          .clock = &clock}));
  c.print(fmt::format("souk: relay listening on {}:{}, leads to {}:{} and nowhere else\n", at.host,
                      made->port(), to.host, to.port));
  std::unique_ptr<Announcing> announcing;
  if (o.gangs) {
    const bool anywhere = at.host == "0.0.0.0" || at.host == "::";
    if (o.url.empty() && anywhere)
      return usage("machines cannot be told to go to " + at.host,
                   "say how they reach this relay: --url http://10.0.0.1:7071");
    const auto meeting = o.url.empty() ? fmt::format("http://{}:{}", at.host, made->port()) : o.url;
    announcing = std::make_unique<Announcing>(
        c, *target, wire::RelayHere{.url = meeting, .key = to_string(key), .region = o.region});
  }
  std::thread thread([&] { made->run(); });
  int signal = 0;
  sigwait(&signals, &signal);
  announcing.reset();
  made->stop();
  thread.join();
  return {};
}

}  // namespace

Command relay_command() {
  auto o = std::make_shared<RelayFlags>();
  Command out{.name = "relay",
              .summary = "lead machines to the market, and machines of a gang to each other",
              .examples = {"relay --server https://market.example --listen 10.0.0.1:7071",
                           "provide slurm --via http://10.0.0.1:7071 --partition idle --max 8",
                           "relay --gangs --listen 0.0.0.0:7071 --url http://10.0.0.1:7071"}};
  out.options = {
      flag("--listen ADDRESS", "where the machines reach it; default 127.0.0.1:7071", o->listen),
      flag("--connections N", "at most so many at a time; default 256", o->most),
      flag("--gangs", "let machines of one gang meet here; for operators", o->gangs),
      flag("--url URL", "how machines reach it, with --gangs; default the address it listens at",
           o->url),
      flag("--region NAME", "gangs whose machines are all in this region meet here first",
           o->region)};
  out.details =
      "For the login node of a cluster whose nodes cannot reach the internet. It connects to the "
      "one "
      "server only, opens nothing that comes from outside, and reads nothing of what passes. "
      "docs/providers.md says how agents trust an https server through it. With --gangs it also "
      "joins connections of machines that work on one gang and cannot reach each other, if the "
      "market gave them tickets for it; what passes is encrypted between those machines.";
  out.run = [o](Context& c) { return relay(c, *o); };
  return out;
}

}  // namespace souk::cli
