#include "server/core/server.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "hub/remote.h"
#include "hub/stores/stores.h"
#include "journal/open.h"
#include "net/server.h"
#include "net/tls.h"
#include "server/advice/replan.h"
#include "server/advice/speeds.h"
#include "server/core/core.h"
#include "server/core/event_effects.h"
#include "server/core/feed.h"
#include "server/core/pool.h"
#include "server/core/program_rounds.h"
#include "server/core/recovery.h"
#include "server/core/server_tls.h"
#include "server/core/snapshots.h"
#include "server/http/console.h"
#include "server/http/front_door.h"
#include "server/http/responses.h"
#include "server/http/secrets.h"

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;

constexpr int kFileThreads = 2;
constexpr int kFileThreadsWithHubs = 8;  // Most of which wait for a hub.

// Nothing without hubs. One that is down may come up later: it is only reported.
Result<std::unique_ptr<hub::Remote>> hubs_of(const Options& o, const base::Clock& clock) {
  if (o.hubs.empty() && o.hub_secret_file.empty()) return nullptr;
  if (o.hubs.empty())
    return fail(Code::invalid, "a secret for hubs, and no hubs", "give each with --hub URL");
  if (o.parameters == "memory")
    return fail(Code::invalid, "hubs cannot see parameters in this server's memory",
                "give --parameters redis://... or postgresql://..., the same as the hubs' --store");
  if (o.hub_secret_file.empty())
    return fail(Code::invalid, "hubs let nobody in without their secret",
                "give --hub-secret-file, the same as the hubs' --secret-file");
  SOUK_ASSIGN(const auto secret, base::read_file(o.hub_secret_file, "check its path and rights"));
  std::vector<hub::HubAddress> addresses;
  for (const auto& text : o.hubs) {
    SOUK_ASSIGN(auto address, hub::parse_hub(text));
    addresses.push_back(std::move(address));
  }
  SOUK_ASSIGN(auto hubs, hub::Remote::make(addresses, std::string(base::trim(secret)), clock));
  for (const auto& error : hubs->check()) spdlog::warn("{}", error.message);
  return hubs;
}

}  // namespace

// The pieces of a server, in the order in which they are started.
struct Server::Impl {
  Options options;
  base::SystemClock clock;
  std::string scratch;  // Of a market in memory.
  std::string fingerprint, bootstrap;
  std::unique_ptr<journal::Journal> journal;
  std::unique_ptr<Services> services;
  std::unique_ptr<Feed> feed;
  std::unique_ptr<Pool> hashers, files;
  std::unique_ptr<Speeds> speeds;
  std::unique_ptr<Replan> replan;
  std::unique_ptr<Snapshots> snapshots;
  std::unique_ptr<Core> core;
  std::unique_ptr<EventEffects> effects;
  std::unique_ptr<ProgramRounds> programs;
  std::unique_ptr<ServerContext> context;
  std::unique_ptr<FrontDoor> door;
  std::unique_ptr<net::Server> http;
  std::atomic<net::Server*> listening = nullptr;  // `http`, once it is there.
  bool stopped = false;

  void on_tick(Core::Turn& turn) {
    replan->on_tick(turn.state(), turn.now(), [&](market::Command c) -> Result<> {
      SOUK_TRY(turn.execute(market::kSystem, std::move(c)));
      return {};
    });
    feed->expire(clock.now(), [&](base::TokenId id) {
      const auto* token = turn.state().tokens.find(id);
      return token != nullptr && token->expires > turn.now();
    });
    services->payroll.on_tick(turn);
    snapshots->on_tick(turn);
  }

  // What a round may know of the world beside the state.
  void describe_round(const market::State& s, base::Time now, market::Clear& round) {
    round.near = services->holdings.near(s, round.slot_class, services->works);
    speeds->tell(s, now, round);
  }

