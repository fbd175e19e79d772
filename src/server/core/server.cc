#include "server/core/server.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "codec/snapshot.h"
#include "hub/remote.h"
#include "hub/stores/stores.h"
#include "journal/memory.h"
#include "journal/snapshot.h"
#include "journal/sqlite.h"
#include "net/server.h"
#include "net/tls.h"
#include "server/advice/profiles.h"
#include "server/advice/replan.h"
#include "server/advice/speeds.h"
#include "server/core/core.h"
#include "server/core/feed.h"
#include "server/core/pool.h"
#include "server/core/programs.h"
#include "server/http/app.h"
#include "server/http/console.h"
#include "server/http/problem.h"
#include "server/http/secrets.h"

namespace souk::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::fail;

constexpr int kFileThreads = 2;
constexpr int kFileThreadsWithHubs = 8;  // Most of which wait for a hub.
constexpr std::size_t kMostPinning = 65'536;

std::string journal_path(const std::string& data) { return data + "/journal.db"; }
std::string snapshot_path(const std::string& data) { return data + "/snapshot"; }

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

// Made once and kept in the data folder, so that the pins of clients stay good.
Result<net::ServerTls> own_certificate(const Options& o) {
  const auto certificate = o.data + "/tls-certificate.pem", key = o.data + "/tls-key.pem";
  if (o.memory || !fs::exists(certificate) || !fs::exists(key)) {
    const std::vector<std::string> names{"localhost", "127.0.0.1", o.address};
    SOUK_ASSIGN(auto made, net::self_signed(names, 3650));
    if (o.memory) return net::ServerTls{std::move(made.certificate_pem), std::move(made.key_pem)};
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
  SOUK_ASSIGN(const auto secret, base::read_file(o.hub_secret_file, kRights));
  std::vector<hub::HubAddress> addresses;
  for (const auto& text : o.hubs) {
    SOUK_ASSIGN(auto address, hub::parse_hub(text));
    addresses.push_back(std::move(address));
  }
  SOUK_ASSIGN(auto hubs, hub::Remote::make(addresses, std::string(base::trim(secret)), clock));
  for (const auto& error : hubs->check()) spdlog::warn("{}", error.message);
  return hubs;
}

struct Recovered {
  std::unique_ptr<journal::Journal> journal;
  market::State state;
  std::uint64_t snapshot_events = 0;  // That the snapshot on disk holds.
};

Result<market::State> start_from_snapshot(const Options& o, std::uint64_t next) {
  auto loaded = journal::load_snapshot(snapshot_path(o.data));
  if (!loaded.snapshot) {
    if (fs::exists(snapshot_path(o.data))) spdlog::warn("{}", loaded.note);
    return market::State{};
  }
  if (loaded.snapshot->seq >= next)
    return fail(Code::damaged,
                fmt::format("the snapshot knows event {}, the journal only {}",
                            loaded.snapshot->seq, next - 1),
                "the journal was replaced by an older copy: bring the right one back, or delete "
                "the snapshot to go on from this one");
  auto state = codec::decode_state(loaded.snapshot->bytes);
  if (!state) {
    spdlog::warn("the snapshot is of another version: replaying the whole journal");
    return market::State{};
  }
  return *std::move(state);
}

Result<Recovered> recover(const Options& o) {
  if (o.memory) return Recovered{std::make_unique<journal::MemoryJournal>(), {}, 0};
  SOUK_ASSIGN(auto opened, journal::SqliteJournal::open(journal_path(o.data)));
  if (!opened.note.empty()) spdlog::warn("journal: {}", opened.note);
  Recovered out{std::move(opened.journal), {}, 0};
  SOUK_ASSIGN(out.state, start_from_snapshot(o, out.journal->next()));
  out.snapshot_events = out.state.events;
  const auto from = out.state.events + 1;
  SOUK_TRY(out.journal->replay(from, [&](const journal::Batch& batch) -> Result<> {
    auto number = batch.first;
    return codec::read_events(batch.bytes, batch.first,
                              [&](base::Time at, const market::Event& event) {
                                if (number++ > out.state.events) apply(out.state, at, event);
                              });
  }));
  spdlog::info("journal: {} events, {} replayed", out.state.events, out.state.events + 1 - from);
  return out;
}

}  // namespace

struct Server::Impl {
  Options options;
  base::SystemClock clock;
  std::atomic<net::Server*> listening = nullptr;  // `http`, once it is there.
  std::unique_ptr<journal::Journal> journal;
  std::unique_ptr<Programs> programs;
  std::unique_ptr<Speeds> speeds;
  std::unique_ptr<Replan> replan;
  std::unique_ptr<Core> core;
  std::unique_ptr<Feed> feed;
  std::unique_ptr<Services> services;
  // The writer saves snapshots; the pinner keeps files of live jobs, in the order of events.
  std::unique_ptr<Pool> hashers, files, writer, pinner;
  std::unique_ptr<App> app;
  std::unique_ptr<net::Server> http;
  std::string fingerprint, bootstrap;
  std::string scratch;  // Of a market in memory.
  base::Time next_snapshot;
  std::uint64_t snapshot_events = 0;
  bool stopped = false;

