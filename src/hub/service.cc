#include "hub/service.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/text.h"
#include "hub/stores.h"
#include "train/codec.h"
#include "train/session.h"
#include "wire/json.h"
#include "wire/problem.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::size_t kMostJobs = 1'024;
constexpr std::string_view kPrefix = "/v1/hub/";
constexpr std::string_view kBearer = "Bearer ";

std::chrono::microseconds chrono(base::Duration d) { return std::chrono::microseconds(d.us); }

// Digests are compared, all of their bytes: how long it takes says nothing about the secret.
bool same_secret(std::string_view given, const base::Digest& digest) {
  const auto other = base::blake2b(given);
  unsigned differs = 0;
  for (std::size_t i = 0; i < digest.bytes.size(); ++i)
    differs |= static_cast<unsigned>(digest.bytes[i] ^ other.bytes[i]);
  return differs == 0;
}

int status_of(Code code) {
  switch (code) {
    case Code::invalid:
      return 400;
    case Code::unauthenticated:
      return 401;
    case Code::forbidden:
      return 403;
    case Code::not_found:
      return 404;
    case Code::conflict:
      return 409;
    case Code::too_large:
      return 413;
    case Code::exhausted:
      return 429;
    case Code::unavailable:
      return 503;
    case Code::damaged:
    case Code::internal:
      return 500;
  }
  return 500;
}

net::Response problem(const base::Error& error) {
  const auto status = status_of(error.code);
  const auto given = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  net::Response out{.status = status, .content_type = "application/problem+json"};
  if (status == 401) out.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (status == 429 || status == 503) out.headers.emplace_back("Retry-After", "1");
  out.body = wire::to_json(wire::Problem{.type = "about:blank",
                                         .title = std::string(net::reason_phrase(status)),
                                         .status = status,
                                         .code = std::string(to_string(error.code)),
                                         .detail = error.message,
                                         .field = given(error.field),
                                         .hint = given(error.hint)});
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

// A rule as a request names it, and the text by which two of them are the same.
struct NamedRule {
  std::shared_ptr<const train::Aggregator> rule;
  std::string key;
};

Result<NamedRule> rule_of(const net::Request& http) {
  constexpr std::string_view param = "rule.";
  train::RuleSpec spec{.name = std::string(http.param("rule").value_or(""))};
  SOUK_ASSIGN(spec.workers, number<std::int32_t>(http, "workers", 1, 1, 10'000));
  for (const auto& [name, value] : http.query) {
    if (!name.starts_with(param)) continue;
    SOUK_ASSIGN(spec.params[name.substr(param.size())],
                number<double>(http, name, std::nullopt, -1e9, 1e9));
  }
  NamedRule out{.key = fmt::format("{} {}", spec.name, spec.workers)};
  for (const auto& [name, value] : spec.params) out.key += fmt::format(" {}={}", name, value);
  SOUK_ASSIGN(out.rule, train::make_rule(spec));
  if (out.rule->needs().arity > 1 || out.rule->needs().base)
    return fail(Code::invalid,
                fmt::format("the rule {} needs several updates at once, or their bases", spec.name),
                "here each update is folded as it comes: downpour, vc-asgd, fedasync, easgd, "
                "delayed-nesterov or norm-clip",
                "rule");
  return out;
}

struct Shape {
  std::size_t size = 0, planes = 0;
  std::int64_t version = 0;
};

// An update on its way, and who waits for it.
struct Waiting {
  Contribution contribution;
  NamedRule rule;
  std::shared_ptr<const train::Codec> codec;  // The update reads through it.
  net::Reply reply;
};

// The parameters of one job. Thread-safe.
class Job {
 public:
  explicit Job(std::unique_ptr<ParameterStore> store) : store_(std::move(store)) {}

  Result<std::string> pull(std::int64_t since) const {
    SOUK_ASSIGN(const auto taken, store_->take());
    if (taken.blocks.empty()) return not_begun();
    return train::pack_changed(taken, since);
  }

  Result<> begin(const train::Aggregator& rule, std::string_view body) {
    std::vector<float> values(body.size() / sizeof(float));
    std::memcpy(values.data(), body.data(), body.size());
    Saved saved{.values = train::blocks_of(values)};
    for (std::size_t p = 0; p < rule.needs().planes; ++p)
      saved.planes.push_back(train::blocks_of(std::vector<float>(values.size())));
    const std::lock_guard folding(folding_);
    SOUK_TRY(store_->load(saved));
    const std::lock_guard lock(mutex_);
    shape_ = {values.size(), saved.planes.size(), saved.version};
    return {};
  }

  // What updates must fit; asks the store when it is not known, or older than `base`.
  Result<Shape> shape(std::int64_t base) {
    {
      const std::lock_guard lock(mutex_);
      if (shape_.size > 0 && base <= shape_.version) return shape_;
    }
    SOUK_ASSIGN(const auto saved, store_->save());
    if (saved.values.empty()) return not_begun();
    const std::lock_guard lock(mutex_);
    shape_ = {size_of(saved), saved.planes.size(), saved.version};
    return shape_;
  }

  void enter(Waiting waiting) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(waiting));
  }

  // Whoever comes first folds for all who wait behind.
  void fold_waiting() {
    const std::lock_guard folding(folding_);
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
      for (auto& w : batch)
        w.reply.send(version ? net::Response{.body = fmt::format("{{\"version\":{}}}", *version)}
                             : problem(version.error()));
    }
  }

 private:
  static base::Failure not_begun() {
    return fail(Code::not_found, "the job has no parameters yet", "PUT them first");
  }

  // Those in front that are folded by the same rule, and fit.
  std::vector<Waiting> take_batch() {
    const std::lock_guard lock(mutex_);
    std::vector<Waiting> out;
    while (!waiting_.empty() &&
           (out.empty() || waiting_.front().rule.key == out.front().rule.key)) {
      auto next = std::move(waiting_.front());
      waiting_.pop_front();
      if (shape_.size == 0 || (next.contribution.update.size() == shape_.size &&
                               next.rule.rule->needs().planes == shape_.planes))
        out.push_back(std::move(next));
      else
        next.reply.send(problem({Code::conflict, "the parameters have begun anew meanwhile"}));
    }
    return out;
  }

  const std::unique_ptr<ParameterStore> store_;
  std::mutex folding_;  // Taken before mutex_. Held by whoever folds.
  std::mutex mutex_;    // Guards what follows.
  Shape shape_;         // As last heard.
  std::deque<Waiting> waiting_;
};

}  // namespace