  void start_core(Recovered recovered) {
    auto& state = recovered.state;
    if (state.accounts.size() == 0) bootstrap = new_token();
    feed = std::make_unique<Feed>(state.events, state.now);
    hashers = std::make_unique<Pool>();
    files = std::make_unique<Pool>(options.hubs.empty() ? kFileThreads : kFileThreadsWithHubs);
    const auto progress = [this](base::JobId job) {
      const auto run = services->hub.find(job);
      return run == nullptr ? 0 : run->progress();
    };
    speeds = std::make_unique<Speeds>(progress, services->works);
    replan = std::make_unique<Replan>(progress, services->works);
    snapshots = std::make_unique<Snapshots>(
        Snapshots::Options{.path = in_memory(options) ? "" : snapshot_path(options.data),
                           .every = options.snapshot_every},
        clock.now(), recovered.snapshot_events);
    services->forecast_errors.recall(state);
    core = std::make_unique<Core>(std::move(state), *journal, clock,
                                  CoreOptions{.round = options.round});
    effects = std::make_unique<EventEffects>(*core, *feed, *services, *files);
    effects->recall(core->state());
    services->payroll.recall(core->state());
    programs = std::make_unique<ProgramRounds>(
        options.mechanisms, *core,
        [this](const market::State& s, base::Time now, market::Clear& round) {
          describe_round(s, now, round);
        });
    connect_core();
    core->start();
  }

  void connect_core() {
    core->before_apply([this](Core::Turn& turn, const market::Events& events) {
      return services->payroll.before_apply(turn, events);
    });
    core->on_applied(
        [this](const market::State& s, const Committed& c) { effects->on_applied(s, c); });
    core->observe([this](std::span<const Committed> batch) { feed->publish(batch.back().number); });
    core->every_tick([this](Core::Turn& turn) { on_tick(turn); });
    core->before_round([this](const market::State& s, base::Time now, market::Clear& round) {
      describe_round(s, now, round);
      return !programs->take_over(s, now, round);
    });
  }

  void open_door(bool tls) {
    context = std::make_unique<ServerContext>(
        *core, *feed, *services, *hashers, *files, clock,
        HttpOptions{.bootstrap = bootstrap,
                    .metrics_public = options.metrics_public,
                    .tls = tls,
                    .requests_per_second = options.requests_per_second,
                    .prepare = {.built_in_data = options.built_in_data,
                                .python_package = options.python_package,
                                .keep_bytes = options.blob_bytes / 4},
                    .net_counters = [this] {
                      const auto* s = listening.load();
                      return s == nullptr ? net::ServerCounters() : s->counters();
                    }});
    door = std::make_unique<FrontDoor>(*context);
  }

  Result<> start_http() {
    SOUK_ASSIGN(const auto tls, tls_for(options));
    if (tls) {
      SOUK_ASSIGN(fingerprint, net::fingerprint(tls->certificate_pem));
    }
    open_door(tls.has_value());
    net::ServerOptions net_options{.address = options.address,
                                   .port = options.port,
                                   .threads = options.threads,
                                   .tls = tls,
                                   .max_body_bytes = blob::kMostEncodedBytes};
    net_options.error_body = [](int status, std::string_view message) {
      return problem(status, message);
    };
    SOUK_ASSIGN(http, net::Server::start(std::move(net_options),
                                         [this](net::Request request, net::Reply reply) {
                                           door->handle(std::move(request), std::move(reply));
                                         }));
    listening = http.get();
    return {};
  }

  [[nodiscard]] std::string url_at(const std::string& address) const {
    const bool v6 = address.find(':') != std::string::npos;
    return fmt::format("{}://{}{}{}:{}", http->tls() ? "https" : "http", v6 ? "[" : "", address,
                       v6 ? "]" : "", http->port());
  }

  void stop() {
    if (stopped) return;
    stopped = true;
    if (services) services->lab.stop();
    if (feed) feed->close();
    if (http) http->stop(base::seconds(5));
    if (core) core->stop();  // Its tasks use the others.
    programs.reset();
    hashers.reset();
    files.reset();
    effects.reset();
    if (core) snapshots->save_last(core->state());
    http.reset();
    door.reset();
    context.reset();
    core.reset();
    journal.reset();
    services.reset();
    std::error_code ignored;
    if (!scratch.empty()) fs::remove_all(scratch, ignored);
  }