  void on_applied(const market::State& s, const Committed& c) const {
    if (auto described = Feed::describe(s, c))
      feed->stage(c.number, std::move(described->first), std::move(described->second));
    const auto wake = [&](base::LeaseId lease) {
      if (const auto* l = s.leases.find(lease)) feed->stage_work(c.number, l->machine);
    };
    if (const auto* e = std::get_if<market::LeaseGranted>(&c.event)) wake(e->lease.id);
    if (const auto* e = std::get_if<market::LeaseRenewed>(&c.event)) wake(e->lease);
    if (const auto* e = std::get_if<market::LeaseDraining>(&c.event)) wake(e->lease);
    if (const auto* e = std::get_if<market::LeaseClosed>(&c.event)) wake(e->lease);
    const auto hold = [&](const market::Job& job) {
      if (auto blobs = blobs_of(job); !blobs.empty())
        pinner->post(
            [this, id = job.id, blobs = std::move(blobs)] { services->pins.hold(id, blobs); });
    };
    if (const auto* e = std::get_if<market::JobSubmitted>(&c.event)) hold(e->job);
    if (const auto* e = std::get_if<market::LeaseCheckpointed>(&c.event))
      pinner->post([this, job = s.leases.at(e->lease).job, part = s.leases.at(e->lease).part,
                    name = e->checkpoint] { services->pins.hold(job, part, name); });
    if (const auto* e = std::get_if<market::JobEnded>(&c.event)) {
      pinner->post([this, job = e->job] { services->pins.release(job); });
      if (market::paid_by_work(s.jobs.at(e->job)))
        files->post([this, job = e->job, reason = e->reason] { end_training(job, reason); });
    }
    if (const auto* e = std::get_if<market::LeaseClosed>(&c.event))
      if (const auto* l = s.leases.find(e->lease); market::paid_by_work(s.jobs.at(l->job)))
        if (const auto run = services->hub.find(l->job)) run->gone(l->id);
    // When the pool is full its logs stay until the folder is cleaned by hand: harmless.
    if (const auto* e = std::get_if<market::JobForgotten>(&c.event))
      files->post([this, job = e->job] { services->logs.forget(job); });
  }

  // The most bytes that a worker of it used, as far as agents told.
  [[nodiscard]] std::int64_t memory_of(const wire::Training& training) const {
    std::int64_t out = 0;
    for (const auto& w : training.by_worker)
      if (const auto id = base::IdTraits<base::LeaseId>::parse(w.worker))
        for (const auto& sample : services->telemetry.series(*id))
          out = std::max(out, sample.usage.memory_peak_bytes);
    return out;
  }

  // What a training that the market ended has come to is its result all the same.
  void end_training(base::JobId job, const std::string& reason) const {
    if (const auto run = services->hub.find(job)) {
      if (const auto ended = run->end(reason))
        core->post([this, job, result = ended->result, training = run->view()](Core::Turn& turn) {
          (void)turn.execute(market::kSystem, market::ReportResult{job, result, false, {}});
          const auto* known = turn.state().jobs.find(job);
          const auto lesson =
              known ? learnt(turn.state(), *known, training, memory_of(training)) : std::nullopt;
          if (!lesson || !turn.execute(market::kSystem, lesson->profile)) return;
          if (lesson->error) services->forecast_errors.add(*lesson->error);
        });
    }
    services->hub.forget(job);
  }

  void save_snapshot(std::uint64_t seq, const base::Bytes& bytes) const {
    const auto saved = journal::save_snapshot(snapshot_path(options.data), seq, bytes);
    if (!saved) spdlog::warn("snapshot: {}", saved.error().message);
  }

  void on_tick(Core::Turn& turn) {
    replan->on_tick(turn.state(), turn.now(), [&](market::Command c) -> Result<> {
      SOUK_TRY(turn.execute(market::kSystem, std::move(c)));
      return {};
    });
    feed->expire(clock.now(), [&](base::TokenId id) {
      const auto* token = turn.state().tokens.find(id);
      return token != nullptr && token->expires > turn.now();
    });
    if (options.memory || turn.now() < next_snapshot) return;
    next_snapshot = turn.now() + options.snapshot_every;
    if (turn.state().events == snapshot_events) return;
    snapshot_events = turn.state().events;
    // Saved only once the journal has everything in it.
    turn.after([this, seq = snapshot_events, bytes = codec::encode_state(turn.state())]() mutable {
      writer->post([this, seq, bytes = std::move(bytes)] { save_snapshot(seq, bytes); });
    });
  }

