#include "server/core/server.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>

#include "base/disk.h"
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
#include "server/core/market_clock.h"
#include "server/core/pool.h"
#include "server/core/program_rounds.h"
#include "server/core/server_tls.h"
#include "server/files/open_blobs.h"
#include "server/http/console.h"
#include "server/http/front_door.h"
#include "server/http/responses.h"
#include "server/http/secrets.h"
#include "server/record/journal_space.h"
#include "server/record/open_telemetry.h"
#include "server/record/recovery.h"
#include "server/record/snapshots.h"
#include "server/sweep/sweeps.h"
#include "server/tunnels/line_desk.h"
#include "server/tunnels/scaler.h"
#include "server/tunnels/service_desk.h"

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;

// Most of which wait: for a disk, where those who wait together share a flush, or for a hub.
constexpr int kFileThreads = 8;

// Nothing without hubs. One that is down may come up later: it is only reported.
Result<std::unique_ptr<hub::Remote>> hubs_of(const Options& o, const base::Clock& clock) {
  if (o.hubs.empty() && o.hub_secret_file.empty()) return nullptr;
  if (o.hubs.empty())
    return fail(Code::invalid, "there is a secret for hubs, but no hub",
                "give each with --hub URL");
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

// How many descriptors this process may have: as many as the system ever gives it.
std::uint64_t raise_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1'024;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

constexpr std::uint64_t kOtherDescriptors = 256;  // Journal, files, logs, hubs, programs.
constexpr std::uint64_t kLeastConnections = 16;
constexpr std::size_t kMostReserved = 64;

// Connections leave enough descriptors for all else, and some of them to people on this computer:
// so the operator gets in, and the journal is written, whoever fills the rest.
void limit_connections(const base::Budget& budget, net::ServerOptions& options) {
  const auto [each, all] = budget.limit();
  const auto descriptors = raise_descriptors();
  const auto taken = kOtherDescriptors + net::kConnectionsBesideLimit;
  const auto most = std::max(descriptors, taken + kLeastConnections) - taken;
  options.max_connections = std::min(all, most);
  options.max_connections_per_address = most < all ? std::min(each, most / 2) : each;
  options.reserved_connections = std::min<std::size_t>(kMostReserved, options.max_connections / 8);
  if (most < all / 2)
    spdlog::warn(
        "{} connections at most: the system gives this process {} descriptors (ulimit -n), and the "
        "budget 'connections' allows {}",
        most, descriptors, all);
}

Result<net::AddressRanges> ranges_of(const std::vector<std::string>& texts) {
  net::AddressRanges out;
  for (const auto& text : texts) {
    SOUK_ASSIGN(auto range, base::located(net::AddressRange::parse(text), "--trusted-proxy"));
    out.push_back(range);
  }
  return out;
}

// What can be wrong with how long the journal is to be kept.
Result<> check_retention(const Options& o) {
  if (o.keep_journal.us > 0 && in_memory(o))
    return fail(Code::invalid, "a journal in memory is kept for as long as the server runs",
                "leave --keep-journal out, or use a journal in a file");
  if (o.archive.empty()) return {};
  if (o.keep_journal.us == 0)
    return fail(Code::invalid, "there is an archive, but nothing leaves the journal",
                "say what stays in it: --keep-journal 90d");
  std::error_code error;
  fs::create_directories(o.archive, error);
  if (error)
    return fail(Code::invalid,
                fmt::format("cannot make the archive's folder {}: {}", o.archive, error.message()),
                "give a folder that can be written to with --archive");
  return {};
}

std::string trainer_of(const Options& o) {
  if (o.trainer == "none") return {};
  return o.trainer.empty() ? o.usual_trainer : o.trainer;
}

// What can be wrong with what is given to lenders.
Result<> check_lending(const Options& o) {
  if (!o.public_url.empty()) SOUK_TRY(check_public_url(o.public_url));
  if (!o.bundle.empty()) SOUK_TRY(AgentBundle::open(o.bundle));
  if (!o.trainer.empty() && o.trainer != "none") SOUK_TRY(TrainerArchive::open(o.trainer));
  return {};
}

}  // namespace

// The pieces of a server, in the order in which they are started.
struct Server::Impl {
  Options options;
  base::SystemClock clock;
  std::unique_ptr<MarketClock> market_clock;
  std::string scratch;  // Of a market in memory.
  std::string fingerprint, bootstrap;
  std::unique_ptr<journal::Journal> journal;
  std::unique_ptr<JournalSpace> journal_space;
  std::unique_ptr<Services> services;
  std::unique_ptr<Feed> feed;
  std::unique_ptr<Pool> hashers, files;
  std::unique_ptr<Speeds> speeds;
  std::unique_ptr<Replan> replan;
  std::unique_ptr<Sweeps> sweeps;
  std::unique_ptr<Scaler> scaler;
  std::unique_ptr<Core> core;
  std::unique_ptr<Snapshots> snapshots;
  std::unique_ptr<EventEffects> effects;
  std::unique_ptr<ProgramRounds> programs;
  std::unique_ptr<ServerContext> context;
  std::unique_ptr<FrontDoor> door;
  std::unique_ptr<net::Server> http;
  std::atomic<net::Server*> listening = nullptr;  // `http`, once it is there.
  bool stopped = false;
  base::Time recount_at;