Workers::Workers(WorkerLimits limits) : limits_(limits) {
  CHECK(limits.least >= 1 && limits.most >= limits.least);
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < limits.least; ++i) add();
  watcher_ = std::thread([this] { watch(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  ready_.notify_all();
  changed_.notify_all();
  watcher_.join();
  for (auto& t : threads_) t.join();
  for (auto& t : left_) t.join();
}

bool Workers::post(std::move_only_function<void()> work, std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= limits_.most_queued ||
        queued_bytes_ + bytes > limits_.most_queued_bytes)
      return false;
    queued_bytes_ += bytes;
    queue_.push_back({std::move(work), bytes, Clock::now()});
  }
  ready_.notify_one();
  changed_.notify_one();
  return true;
}

int Workers::running() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(threads_.size());
}

// Requires mutex_.
void Workers::add() {
  const auto self = threads_.emplace(threads_.end());
  *self = std::thread([this, self] { serve(self); });
}

void Workers::watch() {
  std::unique_lock lock(mutex_);
  Clock::time_point last_added;
  while (!stopping_) {
    for (; !left_.empty(); left_.pop_front()) left_.front().join();
    if (queue_.empty() || std::ssize(threads_) >= limits_.most) {
      changed_.wait(lock);
      continue;
    }
    // One at a time: the last one added gets a chance to take what waits.
    const auto due = std::max(queue_.front().since, last_added) + chrono(limits_.wait);
    if (Clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    add();
    last_added = Clock::now();
  }
}

void Workers::serve(std::list<std::thread>::iterator self) {
  std::unique_lock lock(mutex_);
  while (true) {
    const bool called =
        ready_.wait_for(lock, chrono(limits_.idle), [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    if (!called) {
      if (std::ssize(threads_) <= limits_.least) continue;
      left_.splice(left_.end(), threads_, self);
      changed_.notify_one();
      return;
    }
    auto piece = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= piece.bytes;
    lock.unlock();
    piece.work();
    piece.work = {};
    lock.lock();
    changed_.notify_one();
  }
}

struct Service::Impl {
  ServiceOptions options;
  base::Digest secret;
  std::mutex mutex;  // Guards jobs.
  std::map<std::string, std::shared_ptr<Job>, std::less<>> jobs;
  std::optional<Workers> workers;
  std::unique_ptr<net::Server> server;  // Gone first: it calls what is above.

  void handle(net::Request http, net::Reply reply);
  Result<std::shared_ptr<Job>> job(std::string_view name);
  Result<net::Response> parameters(const net::Request& http, Job& job);
  // Replies by itself, now or when it is folded.
  void fold(net::Request http, net::Reply reply, Job& job);
  Result<std::pair<Contribution, std::shared_ptr<const train::Codec>>> read(net::Request& http,
                                                                            const NamedRule& rule,
                                                                            Job& job);
};

void Service::Impl::handle(net::Request http, net::Reply reply) {
  const auto refuse = [&](base::Error error) { reply.send(problem(error)); };
  const auto given = http.header("Authorization");
  if (!given.starts_with(kBearer) || !same_secret(given.substr(kBearer.size()), secret))
    return refuse({Code::unauthenticated, "the secret of this service is missing or wrong",
                   "send the header Authorization: Bearer SECRET"});
  const auto rest = std::string_view(http.path).substr(
      http.path.starts_with(kPrefix) ? kPrefix.size() : http.path.size());
  const auto slash = rest.find('/');
  const auto what = slash == rest.npos ? std::string_view() : rest.substr(slash + 1);
  const bool folds = what == "fold" && http.method == "POST";
  if (!folds && !(what == "parameters" && (http.method == "GET" || http.method == "PUT")))
    return refuse({Code::not_found, fmt::format("there is no {} {}", http.method, http.path),
                   "GET or PUT /v1/hub/{job}/parameters, POST /v1/hub/{job}/fold"});
  auto found = job(rest.substr(0, slash));
  if (!found) return refuse(found.error());
  const auto bytes = http.body.size();
  // Shared, so that it can be answered when the queue is full.
  auto answer = std::make_shared<net::Reply>(std::move(reply));
  const bool posted = workers->post(
      [this, folds, answer, request = std::move(http), at = *std::move(found)]() mutable {
        if (folds) return fold(std::move(request), std::move(*answer), *at);
        auto response = parameters(request, *at);
        answer->send(response ? *std::move(response) : problem(response.error()));
      },
      bytes);
  if (!posted)
    answer->send(problem({Code::exhausted, "too many requests are waiting", "try again later"}));
}

Result<std::shared_ptr<Job>> Service::Impl::job(std::string_view name) {
  const std::lock_guard lock(mutex);
  if (const auto it = jobs.find(name); it != jobs.end()) return it->second;
  if (jobs.size() >= kMostJobs)
    return fail(Code::exhausted, fmt::format("{} jobs are open", jobs.size()), "start another hub");
  SOUK_ASSIGN(auto store, make_store(options.store, name));
  return jobs.emplace(name, std::make_shared<Job>(std::move(store))).first->second;
}

Result<net::Response> Service::Impl::parameters(const net::Request& http, Job& job) {
  if (http.method == "GET") {
    SOUK_ASSIGN(const auto since, number<std::int64_t>(http, "since", -1, -1, kMost));
    SOUK_ASSIGN(auto body, job.pull(since));
    return net::Response{.content_type = "application/octet-stream", .body = std::move(body)};
  }
  SOUK_ASSIGN(const auto rule, rule_of(http));
  if (http.body.empty() || http.body.size() % sizeof(float) != 0)
    return fail(Code::invalid, fmt::format("a body of {} bytes", http.body.size()),
                "send the model's numbers, 4 bytes each");
  SOUK_TRY(job.begin(*rule.rule, http.body));
  return net::Response{.body = R"({"version":0})"};
}

void Service::Impl::fold(net::Request http, net::Reply reply, Job& job) {
  auto rule = rule_of(http);
  if (!rule) return reply.send(problem(rule.error()));
  auto update = read(http, *rule, job);
  if (!update) return reply.send(problem(update.error()));
  job.enter(
      {std::move(update->first), *std::move(rule), std::move(update->second), std::move(reply)});
  job.fold_waiting();
}

Result<std::pair<Contribution, std::shared_ptr<const train::Codec>>> Service::Impl::read(
    net::Request& http, const NamedRule& rule, Job& job) {
  Contribution out;
  SOUK_ASSIGN(out.id, number<std::int64_t>(http, "id", std::nullopt, 1, kMost));
  SOUK_ASSIGN(out.base, number<std::int64_t>(http, "base", std::nullopt, 0, kMost));
  SOUK_ASSIGN(const auto epoch, number<std::int32_t>(http, "epoch", 1, 1, 1'000'000'000));
  SOUK_ASSIGN(const auto weight, number<double>(http, "weight", 1, 1e-9, 1e15));
  SOUK_ASSIGN(std::shared_ptr<const train::Codec> codec,
              train::make_codec(http.param("codec").value_or("fp32")));
  SOUK_ASSIGN(const auto shape, job.shape(out.base));
  if (out.base > shape.version)
    return fail(Code::conflict, fmt::format("there is no version {}", out.base),
                fmt::format("the newest is {}", shape.version), "base");
  const auto needs = rule.rule->needs();
  if (needs.planes != shape.planes)
    return fail(Code::conflict,
                fmt::format("the rule {} does not fit the parameters' {} planes", rule.rule->name(),
                            shape.planes),
                "use the rule that the job began with", "rule");
  SOUK_TRY(train::check_codec(*rule.rule, *codec));
  SOUK_ASSIGN(out.update, train::Update::read(std::move(http.body), *codec, shape.size));
  const auto stats = train::stats_of(out.update);
  if (!stats.finite) return fail(Code::invalid, "the update has numbers that are not finite");
  out.update.norm = stats.norm;
  out.update.epoch = epoch;
  out.update.weight = weight;
  return std::pair{std::move(out), std::move(codec)};
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
  impl->secret = base::blake2b(options.secret);
  impl->options = options;
  impl->options.secret.clear();
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

}  // namespace souk::hub