  void start_core(market::State state) {
    if (state.accounts.size() == 0) bootstrap = new_token();
    feed = std::make_unique<Feed>(state.events, state.now);
    hashers = std::make_unique<Pool>();
    files = std::make_unique<Pool>(options.hubs.empty() ? kFileThreads : kFileThreadsWithHubs);
    pinner = std::make_unique<Pool>(1, kMostPinning);
    writer = std::make_unique<Pool>(1, 4);
    next_snapshot = clock.now() + options.snapshot_every;
    programs = std::make_unique<Programs>(options.mechanisms);
    const auto progress = [this](base::JobId job) {
      const auto run = services->hub.find(job);
      return run == nullptr ? 0 : run->progress();
    };
    speeds = std::make_unique<Speeds>(progress);
    replan = std::make_unique<Replan>(progress);
    services->forecast_errors.recall(state);
    core = std::make_unique<Core>(std::move(state), *journal, clock,
                                  CoreOptions{.round = options.round});
    core->on_applied([this](const market::State& s, const Committed& c) { on_applied(s, c); });
    core->observe([this](std::span<const Committed> batch) { feed->publish(batch.back().number); });
    core->every_tick([this](Core::Turn& turn) { on_tick(turn); });
    core->before_round([this](const market::State& s, base::Time now, market::Clear& round) {
      round.near = services->holdings.near(s, round.slot_class);
      round.program = programs->of(s.slot_class(round.slot_class), now);
      speeds->tell(s, now, round);
    });
    core->state().jobs.for_each([this](const market::Job& job) {
      if (market::is_final(job.state)) return;
      services->pins.hold(job.id, blobs_of(job));
      for (const auto& part : job.parts)
        if (!part.checkpoint.empty()) services->pins.hold(job.id, part.index, part.checkpoint);
    });
    core->start();
  }

  Result<> start_http() {
    SOUK_ASSIGN(const auto tls, tls_for(options));
    if (tls) {
      SOUK_ASSIGN(fingerprint, net::fingerprint(tls->certificate_pem));
    }
    app = std::make_unique<App>(*core, *feed, *services, *hashers, *files, clock,
                                AppOptions{.bootstrap = bootstrap,
                                           .metrics_public = options.metrics_public,
                                           .tls = tls.has_value(),
                                           .requests_per_second = options.requests_per_second,
                                           .prepare = {.built_in_data = options.built_in_data,
                                                       .python_package = options.python_package,
                                                       .keep_bytes = options.blob_bytes / 4}});
    net::ServerOptions net_options{.address = options.address,
                                   .port = options.port,
                                   .threads = options.threads,
                                   .tls = tls,
                                   .max_body_bytes = blob::kMostEncodedBytes};
    app->set_counters([this] {
      const auto* s = listening.load();
      return s == nullptr ? net::ServerCounters() : s->counters();
    });
    net_options.error_body = [](int status, std::string_view message) {
      return problem(status, message);
    };
    SOUK_ASSIGN(http, net::Server::start(std::move(net_options),
                                         [this](net::Request request, net::Reply reply) {
                                           app->handle(std::move(request), std::move(reply));
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
    if (core) core->stop();  // Its tasks use the pools.
    hashers.reset();
    files.reset();
    pinner.reset();
    writer.reset();
    if (core && journal && !options.memory && core->state().events != snapshot_events)
      save_snapshot(core->state().events, codec::encode_state(core->state()));
    http.reset();
    app.reset();
    core.reset();
    journal.reset();
    services.reset();
    std::error_code ignored;
    if (!scratch.empty()) fs::remove_all(scratch, ignored);
  }

  // Files live in the data folder; a market in memory has a folder that goes with it.
  Result<> open_files() {
    auto folder = options.data;
    if (options.memory) {
      folder = (fs::temp_directory_path() / "souk-XXXXXX").string();
      if (::mkdtemp(folder.data()) == nullptr)
        return fail(Code::unavailable, fmt::format("cannot make a folder like {}", folder),
                    "set TMPDIR to a folder that can be written to");
      scratch = folder;
    }
    SOUK_ASSIGN(auto blobs, blob::Store::open(folder + "/blobs", {.max_bytes = options.blob_bytes,
                                                                  .sync = !options.memory}));
    SOUK_TRY(hub::make_store(options.parameters, "j0"));  // A URL that cannot be right is an error.
    SOUK_ASSIGN(auto hubs, hubs_of(options, clock));
    services = std::make_unique<Services>(
        std::move(blobs), folder, clock, options.challenge_every, base::short_hash(new_token()),
        [url = options.parameters](base::JobId job) {
          return hub::make_store(url, to_string(job));
        },
        std::move(hubs),
        LabOptions{.limit = options.lab_limit,
                   .journal = options.memory ? "" : journal_path(options.data)});
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
  if (!options.memory) {
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
  impl->snapshot_events = recovered.snapshot_events;
  if (const auto opened = impl->open_files(); !opened) {
    impl->stop();
    return std::unexpected(opened.error());
  }
  impl->start_core(std::move(recovered.state));
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