  void on_tick(Core::Turn& turn) {
    const auto execute = [&](market::Command c) -> Result<> {
      SOUK_TRY(turn.execute(market::kSystem, std::move(c)));
      return {};
    };
    replan->on_tick(turn.state(), turn.now(), execute);
    services->probes.on_tick(turn.state(), turn.now(), execute);
    sweeps->on_tick(turn.state(), turn.now(),
                    [&](const market::Actor& who, market::Command c) -> Result<> {
                      SOUK_TRY(turn.execute(who, std::move(c)));
                      return {};
                    });
    feed->expire(clock.now(), [&](base::TokenId id) {
      const auto* token = turn.state().tokens.find(id);
      return token != nullptr && token->expires > turn.now();
    });
    services->payroll.on_tick(turn);
    scaler->on_tick(turn.state(), turn.now(), execute);
    if (turn.now() >= recount_at) {
      services->budgets.recount(turn.state());
      recount_at = turn.now() + base::minutes(1);
    }
  }

  // What a trial reported is read where one may block, and comes back as a task of the core.
  bool ask_trial(TrialQuestion question) {
    return files->post([this, question = std::move(question)]() mutable {
      auto answer = read_trial(*services, std::move(question));
      core->post([this, answer = std::move(answer)](Core::Turn&) mutable {
        sweeps->heard(std::move(answer));
      });
    });
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
    files = std::make_unique<Pool>(kFileThreads);
    const auto progress = [this](base::JobId job) {
      const auto run = services->hub.find(job);
      return run == nullptr ? 0 : run->progress();
    };
    speeds = std::make_unique<Speeds>(progress, services->works);
    replan = std::make_unique<Replan>(progress, services->works);
    services->forecast_errors.recall(state);
    market_clock = std::make_unique<MarketClock>(clock, state.now);
    CoreOptions core_options{
        .round = options.round, .signup_bonus = options.signup_bonus, .steady = &steady_time};
    core_options.may_write = [this] { return journal_space->check(); };
    core = std::make_unique<Core>(std::move(state), *journal, *market_clock, core_options);
    snapshots = std::make_unique<Snapshots>(
        Snapshots::Options{.path = in_memory(options) ? "" : snapshot_path(options.data),
                           .journal = journal_url(options),
                           .every = options.snapshot_every,
                           .keep = options.keep_journal,
                           .archive = options.archive},
        *core, clock, recovered.snapshot_events, journal->first());
    services->lines = std::make_shared<LineDesk>();
    services->desk = std::make_shared<ServiceDesk>(services->lines);
    scaler = std::make_unique<Scaler>(*services->desk, services->works);
    effects = std::make_unique<EventEffects>(*core, *feed, *services, *files);
    effects->recall(core->state());
    services->payroll.recall(core->state());
    sweeps = std::make_unique<Sweeps>(
        services->works, [this](TrialQuestion q) { return ask_trial(std::move(q)); },
        [this](base::AccountId owner) {
          return services->budgets.live_jobs.would_take(party(owner), 1);
        });
    sweeps->recall(core->state());
    programs = std::make_unique<ProgramRounds>(
        options.mechanisms, *core,
        [this](const market::State& s, base::Time now, market::Clear& round) {
          describe_round(s, now, round);
        });
    connect_core();
    core->start();
    snapshots->start();
  }

  void connect_core() {
    core->before_apply([this](Core::Turn& turn, const market::Events& events) {
      return services->payroll.before_apply(turn, events);
    });
    core->on_applied([this](const market::State& s, const Committed& c) {
      effects->on_applied(s, c);
      sweeps->on_applied(s, c.event);
    });
    core->observe([this](std::span<const Committed> batch) { feed->publish(batch.back().number); });
    core->every_tick([this](Core::Turn& turn) { on_tick(turn); });
    core->before_round([this](const market::State& s, base::Time now, market::Clear& round) {
      describe_round(s, now, round);
      return !programs->take_over(s, now, round);
    });
  }

