#include "hub/service.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/kill_point.h"
#include "base/text.h"
#include "hub/arriving_update.h"
#include "hub/measured.h"
#include "hub/service_job.h"
#include "hub/shared_bytes.h"
#include "hub/stores/stores.h"
#include "hub/ticket.h"
#include "train/codecs/codec.h"
#include "train/session.h"
#include "wire/json.h"
#include "wire/problem.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kMostJobs = 1'024;
constexpr std::size_t kMostName = 64;  // Of an update.
constexpr auto kIdle = base::minutes(30);
// From here on a body goes into a buffer. Models of more bytes are not folded aside as they arrive.
constexpr std::uint64_t kLargeBody = 64 * 1024;
constexpr std::size_t kMostPrepared = std::size_t{64} << 20;
constexpr std::string_view kPrefix = "/v1/hub/";
constexpr std::string_view kBearer = "Bearer ";

net::Response problem(const base::Error& error) {
  const auto body = wire::problem_of(error);
  net::Response out{.status = body.status, .content_type = "application/problem+json"};
  if (out.status == 401) out.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (out.status == 429 || out.status == 503) out.headers.emplace_back("Retry-After", "1");
  out.body = wire::to_json(body);
  return out;
}

// What a path means.
enum class Route { pull, begin, fold, piece, judge, drop, stats };
struct HubRequest {
  Route route = Route::pull;
  std::string job, update;
};

Result<HubRequest> route_of(const net::Request& http) {
  const auto& method = http.method;
  const auto none = [&] {
    return fail(Code::not_found, fmt::format("there is no {} {}", method, http.path),
                "GET or PUT /v1/hub/{job}/parameters, POST /v1/hub/{job}/fold, PUT, GET or DELETE "
                "/v1/hub/{job}/updates/{update}, GET /v1/hub/stats");
  };
  if (!http.path.starts_with(kPrefix)) return none();
  const auto parts = base::split(std::string_view(http.path).substr(kPrefix.size()), '/');
  HubRequest out{.job = std::string(parts[0])};
  if (parts.size() == 1 && parts[0] == "stats" && method == "GET") {
    out.route = Route::stats;
    return out;
  }
  const auto is = [&](std::string_view what, std::size_t size, std::string_view verb) {
    return parts.size() == size && parts[1] == what && method == verb;
  };
  if (is("parameters", 2, "GET")) {
    out.route = Route::pull;
  } else if (is("parameters", 2, "PUT")) {
    out.route = Route::begin;
  } else if (is("fold", 2, "POST")) {
    out.route = Route::fold;
  } else {
    if (is("updates", 3, "PUT"))
      out.route = Route::piece;
    else if (is("updates", 3, "GET"))
      out.route = Route::judge;
    else if (is("updates", 3, "DELETE"))
      out.route = Route::drop;
    else
      return none();
    out.update = parts[2];
    if (out.update.empty() || out.update.size() > kMostName) return none();
  }
  return out;
}

template <class N>
Result<N> query_number(const net::Request& http, std::string_view name, std::optional<N> otherwise,
                       N least, N most) {
  const auto text = http.param(name);
  if (!text && otherwise) return *otherwise;
  N out{};
  const auto given = text.value_or("");
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), out);
  if (error != std::errc{} || end != given.data() + given.size() || !(out >= least && out <= most))
    return fail(Code::invalid, fmt::format("{} is '{}'", name, given.substr(0, 80)),
                fmt::format("write a number from {} to {}", least, most), std::string(name));
  return out;
}

constexpr auto kAny = std::numeric_limits<std::int64_t>::max();