  // Files live in the data folder; a market in memory has a folder that goes with it.
  Result<> open_files() {
    auto folder = options.data;
    if (in_memory(options)) {
      folder = (fs::temp_directory_path() / "souk-XXXXXX").string();
      if (::mkdtemp(folder.data()) == nullptr)
        return fail(Code::unavailable, fmt::format("cannot make a folder like {}", folder),
                    "set TMPDIR to a folder that can be written to");
      scratch = folder;
    }
    SOUK_ASSIGN(auto blobs, blob::Store::open(folder + "/blobs", {.max_bytes = options.blob_bytes,
                                                                  .sync = !in_memory(options)}));
    SOUK_TRY(hub::make_store(options.parameters, "j0"));  // A URL that cannot be right is an error.
    SOUK_ASSIGN(auto hubs, hubs_of(options, clock));
    services = std::make_unique<Services>(
        std::move(blobs), folder, clock, options.challenge_every, base::short_hash(new_token()),
        [url = options.parameters](base::JobId job) {
          return hub::make_store(url, to_string(job));
        },
        std::move(hubs),
        LabOptions{.limit = options.lab_limit,
                   .journal = in_memory(options) ? "" : journal_url(options)});
    return {};
  }
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop(); }
void Server::stop() { impl_->stop(); }
std::uint16_t Server::port() const { return impl_->http->port(); }
const std::string& Server::fingerprint() const { return impl_->fingerprint; }
const std::string& Server::bootstrap() const { return impl_->bootstrap; }

std::string Server::url() const { return impl_->url_at(impl_->options.address); }

std::string Server::console_url() const {
  if (built_in_console().empty()) return "";
  const auto& address = impl_->options.address;
  const bool all = address == "0.0.0.0" || address == "::";  // Those are no addresses to go to.
  return impl_->url_at(all ? "localhost" : address) + "/";
}

Result<std::unique_ptr<Server>> Server::start(const Options& options) {
  init_secrets();
  SOUK_TRY(journal::survives(journal_url(options)));  // A URL that cannot be right is an error.
  if (!in_memory(options)) {
    std::error_code error;
    fs::create_directories(options.data, error);
    if (options.data.empty() || error)
      return fail(Code::invalid, fmt::format("cannot use '{}' as the data folder", options.data),
                  "give a folder that can be written to with --data", "data");
    fs::permissions(options.data, fs::perms::owner_all, error);
  }
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  SOUK_ASSIGN(auto recovered, recover(options));
  impl->journal = std::move(recovered.journal);
  if (const auto opened = impl->open_files(); !opened) {
    impl->stop();
    return std::unexpected(opened.error());
  }
  impl->start_core(std::move(recovered));
  if (const auto listening = impl->start_http(); !listening) {
    impl->stop();
    return std::unexpected(listening.error());
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Result<> serve(const Options& options) {
  // To stderr: stdout is for the line that says where the server is.
  auto log = spdlog::stderr_color_mt("souk");
  log->set_pattern("%Y-%m-%dT%H:%M:%S%z %^%l%$ %v");
  log->set_level(spdlog::level::from_str(options.log_level));
  spdlog::set_default_logger(log);

  // Blocked before any thread starts, so that every thread inherits it and sigwait gets them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  SOUK_ASSIGN(const auto server, Server::start(options));
  fmt::print("souk: listening on {}\n", server->url());
  if (const auto console = server->console_url(); !console.empty())
    fmt::print("souk: console at {}\n", console);
  if (!server->fingerprint().empty())
    fmt::print("souk: certificate fingerprint (clients: --pin) {}\n", server->fingerprint());
  if (!server->bootstrap().empty())
    fmt::print(
        "souk: no account yet: the first one created here is the operator; elsewhere it "
        "needs the bootstrap token {}\n",
        server->bootstrap());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  spdlog::info("stopping");
  server->stop();
  return {};
}

}  // namespace souk::server