  void open_door(bool tls, const net::AddressRanges& proxies) {
    context = std::make_unique<ServerContext>(
        *core, *feed, *services, *hashers, *files, clock,
        HttpOptions{.bootstrap = bootstrap,
                    .metrics_public = options.metrics_public,
                    .tls = tls,
                    .requests_per_second = options.requests_per_second,
                    .trusted_proxies = proxies,
                    .prepare = {.built_in_data = options.built_in_data,
                                .python_package = options.python_package,
                                .keep_bytes = services->blobs->max_bytes() / 4},
                    .net_counters =
                        [this] {
                          const auto* s = listening.load();
                          return s == nullptr ? net::ServerCounters() : s->counters();
                        },
                    .journal_figures = [this] { return snapshots->figures(); },
                    .connections_from = [this](std::string_view address) -> std::size_t {
                      const auto* s = listening.load();
                      return s == nullptr ? 0 : s->open_from(address);
                    },
                    .bundle = options.bundle.empty() ? options.usual_bundle : options.bundle,
                    .trainer = trainer_of(options),
                    .public_url = options.public_url});
    door = std::make_unique<FrontDoor>(*context);
  }

  Result<> start_http() {
    SOUK_ASSIGN(const auto tls, tls_for(options));
    if (tls) {
      SOUK_ASSIGN(fingerprint, net::fingerprint(tls->certificate_pem));
    }
    SOUK_ASSIGN(const auto proxies, ranges_of(options.trusted_proxies));
    open_door(tls.has_value(), proxies);
    net::ServerOptions net_options{.address = options.address,
                                   .port = options.port,
                                   .threads = options.threads,
                                   .tls = tls,
                                   .max_body_bytes = blob::kMostEncodedBytes,
                                   .trusted_proxies = proxies};
    limit_connections(services->budgets.connections, net_options);
    net_options.screen = [this](const net::Request& head, std::optional<std::uint64_t> bytes,
                                net::BodyDecision decision) {
      door->screen(head, bytes, std::move(decision));
    };
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
    if (services) {  // Their connections count as the HTTP server's.
      services->tunnels.close();
      if (services->desk) services->desk->close();
      if (services->lines) services->lines->close();
    }
    if (http) http->stop(base::seconds(5));
    if (snapshots) snapshots->stop();
    if (core) core->stop();  // Its tasks use the others.
    programs.reset();
    hashers.reset();
    files.reset();
    effects.reset();
    if (snapshots) snapshots->save_last(core->state());
    http.reset();
    door.reset();
    context.reset();
    snapshots.reset();
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
    const auto disk = base::disk_space(folder);
    const auto reserve = options.reserve_bytes.value_or(disk ? base::usual_reserve(*disk) : 0);
    SOUK_ASSIGN(auto blobs, open_blobs(folder,
                                       {.bucket = options.blobs,
                                        .max_bytes = options.blob_bytes,
                                        .cache_bytes = options.blob_cache_bytes,
                                        .key = options.aws_key,
                                        .reserve_bytes = reserve,
                                        .sync = !in_memory(options)},
                                       clock));
    // A quarter of it: what is being written while somebody looks fits into that many times over.
    journal_space = std::make_unique<JournalSpace>(folder, in_memory(options) ? 0 : reserve / 4);
    SOUK_TRY(hub::make_store(options.parameters, "j0"));  // A URL that cannot be right is an error.
    SOUK_ASSIGN(auto hubs, hubs_of(options, clock));
    SOUK_ASSIGN(auto records, open_telemetry(folder));
    services = std::make_unique<Services>(
        std::move(blobs), folder, clock,
        ChallengeRule{options.challenge_every, options.challenge_slack},
        base::short_hash(new_token()),
        [url = options.parameters](base::JobId job) {
          return hub::make_store(url, to_string(job));
        },
        std::move(hubs),
        LabOptions{.limit = options.lab_limit,
                   .journal = in_memory(options) ? "" : journal_url(options),
                   .folder = in_memory(options) ? "" : folder + "/lab"},
        std::move(records), UsageLog::Options{.keep = options.keep_telemetry});
    SOUK_TRY(services->budgets.set(options.budgets));
    limit_shares();
    services->logs.set_reserve(reserve);
    if (!in_memory(options)) services->claims.recall();
    return {};
  }

  // Nobody fills the store alone, however small it is, unless the operator says so.
  void limit_shares() {
    const auto named = [](const std::string& text) { return text.starts_with("blob-bytes="); };
    if (std::ranges::any_of(options.budgets, named)) return;
    auto& budget = services->budgets.blob_bytes;
    const auto limit = budget.limit();
    budget.set_limit({std::min(limit.each, services->blobs->max_bytes() / 2), limit.all});
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
  SOUK_TRY(journal::reach_of(journal_url(options)));  // A URL that cannot be right is an error.
  if (!in_memory(options)) {
    std::error_code error;
    fs::create_directories(options.data, error);
    if (options.data.empty() || error)
      return fail(Code::invalid, fmt::format("cannot use '{}' as the data folder", options.data),
                  "give a folder that can be written to with --data", "data");
    fs::permissions(options.data, fs::perms::owner_all, error);
  }
  SOUK_TRY(check_retention(options));
  SOUK_TRY(check_lending(options));
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