Result<NamedRule> rule_of(const net::Request& http) {
  constexpr std::string_view param = "rule.";
  train::AggregatorSpec spec{.name = std::string(http.param("rule").value_or(""))};
  SOUK_ASSIGN(spec.workers, query_number<std::int32_t>(http, "workers", 1, 1, 10'000));
  for (const auto& [name, value] : http.query) {
    if (!name.starts_with(param)) continue;
    SOUK_ASSIGN(spec.params[name.substr(param.size())],
                query_number<double>(http, name, std::nullopt, -1e9, 1e9));
  }
  NamedRule out{.key = fmt::format("{} {}", spec.name, spec.workers)};
  for (const auto& [name, value] : spec.params) out.key += fmt::format(" {}={}", name, value);
  SOUK_ASSIGN(out.rule, train::make_aggregator(spec));
  if (out.rule->needs().arity > 1 || out.rule->needs().base)
    return fail(Code::invalid,
                fmt::format("the rule {} needs several updates at once, or their bases", spec.name),
                "here each update is folded as it comes: downpour, vc-asgd, fedasync, easgd, "
                "mean or norm-clip",
                "rule");
  return out;
}

// What a request says of its update.
struct UpdateMeta {
  std::int64_t base = 0;
  std::int32_t epoch = 1, at_work = 1;
  double weight = 1;
};

Result<UpdateMeta> meta_of(const net::Request& http) {
  UpdateMeta out;
  SOUK_ASSIGN(out.base, query_number<std::int64_t>(http, "base", std::nullopt, 0, kAny));
  SOUK_ASSIGN(out.epoch, query_number<std::int32_t>(http, "epoch", 1, 1, 1'000'000'000));
  SOUK_ASSIGN(out.weight, query_number<double>(http, "weight", 1, 1e-9, 1e15));
  SOUK_ASSIGN(out.at_work, query_number<std::int32_t>(http, "at_work", 1, 1, 1'000'000));
  return out;
}

}  // namespace

struct Service::Impl {
  ServiceOptions options;
  base::Digest key;  // Of the secret.
  base::SystemClock clock;
  std::mutex mutex;  // Guards jobs.
  struct OpenJob {
    std::shared_ptr<ServiceJob> job;
    base::Time used;
  };
  std::map<std::string, OpenJob, std::less<>> jobs;
  std::optional<Staging> staging;
  std::optional<base::Budget> arriving;  // Bytes of bodies, and of what is made of them.
  std::atomic<std::int64_t> pulls = 0, pulled_bytes = 0, pieces = 0, pushed_bytes = 0, folds = 0;
  std::optional<Workers> workers;
  std::unique_ptr<net::Server> server;  // Gone first: it calls what is above.

  void screen(const net::Request& head, std::optional<std::uint64_t> bytes,
              net::BodyDecision decision);
  Result<std::shared_ptr<ArrivingUpdate>> expect(const net::Request& head, const HubRequest& asked,
                                                 const std::shared_ptr<base::Buffer>& into);
  void handle(net::Request http, net::Reply reply);
  Result<> admit(const net::Request& http, const HubRequest& asked) const;
  Result<std::shared_ptr<ServiceJob>> job(std::string_view name);
  void forget_idle();
  Result<net::Response> answer(net::Request& http, const HubRequest& asked);
  Result<net::Response> pull(const net::Request& http, const ServiceJob& job);
  static Result<net::Response> begin(const net::Request& http, ServiceJob& job);
  Result<net::Response> piece(const net::Request& http, const HubRequest& asked);
  Result<net::Response> judge(const net::Request& http, const HubRequest& asked);
  // Replies by itself, now or when it is folded.
  void fold(net::Request http, const HubRequest& asked, net::Reply reply);
  Result<QueuedUpdate> read(net::Request& http, const HubRequest& asked, ServiceJob& job);
  Result<> read_body(net::Request& http, const HubRequest& asked, std::size_t floats,
                     QueuedUpdate& out);
  [[nodiscard]] ServiceStats stats() const;
};

// What is held with a large body.
struct ArrivingBody {
  base::BudgetShare share;
  std::shared_ptr<ArrivingUpdate> update = {};  // If it can be read while it arrives.
};

// Two jobs may have updates of the same name.
static std::string staged_name(std::string_view job, std::string_view update) {
  return fmt::format("{}/{}", job, update);
}

Result<> Service::Impl::admit(const net::Request& http, const HubRequest& asked) const {
  const auto header = http.header("Authorization");
  const auto given = header.starts_with(kBearer) ? header.substr(kBearer.size()) : "";
  if (same(key_of(given), key)) return {};
  if (!given.contains('/'))
    return fail(Code::unauthenticated, "the secret of this service is missing or wrong",
                "send the header Authorization: Bearer SECRET");
  SOUK_ASSIGN(const auto ticket, read_ticket(given, key, clock.now()));
  const bool pulls_its_job = asked.route == Route::pull && asked.job == ticket.job;
  const bool sends_its_update =
      asked.route == Route::piece && asked.job == ticket.job && asked.update == ticket.update;
  if (pulls_its_job || sends_its_update) return {};
  return fail(Code::forbidden,
              fmt::format("the ticket does not allow {} {}", http.method, http.path),
              fmt::format("it is for the parameters of {} and for sending its update {}",
                          ticket.job, ticket.update));
}

// Nothing is read of strangers' bodies, and no more of others' than there is room for.
void Service::Impl::screen(const net::Request& head, std::optional<std::uint64_t> bytes,
                           net::BodyDecision decision) {
  const auto asked = route_of(head);
  if (const auto admitted = admit(head, asked.value_or(HubRequest{.route = Route::stats}));
      !admitted)
    return decision.refuse(problem(admitted.error()));
  const auto most = options.most_body_bytes;
  if (!asked || !bytes || *bytes < kLargeBody || *bytes > most) return decision.read(most);
  auto share = base::BudgetShare::take(*arriving, asked->job, *bytes);
  if (!share) return decision.refuse(problem(share.error()));
  const auto into = std::make_shared<base::Buffer>(static_cast<std::size_t>(*bytes));
  const auto held = std::make_shared<ArrivingBody>(*std::move(share));
  if (asked->route == Route::fold)
    if (auto update = expect(head, *asked, into)) held->update = *std::move(update);
  net::BodyWatch watch;
  if (held->update)
    watch = [to = held->update](std::string_view so_far) { to->arrived(so_far.size()); };
  decision.read(most, held, {into, std::move(watch)});
}

// An update that can be read while it arrives; an error where that cannot be said without waiting
// for a store, or something is wrong with it that its handler will find.
Result<std::shared_ptr<ArrivingUpdate>> Service::Impl::expect(
    const net::Request& head, const HubRequest& asked, const std::shared_ptr<base::Buffer>& into) {
  SOUK_ASSIGN(auto at, job(asked.job));
  const auto shape = at->known_shape();
  if (!shape) return fail(Code::unavailable, "the shape is not known");
  SOUK_ASSIGN(std::shared_ptr<const train::Codec> codec,
              train::make_codec(head.param("codec").value_or("fp32")));
  SOUK_ASSIGN(const auto meta, meta_of(head));
  SOUK_ASSIGN(auto rule, rule_of(head));
  auto out = std::make_shared<ArrivingUpdate>(codec, at, shape->size, into);
  const auto model = shape->size * sizeof(float);
  if (at->arriving > 1 || model > kMostPrepared || !can_prepare(*rule.rule) ||
      !train::check_codec(*rule.rule, *codec) || meta.base > shape->version)
    return out;
  if (auto share = base::BudgetShare::take(*arriving, asked.job, model)) {
    PreparedFold prepared{.rule = rule.rule,
                          .base = meta.base,
                          .weight = meta.weight,
                          .epoch = meta.epoch,
                          .at_work = meta.at_work};
    out->prepare(std::make_unique<PreparedFold>(std::move(prepared)), *std::move(share));
  }
  return out;
}

void Service::Impl::handle(net::Request http, net::Reply reply) {
  auto asked = route_of(http);
  // Strangers do not learn what there is.
  if (const auto admitted = admit(http, asked.value_or(HubRequest{.route = Route::stats}));
      !admitted)
    return reply.send(problem(admitted.error()));
  reply.vouch();
  if (!asked) return reply.send(problem(asked.error()));
  const auto bytes = http.content().size();
  // Shared, so that it can be answered when the queue is full.
  auto to = std::make_shared<net::Reply>(std::move(reply));
  const bool posted = workers->post(
      [this, to, request = std::move(http), what = *std::move(asked)]() mutable {
        if (what.route == Route::fold) return fold(std::move(request), what, std::move(*to));
        auto response = answer(request, what);
        to->send(response ? *std::move(response) : problem(response.error()));
      },
      bytes);
  if (!posted)
    to->send(problem({Code::exhausted, "too many requests are waiting", "try again later"}));
}

Result<net::Response> Service::Impl::answer(net::Request& http, const HubRequest& asked) {
  switch (asked.route) {
    case Route::pull: {
      SOUK_ASSIGN(const auto at, job(asked.job));
      return pull(http, *at);
    }
    case Route::begin: {
      SOUK_ASSIGN(const auto at, job(asked.job));
      return begin(http, *at);
    }
    case Route::piece:
      return piece(http, asked);
    case Route::judge:
      return judge(http, asked);
    case Route::drop:
      staging->drop(staged_name(asked.job, asked.update));
      return net::Response{.body = "{}"};
    case Route::stats:
      return net::Response{.body = wire::to_json(stats())};
    case Route::fold:
      break;
  }
  CHECK(false);
}

ServiceStats Service::Impl::stats() const {
  const auto held = staging->usage();
  return {.pulls = pulls,
          .pulled_bytes = pulled_bytes,
          .pieces = pieces,
          .pushed_bytes = pushed_bytes,
          .folds = folds,
          .staged = held.updates,
          .staged_bytes = held.bytes};
}

Result<std::shared_ptr<ServiceJob>> Service::Impl::job(std::string_view name) {
  const std::lock_guard lock(mutex);
  const auto now = clock.now();
  if (const auto it = jobs.find(name); it != jobs.end()) {
    it->second.used = now;
    return it->second.job;
  }
  forget_idle();
  if (jobs.size() >= kMostJobs)
    return fail(Code::exhausted, fmt::format("{} jobs are open", jobs.size()), "start another hub");
  SOUK_ASSIGN(auto store, make_store(options.store, name));
  const OpenJob open{std::make_shared<ServiceJob>(std::move(store)), now};
  return jobs.emplace(name, open).first->second.job;
}

// A copy of parameters that lie elsewhere is not kept for a job that has ended. Requires mutex.
void Service::Impl::forget_idle() {
  if (options.store == "memory") return;
  const auto now = clock.now();
  std::erase_if(jobs, [&](const auto& j) {
    return j.second.job.use_count() == 1 && now - j.second.used > kIdle;
  });
}

Result<net::Response> Service::Impl::pull(const net::Request& http, const ServiceJob& job) {
  SOUK_ASSIGN(const auto since, query_number<std::int64_t>(http, "since", -1, -1, kAny));
  std::optional<std::size_t> from;
  if (http.param("from")) {
    SOUK_ASSIGN(from,
                query_number<std::size_t>(http, "from", std::nullopt, 0, std::size_t{1} << 32));
  }
  SOUK_ASSIGN(auto packed, job.pull(since, from));
  ++pulls;
  pulled_bytes += static_cast<std::int64_t>(packed.size());
  return parameters_response(std::move(packed));
}

Result<net::Response> Service::Impl::begin(const net::Request& http, ServiceJob& job) {
  SOUK_ASSIGN(const auto rule, rule_of(http));
  const auto body = http.content();
  if (body.empty() || body.size() % sizeof(float) != 0)
    return fail(Code::invalid, fmt::format("a body of {} bytes", body.size()),
                "send the model's numbers, 4 bytes each");
  SOUK_TRY(job.begin(*rule.rule, body));
  return net::Response{.body = R"({"version":0})"};
}

Result<net::Response> Service::Impl::piece(const net::Request& http, const HubRequest& asked) {
  SOUK_ASSIGN(const auto offset, query_number<std::int64_t>(http, "offset", 0, 0, kAny));
  SOUK_ASSIGN(const auto size, staging->put(staged_name(asked.job, asked.update), offset,
                                            http.content(), clock.now()));
  base::kill_point("update-staged");
  ++pieces;
  pushed_bytes += std::ssize(http.content());
  return net::Response{.body = fmt::format("{{\"size\":{}}}", size)};
}

Result<net::Response> Service::Impl::judge(const net::Request& http, const HubRequest& asked) {
  SOUK_ASSIGN(const auto size,
              query_number<std::int64_t>(http, "size", std::nullopt, 1, std::int64_t{1} << 40));
  SOUK_ASSIGN(const auto codec, train::make_codec(http.param("codec").value_or("fp32")));
  SOUK_ASSIGN(const auto bytes, staging->take(staged_name(asked.job, asked.update)));
  SOUK_ASSIGN(const auto update,
              train::Update::read(bytes, *codec, static_cast<std::size_t>(size)));
  return net::Response{.content_type = "application/octet-stream", .body = pack(measure(update))};
}

void Service::Impl::fold(net::Request http, const HubRequest& asked, net::Reply reply) {
  auto at = job(asked.job);
  if (!at) return reply.send(problem(at.error()));
  auto waiting = read(http, asked, **at);
  if (!waiting) return reply.send(problem(waiting.error()));
  const auto staged = http.param("staged");
  waiting->answer = [this, to = std::make_shared<net::Reply>(std::move(reply)),
                     name = staged ? staged_name(asked.job, *staged)
                                   : std::string()](const Result<std::int64_t>& version) {
    if (!version) return to->send(problem(version.error()));
    ++folds;
    if (!name.empty()) staging->drop(name);
    to->send({.body = fmt::format("{{\"version\":{}}}", *version)});
  };
  (*at)->fold(*std::move(waiting));
}

Result<QueuedUpdate> Service::Impl::read(net::Request& http, const HubRequest& asked,
                                         ServiceJob& job) {
  QueuedUpdate out;
  auto& contribution = out.contribution;
  SOUK_ASSIGN(out.rule, rule_of(http));
  SOUK_ASSIGN(contribution.id, query_number<std::int64_t>(http, "id", std::nullopt, 1, kAny));
  SOUK_ASSIGN(const auto meta, meta_of(http));
  contribution.base = meta.base;
  SOUK_ASSIGN(out.codec, train::make_codec(http.param("codec").value_or("fp32")));
  contribution.generation = http.param("generation").value_or("");
  SOUK_ASSIGN(const auto shape, job.shape(contribution.base, contribution.generation));
  if (contribution.base > shape.version)
    return fail(Code::conflict, fmt::format("there is no version {}", contribution.base),
                fmt::format("the newest is {}", shape.version), "base");
  const auto& rule = *out.rule.rule;
  if (rule.needs().planes != shape.planes)
    return fail(Code::conflict,
                fmt::format("the rule {} does not fit the parameters' {} planes", rule.name(),
                            shape.planes),
                "use the rule that the job began with", "rule");
  SOUK_TRY(train::check_codec(rule, *out.codec));
  SOUK_TRY(read_body(http, asked, shape.size, out));
  contribution.update.epoch = meta.epoch;
  contribution.update.weight = meta.weight;
  contribution.update.at_work = meta.at_work;
  return out;
}

// What was read while it arrived, or what lies there.
Result<> Service::Impl::read_body(net::Request& http, const HubRequest& asked, std::size_t floats,
                                  QueuedUpdate& out) {
  auto& update = out.contribution.update;
  const auto staged = http.param("staged");
  if (http.large && http.held && !staged) {
    const auto arriving_update = std::static_pointer_cast<ArrivingBody>(http.held)->update;
    if (arriving_update) {
      SOUK_ASSIGN(auto done, arriving_update->finish(floats));
      if (done) {
        update = std::move(done->update);
        out.codec = std::move(done->codec);
        out.prepared = std::move(done->prepared);
        return {};
      }
    }
  }
  auto body =
      http.large ? std::make_shared<BytesInBuffer>(http.large) : train::kept(std::move(http.body));
  if (staged) {
    SOUK_ASSIGN(body, staging->take(staged_name(asked.job, *staged)));
  }
  SOUK_ASSIGN(update, train::Update::read(std::move(body), *out.codec, floats));
  const auto stats = train::stats_of(update);
  if (!stats.finite) return fail(Code::invalid, "the update has numbers that are not finite");
  update.norm = stats.norm;
  return {};
}

Service::Service(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Service::~Service() {
  impl_->server->stop(base::seconds(5));
  impl_->workers.reset();
}

Result<std::unique_ptr<Service>> Service::start(ServiceOptions options) {
  if (options.secret.size() < kLeastSecret)
    return fail(Code::invalid, fmt::format("the secret has {} characters", options.secret.size()),
                fmt::format("use at least {} random ones", kLeastSecret), "secret");
  // A store that is misspelt or not there is found now rather than with the first update.
  SOUK_ASSIGN(const auto store, make_store(options.store, "check"));
  if (const auto there = store->take(); !there && there.error().code == Code::unavailable)
    return std::unexpected(there.error());
  auto impl = std::make_unique<Impl>();
  impl->key = key_of(options.secret);
  impl->options = options;
  impl->options.secret.clear();
  if (options.staging.spill.folder.empty()) options.staging.most_bytes = options.most_body_bytes;
  impl->staging.emplace(options.staging);
  impl->arriving.emplace("hub-bytes", "bytes of bodies", base::BudgetUnit::bytes,
                         base::BudgetLimit{options.most_arriving, options.most_arriving});
  impl->workers.emplace(options.workers);
  net::ServerOptions http{.address = options.address,
                          .port = options.port,
                          .threads = options.threads,
                          .tls = std::move(options.tls),
                          .max_body_bytes = options.most_body_bytes,
                          .max_connections = 1'024};
  // A large update over a slow link takes its time.
  http.screen = [i = impl.get()](const net::Request& head, std::optional<std::uint64_t> bytes,
                                 net::BodyDecision decision) {
    i->screen(head, bytes, std::move(decision));
  };
  http.read_timeout = http.write_timeout = base::minutes(10);
  SOUK_ASSIGN(impl->server, net::Server::start(std::move(http),
                                               [i = impl.get()](net::Request r, net::Reply reply) {
                                                 i->handle(std::move(r), std::move(reply));
                                               }));
  return std::unique_ptr<Service>(new Service(std::move(impl)));
}

std::uint16_t Service::port() const { return impl_->server->port(); }
int Service::workers() const { return impl_->workers->running(); }
ServiceStats Service::stats() const { return impl_->stats(); }

}  // namespace souk::hub
