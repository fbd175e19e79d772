#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "base/fd.h"
#include "base/testing/servers.h"
#include "cli/bench/rows.h"
#include "hub/service.h"
#include "hub/stores/redis.h"
#include "hub/stores/stores.h"
#include "hub/testing/transfers.h"
#include "net/client.h"
#include "net/server.h"
#include "train/codecs/codec.h"
#include "train/update.h"

// What a hub costs, beside what the same bytes cost without it. Everything is on loopback; the two
// sides of a ratio take turns, so that whatever else the machine does meets both.

namespace souk::cli {
namespace {

using namespace hub::testing;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kFloats = kModelFloats;
constexpr double kLinkBits = 20e6;
const std::string kSecret = "for one run on loopback";

struct HubBenchOptions {
  bool full = false;
};

// Measuring.

class HubBench {
 public:
  HubBench(Context& c, const HubBenchOptions& options) : context_(c), options_(options) {}

  Result<std::vector<BenchRow>> run() {
    if (!redis_) context_.note("redis-server is not installed: nothing is measured against Redis");
    if (!postgres_) context_.note("PostgreSQL is not installed: nothing is measured against it");
    SOUK_TRY(count());
    SOUK_TRY(compare_stores());
    for (const std::size_t workers : {1, 4, 8}) SOUK_TRY(transfer(workers));
    if (redis_) SOUK_TRY(redis_pattern());
    SOUK_TRY(codecs());
    return std::move(rows_);
  }

 private:
  [[nodiscard]] int rounds(int few, int many) const { return options_.full ? many : few; }

  // B3.
  Result<> count();
  Result<> count_in(const std::string& url, std::string what, std::int64_t each);
  // Fold latency.
  Result<> compare_stores();
  Result<double> fold_ms(const std::string& url, int times);
  // B2.
  Result<> transfer(std::size_t workers);
  Result<> redis_pattern();
  Result<> codecs();

