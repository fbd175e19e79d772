#include "hub/service.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/kill_point.h"
#include "base/text.h"
#include "hub/measured.h"
#include "hub/run/turns.h"
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
Result<N> number(const net::Request& http, std::string_view name, std::optional<N> otherwise,
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

constexpr auto kMost = std::numeric_limits<std::int64_t>::max();

// An aggregator as a request names it, and the text by which two of them are the same.
struct NamedRule {
  std::shared_ptr<const train::Aggregator> rule;
  std::string key;
};

Result<NamedRule> rule_of(const net::Request& http) {
  constexpr std::string_view param = "rule.";
  train::AggregatorSpec spec{.name = std::string(http.param("rule").value_or(""))};
  SOUK_ASSIGN(spec.workers, number<std::int32_t>(http, "workers", 1, 1, 10'000));
  for (const auto& [name, value] : http.query) {
    if (!name.starts_with(param)) continue;
    SOUK_ASSIGN(spec.params[name.substr(param.size())],
                number<double>(http, name, std::nullopt, -1e9, 1e9));
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

struct Shape {
  std::size_t size = 0, planes = 0;
  std::int64_t version = 0;
  std::string generation = {};  // That was asked about, if any.
};

// An update on its way, and who waits for it.
struct QueuedUpdate {
  Contribution contribution;
  NamedRule rule;
  std::shared_ptr<const train::Codec> codec;  // The update reads through it.
  std::function<void(const Result<std::int64_t>& version)> answer;
};

// The parameters of one job. Thread-safe.
class Job {
 public:
  explicit Job(std::unique_ptr<ParameterStore> store) : store_(std::move(store)) {}

  Result<std::string> pull(std::int64_t since, std::optional<std::size_t> from) const {
    SOUK_ASSIGN(const auto taken, store_->take());
    if (taken.blocks.empty()) return not_begun();
    if (from) return train::pack_piece(taken, since, *from, train::kMostPiece);
    if (taken.size() * sizeof(float) > train::kMostPulledWhole)
      return fail(Code::too_large,
                  fmt::format("{} parameters cannot be sent in one answer", taken.size()),
                  "ask for pieces of them, with from=0");
    return train::pack_changed(taken, since);
  }

  Result<> begin(const train::Aggregator& rule, std::string_view body) {
    std::vector<float> values(body.size() / sizeof(float));
    std::memcpy(values.data(), body.data(), body.size());
    SavedParameters saved{.values = train::blocks_of(values)};
    for (std::size_t p = 0; p < rule.needs().planes; ++p)
      saved.planes.push_back(train::blocks_of_zeros(values.size()));
    const Turn folding(folding_);
    SOUK_TRY(store_->load(saved));
    const std::lock_guard lock(mutex_);
    shape_ = {values.size(), saved.planes.size(), saved.version};
    return {};
  }

  // What updates must fit; asks the store when it is not known, older than `base`, or perhaps of
  // another generation.
  Result<Shape> shape(std::int64_t base, const std::string& generation) {
    {
      const std::lock_guard lock(mutex_);
      if (shape_.size > 0 && base <= shape_.version &&
          (generation.empty() || generation == shape_.generation))
        return shape_;
    }
    SOUK_ASSIGN(const auto saved, store_->save());
    if (saved.values.empty()) return not_begun();
    const std::lock_guard lock(mutex_);
    shape_ = {size_of(saved), saved.planes.size(), saved.version, generation};
    return shape_;
  }

  void enter(QueuedUpdate waiting) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(waiting));
  }

  // Whoever comes first folds for all who wait behind.
  void fold_waiting() {
    const Turn folding(folding_);
    while (true) {
      auto batch = take_batch();
      if (batch.empty()) return;
      std::vector<Contribution> contributions;
      contributions.reserve(batch.size());
      for (auto& w : batch) contributions.push_back(std::move(w.contribution));
      const auto version = store_->fold(*batch.front().rule.rule, contributions);
      {
        const std::lock_guard lock(mutex_);
        if (version)
          shape_.version = *version;
        else
          shape_ = {};  // Perhaps another hub has begun anew.
      }
      base::kill_point("update-folded");
      for (const auto& w : batch) w.answer(version);
    }
  }

 private:
  static base::Failure not_begun() {
    return fail(Code::not_found, "the job has no parameters yet", "PUT them first");
  }

  // Those in front that are folded by the same aggregator, and fit.
  std::vector<QueuedUpdate> take_batch() {
    const std::lock_guard lock(mutex_);
    std::vector<QueuedUpdate> out;
    while (!waiting_.empty() &&
           (out.empty() || waiting_.front().rule.key == out.front().rule.key)) {
      auto next = std::move(waiting_.front());
      waiting_.pop_front();
      if (shape_.size == 0 || (next.contribution.update.size() == shape_.size &&
                               next.rule.rule->needs().planes == shape_.planes))
        out.push_back(std::move(next));
      else
        next.answer(fail(Code::conflict, "the parameters have begun anew meanwhile"));
    }
    return out;
  }

  const std::unique_ptr<ParameterStore> store_;
  Turns folding_;     // Whoever folds does so in turn.
  std::mutex mutex_;  // Guards what follows.
  Shape shape_;       // As last heard.
  std::deque<QueuedUpdate> waiting_;
};

}  // namespace

struct Service::Impl {
  ServiceOptions options;
  base::Digest key;  // Of the secret.
  base::SystemClock clock;
  std::mutex mutex;  // Guards jobs.
  struct OpenJob {
    std::shared_ptr<Job> job;
    base::Time used;
  };
  std::map<std::string, OpenJob, std::less<>> jobs;
  std::optional<Staging> staging;
  std::atomic<std::int64_t> pulls = 0, pulled_bytes = 0, pieces = 0, pushed_bytes = 0, folds = 0;
  std::optional<Workers> workers;
  std::unique_ptr<net::Server> server;  // Gone first: it calls what is above.

  void handle(net::Request http, net::Reply reply);
  Result<> admit(const net::Request& http, const HubRequest& asked) const;
  Result<std::shared_ptr<Job>> job(std::string_view name);
  void forget_idle();
  Result<net::Response> answer(net::Request& http, const HubRequest& asked);
  Result<net::Response> pull(const net::Request& http, const Job& job);
  static Result<net::Response> begin(const net::Request& http, Job& job);
  Result<net::Response> piece(const net::Request& http, const HubRequest& asked);
  Result<net::Response> judge(const net::Request& http, const HubRequest& asked);
  // Replies by itself, now or when it is folded.
  void fold(net::Request http, const HubRequest& asked, net::Reply reply);
  Result<QueuedUpdate> read(net::Request& http, const HubRequest& asked, Job& job);
  [[nodiscard]] ServiceStats stats() const;
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

void Service::Impl::handle(net::Request http, net::Reply reply) {
  auto asked = route_of(http);
  // Strangers do not learn what there is.
  if (const auto admitted = admit(http, asked.value_or(HubRequest{.route = Route::stats}));
      !admitted)
    return reply.send(problem(admitted.error()));
  reply.vouch();
  if (!asked) return reply.send(problem(asked.error()));
  const auto bytes = http.body.size();
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

Result<std::shared_ptr<Job>> Service::Impl::job(std::string_view name) {
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
  const OpenJob open{std::make_shared<Job>(std::move(store)), now};
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

Result<net::Response> Service::Impl::pull(const net::Request& http, const Job& job) {
  SOUK_ASSIGN(const auto since, number<std::int64_t>(http, "since", -1, -1, kMost));
  std::optional<std::size_t> from;
  if (http.param("from")) {
    SOUK_ASSIGN(from, number<std::size_t>(http, "from", std::nullopt, 0, std::size_t{1} << 32));
  }
  SOUK_ASSIGN(auto body, job.pull(since, from));
  ++pulls;
  pulled_bytes += std::ssize(body);
  return net::Response{.content_type = "application/octet-stream", .body = std::move(body)};
}

Result<net::Response> Service::Impl::begin(const net::Request& http, Job& job) {
  SOUK_ASSIGN(const auto rule, rule_of(http));
  if (http.body.empty() || http.body.size() % sizeof(float) != 0)
    return fail(Code::invalid, fmt::format("a body of {} bytes", http.body.size()),
                "send the model's numbers, 4 bytes each");
  SOUK_TRY(job.begin(*rule.rule, http.body));
  return net::Response{.body = R"({"version":0})"};
}

Result<net::Response> Service::Impl::piece(const net::Request& http, const HubRequest& asked) {
  SOUK_ASSIGN(const auto offset, number<std::int64_t>(http, "offset", 0, 0, kMost));
  SOUK_ASSIGN(const auto size,
              staging->put(staged_name(asked.job, asked.update), offset, http.body, clock.now()));
  base::kill_point("update-staged");
  ++pieces;
  pushed_bytes += std::ssize(http.body);
  return net::Response{.body = fmt::format("{{\"size\":{}}}", size)};
}

Result<net::Response> Service::Impl::judge(const net::Request& http, const HubRequest& asked) {
  SOUK_ASSIGN(const auto size,
              number<std::int64_t>(http, "size", std::nullopt, 1, std::int64_t{1} << 40));
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
  (*at)->enter(*std::move(waiting));
  (*at)->fold_waiting();
}

Result<QueuedUpdate> Service::Impl::read(net::Request& http, const HubRequest& asked, Job& job) {
  QueuedUpdate out;
  auto& contribution = out.contribution;
  SOUK_ASSIGN(out.rule, rule_of(http));
  SOUK_ASSIGN(contribution.id, number<std::int64_t>(http, "id", std::nullopt, 1, kMost));
  SOUK_ASSIGN(contribution.base, number<std::int64_t>(http, "base", std::nullopt, 0, kMost));
  SOUK_ASSIGN(const auto epoch, number<std::int32_t>(http, "epoch", 1, 1, 1'000'000'000));
  SOUK_ASSIGN(const auto weight, number<double>(http, "weight", 1, 1e-9, 1e15));
  SOUK_ASSIGN(const auto at_work, number<std::int32_t>(http, "at_work", 1, 1, 1'000'000));
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
  auto body = train::kept(std::move(http.body));
  if (const auto staged = http.param("staged")) {
    SOUK_ASSIGN(body, staging->take(staged_name(asked.job, *staged)));
  }
  SOUK_ASSIGN(contribution.update, train::Update::read(std::move(body), *out.codec, shape.size));
  const auto stats = train::stats_of(contribution.update);
  if (!stats.finite) return fail(Code::invalid, "the update has numbers that are not finite");
  contribution.update.norm = stats.norm;
  contribution.update.epoch = epoch;
  contribution.update.weight = weight;
  contribution.update.at_work = at_work;
  return out;
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
  impl->workers.emplace(options.workers);
  net::ServerOptions http{.address = options.address,
                          .port = options.port,
                          .threads = options.threads,
                          .tls = std::move(options.tls),
                          .max_body_bytes = options.most_body_bytes,
                          .max_connections = 1'024};
  // A large update over a slow link takes its time.
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