  Context& context_;
  const HubBenchOptions options_;
  const std::optional<base::testing::Database> redis_ = base::testing::start_redis();
  const std::optional<base::testing::Database> postgres_ = base::testing::start_postgres(true);
  std::vector<BenchRow> rows_;
  double push_ms_ = 0, pull_ms_ = 0;  // Of one worker and a hub.
};

Result<> HubBench::count() {
  if (redis_) {
    SOUK_TRY(count_in(redis_->url, "redis strict", rounds(250, 2'500)));
    SOUK_TRY(
        count_in(redis_->url + "?mode=eventual", "redis GET/SET (control)", rounds(250, 2'500)));
  }
  if (postgres_) SOUK_TRY(count_in(postgres_->url, "postgresql", rounds(50, 500)));
  return {};
}

// Every contribution adds 1 to every number: what is there at the end says how many arrived.
Result<> HubBench::count_in(const std::string& url, std::string what, std::int64_t each) {
  constexpr std::size_t hubs = 4, size = 1'000;
  const auto rule = *train::make_aggregator({.name = "downpour", .params = {{"eta", 1}}});
  const auto codec = *train::make_codec("fp32");
  const auto body = train::pack(std::vector<float>(size, 1), *codec, {});
  SOUK_ASSIGN(const auto store, hub::make_store(url, "count"));
  SOUK_TRY(store->load({.values = train::blocks_of(std::vector<float>(size))}));
  std::atomic<std::int64_t> refused = 0;
  const auto seconds = together(hubs, [&](std::size_t h) {
    const auto mine = *hub::make_store(url, "count");
    for (std::int64_t i = 1; i <= each; ++i) {
      std::vector<hub::Contribution> one(1);
      one[0].id = static_cast<std::int64_t>(h) * each + i;
      one[0].update = *train::Update::read(body, *codec, size);
      if (!mine->fold(*rule, one)) ++refused;
    }
  });
  SOUK_ASSIGN(const auto taken, store->take());
  const auto kept = static_cast<double>((*taken.blocks[0])[0]);
  const auto sent = static_cast<double>(hubs * static_cast<std::size_t>(each));
  rows_.push_back({.bench = "B3",
                   .name = fmt::format("{}, {} hubs, {:.0f} folds/s", what, hubs, sent / seconds),
                   .what = "increments kept / sent",
                   .unit = "folds",
                   .result = kept,
                   .baseline = sent,
                   .ratio = kept / sent});
  if (refused > 0) return failed(fmt::format("{} folds were refused by {}", refused.load(), what));
  return {};
}

Result<> HubBench::compare_stores() {
  SOUK_ASSIGN(const auto memory, fold_ms("memory", rounds(10, 50)));
  const auto add = [&](std::string what, double ms) {
    rows_.push_back({.bench = "B2",
                     .name = std::move(what),
                     .what = "fold of 19.9 MB / in memory",
                     .unit = "ms",
                     .result = ms,
                     .baseline = memory,
                     .ratio = memory / ms});
  };
  add("memory", memory);
  if (redis_) {
    SOUK_ASSIGN(const auto strict, fold_ms(redis_->url, rounds(10, 50)));
    add("redis strict", strict);
    SOUK_ASSIGN(const auto eventual, fold_ms(redis_->url + "?mode=eventual", rounds(10, 50)));
    add("redis eventual", eventual);
  }
  if (postgres_) {
    SOUK_ASSIGN(const auto durable, fold_ms(postgres_->url, rounds(5, 20)));
    add("postgresql, durable", durable);
  }
  return {};
}

// The median of folding one update into a store that only we write to.
Result<double> HubBench::fold_ms(const std::string& url, int times) {
  const auto rule = *train::make_aggregator({.name = "downpour", .params = {{"eta", 0.1}}});
  const auto codec = *train::make_codec("fp32");
  const auto update = *train::Update::read(fp32_update(), *codec, kFloats);
  SOUK_ASSIGN(const auto store, hub::make_store(url, "fold"));
  SOUK_TRY(store->load({.values = train::blocks_of(std::vector<float>(kFloats))}));
  std::vector<double> ms;
  for (int i = 0; i <= times; ++i) {
    std::vector<hub::Contribution> one(1);
    one[0].id = i + 1;
    one[0].update = update;
    const auto from = Clock::now();
    SOUK_TRY(store->fold(*rule, one));
    if (i > 0) ms.push_back(seconds_since(from) * 1e3);  // The first one touches the pages.
  }
  return quantile(ms, 0.5);
}

Result<> HubBench::transfer(std::size_t workers) {
  SOUK_ASSIGN(const auto bench, Transfer::make(workers));
  const int turns = rounds(workers > 1 ? 8 : 15, 60);
  if (!bench->run(turns)) return failed("a transfer of the benchmark failed");
  const auto name = fmt::format("{} worker{}", workers, workers > 1 ? "s" : "");
  const auto per_gb = [&](const Way& w) { return w.cpu / (bench->bytes() * turns) * 1e9; };
  const Way* raw = nullptr;
  for (const auto& way : bench->ways()) {  // Each after the raw one of its direction.
    if (way.raw) {
      raw = &way;
      continue;
    }
    const auto ms = quantile(way.seconds, 0.5) * 1e3;
    if (workers == 1 && way.what == "push and fold, hub") push_ms_ = ms;
    if (workers == 1 && way.what == "pull, hub") pull_ms_ = ms;
    rows_.push_back({.bench = "B2",
                     .name = name,
                     .what = way.what + " / raw TCP",
                     .unit = "ms",
                     .result = ms,
                     .baseline = quantile(raw->seconds, 0.5) * 1e3,
                     .ratio = quantile(way.ratios, 0.5),
                     .low = quantile(way.ratios, 0.25),
                     .high = quantile(way.ratios, 0.75)});
    rows_.push_back({.bench = "B2",
                     .name = name,
                     .what = way.what + " / raw TCP",
                     .unit = "cpu s/GB",
                     .result = per_gb(way),
                     .baseline = per_gb(*raw),
                     .ratio = per_gb(*raw) / per_gb(way)});
  }
  return {};
}

// As parameter servers on Redis do it: the whole model is one value.
Result<> HubBench::redis_pattern() {
  SOUK_ASSIGN(auto address, hub::parse_redis_url(redis_->url));
  hub::Redis redis(std::move(address));
  const auto update = changes(kFloats);
  std::vector<float> model(kFloats);
  const std::string_view bytes(reinterpret_cast<const char*>(model.data()),
                               model.size() * sizeof(float));
  const auto set = [&] {
    return redis.call(hub::RedisCommand{"SET", "model"}.add_pieces({{bytes}}));
  };
  SOUK_TRY(set());
  std::vector<double> ms;
  for (int i = 0; i < rounds(10, 50); ++i) {
    const auto from = Clock::now();
    SOUK_ASSIGN(const auto got, redis.call({"GET", "model"}));
    if (got.text.size() != bytes.size()) return failed("Redis lost the model");
    const auto* w = reinterpret_cast<const float*>(got.text.data());
    for (std::size_t k = 0; k < kFloats; ++k) model[k] = w[k] + 0.1F * (update[k] - w[k]);
    SOUK_TRY(set());
    ms.push_back(seconds_since(from) * 1e3);
  }
  const auto pattern = quantile(ms, 0.5);
  const auto add = [&](std::string what, double hub_ms) {
    rows_.push_back({.bench = "B2",
                     .name = "1 worker",
                     .what = std::move(what),
                     .unit = "ms",
                     .result = hub_ms,
                     .baseline = pattern,
                     .ratio = pattern / hub_ms});
  };
  add("push and fold, hub / Redis GET, lerp, SET", push_ms_);
  add("push, fold, pull, hub / Redis GET, lerp, SET", push_ms_ + pull_ms_);
  return {};
}

// Passes on what a client sends at kLinkBits, and answers at once.
void relay(int from, std::uint16_t port) {
  const auto to = connected(port);
  std::jthread back([&] {
    std::array<char, 4096> buffer;
    for (ssize_t n = 0; (n = ::recv(to.get(), buffer.data(), buffer.size(), 0)) > 0;)
      if (!send_all(from, {buffer.data(), static_cast<std::size_t>(n)})) return;
  });
  std::array<char, 16 * 1024> buffer;
  auto due = Clock::now();
  for (ssize_t n = 0; (n = ::recv(from, buffer.data(), buffer.size(), 0)) > 0;) {
    const std::chrono::duration<double> takes(static_cast<double>(n) * 8 / kLinkBits);
    due = std::max(due, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
    std::this_thread::sleep_until(due);
    if (!send_all(to.get(), {buffer.data(), static_cast<std::size_t>(n)})) break;
  }
  ::shutdown(to.get(), SHUT_RDWR);
}

Result<> HubBench::codecs() {
  SOUK_ASSIGN(const auto service, hub::Service::start({.store = "memory", .secret = kSecret}));
  const Listener link([&](int fd) { relay(fd, service->port()); });
  SOUK_ASSIGN(auto direct,
              net::Client::make({.base_url = fmt::format("http://127.0.0.1:{}", service->port())}));
  SOUK_ASSIGN(auto slow,
              net::Client::make({.base_url = fmt::format("http://127.0.0.1:{}", link.port())}));
  const net::Headers secret{{"Authorization", "Bearer " + kSecret}};
  const std::vector<float> zeros(kFloats);
  SOUK_TRY(
      direct.send("PUT", "/v1/hub/b2/parameters?rule=downpour", secret,
                  {reinterpret_cast<const char*>(zeros.data()), zeros.size() * sizeof(float)}));
  const auto values = changes(kFloats);
  std::optional<double> plain;
  std::int64_t id = 0;
  for (const std::string name : {"fp32", "fp16", "int8", "top-k:0.01", "sparse2"}) {
    SOUK_ASSIGN(const auto codec, train::make_codec(name));
    std::vector<float> residual(codec->keeps_residual() ? kFloats : 0);
    const auto body = train::pack(values, *codec, residual);
    const auto bytes = static_cast<double>(body.size());
    const auto computed = kLinkBits / 8 / bytes;
    plain = plain.value_or(computed);
    const auto row = fmt::format("20 Mbit link, {}, {:.2f} MB", name, bytes * 1e-6);
    rows_.push_back({.bench = "B2",
                     .name = row,
                     .what = "computed / fp32",
                     .unit = "updates/s",
                     .result = computed,
                     .baseline = plain,
                     .ratio = computed / *plain});
    if (!options_.full && computed < 0.4) continue;  // Would take too long to watch.
    const int times = computed > 2 ? 5 : 1;
    const auto from = Clock::now();
    for (int i = 0; i < times; ++i) {
      SOUK_ASSIGN(
          const auto answer,
          slow.send("POST",
                    fmt::format("/v1/hub/b2/fold?id={}&base=0&rule=downpour&codec={}", ++id, name),
                    secret, body));
      if (answer.status != 200) return failed("the hub refused an update: " + answer.body);
    }
    const auto measured = times / seconds_since(from);
    rows_.push_back({.bench = "B2",
                     .name = row,
                     .what = "pushed and folded / computed",
                     .unit = "updates/s",
                     .result = measured,
                     .baseline = computed,
                     .ratio = measured / computed});
  }
  return {};
}

}  // namespace

Command bench_hub_command() {
  auto o = std::make_shared<HubBenchOptions>();
  Command out{.name = "hub",
              .summary = "what folding, storing and moving parameters costs on this computer",
              .examples = {"bench hub", "bench hub --full --json"}};
  out.common = Common::local;
  out.options = {flag("--full", "more rounds, and slow links at their own pace", o->full)};
  out.details =
      "Starts a Redis and a PostgreSQL of its own on loopback, where they are installed. A ratio "
      "of 1 is as good as the baseline; both sides take turns in one run.";
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(const auto rows, HubBench(c, *o).run());
    return show_bench(c, rows);
  };
  return out;
}

}  // namespace souk::cli
