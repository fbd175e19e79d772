#include "agent/coach.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/remote.h"
#include "base/check.h"
#include "blob/folder.h"
#include "blob/transfer.h"
#include "train/pull.h"
#include "train/update.h"
#include "wire/api_json.h"

namespace souk::agent {
namespace {

using base::Code;
using base::Duration;
using base::fail;
using base::Result;

constexpr std::size_t kPiece = 4 << 20;
constexpr auto kFirstPause = std::chrono::milliseconds(50);
constexpr auto kLongestPause = std::chrono::milliseconds(1000);
constexpr auto kToInit = base::minutes(2);
constexpr auto kLongestUnit = base::hours(6);
constexpr const char* kBase = "base.safetensors";
constexpr const char* kChecked = "checked.safetensors";
constexpr const char* kUpdate = "update.safetensors";

// Units that this machine cannot do are somebody else's; after so many in a row it leaves.
constexpr int kMostFailures = 3;

std::string request(std::string_view op, const std::map<std::string, std::string>& fields) {
  std::string out = fmt::format(R"({{"op":"{}")", op);
  for (const auto& [name, value] : fields) out += fmt::format(R"(,"{}":{})", name, value);
  return out + "}";
}

std::string quoted(std::string_view text) { return wire::to_json(std::string(text)); }

}  // namespace

Coach::Coach(CoachOptions options, base::Fd socket)
    : options_(std::move(options)),
      hubs_(options_.lease.job, options_.link, *options_.clock, options_.say),
      trainer_(
          std::move(socket), options_.folder, [this] { return ended_.load(); },
          [this] { return draining_.load(); }),
      thread_([this] { run(); }) {}

Coach::~Coach() {
  ended_ = true;
  thread_.join();
}

std::string Coach::failure() const {
  CHECK(finished_);
  return failure_;
}

std::string Coach::path(std::string_view rest) const {
  return fmt::format("/v1/leases/{}/{}", to_string(options_.lease.id), rest);
}

void Coach::run() {
  if (const auto done = work(); !done && !ended_) {
    failure_ = done.error().message;
    options_.say(failure_);
  }
  trainer_.bye();
  finished_ = true;
}

void Coach::lap(Duration wire::TimeSpent::* what) {
  const auto now = options_.clock->now();
  spent_.*what = spent_.*what + (now - lap_);
  lap_ = now;
}

Result<> Coach::work() {
  SOUK_ASSIGN(link_, Link::make(options_.link));
  options_.doing("starting the trainer");
  const auto& batch = options_.lease.task->batch;
  auto config = batch.train->config;
  config.try_emplace("threads", std::to_string(options_.lease.task->cores));
  SOUK_ASSIGN(const auto hello, trainer_.hello(config));
  options_.say(fmt::format("{} on {} ({}): {} parameters", hello.name, hello.device,
                           hello.framework, trainer_.size()));
  values_.resize(trainer_.size());
  SOUK_ASSIGN(codec_, train::make_codec(batch.train->codec));
  if (codec_->keeps_residual()) residual_.resize(values_.size());
  lap_ = options_.clock->now();  // Starting is no part of the work.
  for (int failures = 0; !draining_ && !ended_;) {
    SOUK_ASSIGN(const auto unit, next());
    if (unit.kind == base::UnitKind::finish) return {};
    if (unit.kind == base::UnitKind::wait) {
      options_.doing("waiting for work");
      std::this_thread::sleep_for(std::chrono::microseconds(unit.wait.us));
      lap(&wire::TimeSpent::waiting);
      continue;
    }
    const auto done = unit.kind == base::UnitKind::init       ? init(unit)
                      : unit.kind == base::UnitKind::evaluate ? evaluate(unit)
                                                              : train(unit);
    if (done) {
      failures = 0;
      continue;
    }
    if (ended_) return {};
    options_.say(fmt::format("{}: {}", to_string(unit.kind), done.error().message));
    // Whoever gets it next should not wait for the deadline.
    (void)report(unit, {.error = done.error().message.substr(0, 500)}, {});
    if (++failures == kMostFailures) return done;
  }
  return {};
}

Result<wire::Unit> Coach::next() {
  wire::UnitAsk ask{.epoch = options_.lease.epoch};
  for (const auto& [name, size] : shards_) ask.holds.push_back(name);
  ask.spent = std::exchange(spent_, {});
  SOUK_ASSIGN(const auto answer, link_->insist(path("units"), wire::to_json(ask), options_.grace,
                                               [this] { return ended_ || draining_; }));
  lap(&wire::TimeSpent::download);
  return wire::from_json<wire::Unit>(answer);
}

// The shard's file in the trainer's folder.
Result<std::string> Coach::shard(const std::string& name) {
  const auto file = "shard-" + name.substr(0, 24);
  const auto known = std::ranges::find(shards_, name, &std::pair<std::string, std::int64_t>::first);
  if (known != shards_.end()) {
    std::rotate(known, known + 1, shards_.end());
    return file;
  }
  options_.doing("fetching data");
  SOUK_ASSIGN(const auto root, blob::parse_digest(name));
  SOUK_ASSIGN(auto got, blob::download(root, *options_.store, blobs_at(options_.link)));
  options_.moved(static_cast<std::int64_t>(got.stats.bytes_moved), 0);
  if (got.manifest.entries.size() != 1) return fail(Code::invalid, "a shard is one file");
  const auto size = static_cast<std::int64_t>(got.manifest.entries[0].size);
  const auto held = [&] {
    std::int64_t sum = size;
    for (const auto& [_, bytes] : shards_) sum += bytes;
    return sum;
  };
  while (!shards_.empty() && held() > options_.shard_bytes) {
    trainer_.remove("shard-" + shards_.front().first.substr(0, 24));
    shards_.erase(shards_.begin());
  }
  SOUK_ASSIGN(const auto bytes,
              blob::read_file(got.manifest, got.manifest.entries[0].path, *options_.store));
  SOUK_TRY(trainer_.write_bytes(file, bytes));
  shards_.emplace_back(name, size);
  return file;
}

// A market that cannot be reached is waited for, as long as there is grace.
template <class Call>
Result<std::string> Coach::patiently(const Call& call) {
  const auto deadline = options_.clock->now() + options_.grace;
  for (auto pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    auto answer = call();
    if (answer || answer.error().code != Code::unavailable || ended_ ||
        options_.clock->now() > deadline)
      return answer;
    std::this_thread::sleep_for(pause);
  }
}

Result<std::string> Coach::fetch(const wire::Unit& unit, std::int64_t since) {
  if (unit.hub)
    if (auto bytes = hubs_.call(*unit.hub, "GET", fmt::format("parameters?since={}", since)))
      return *std::move(bytes);
  auto query = fmt::format("parameters?epoch={}", options_.lease.epoch);
  if (since >= 0) query += fmt::format("&since={}", since);
  return patiently([&] { return link_->get(path(query)); });
}

Result<> Coach::pull(const wire::Unit& unit) {
  options_.doing("pulling parameters");
  SOUK_ASSIGN(const auto bytes, fetch(unit, version_));
  options_.moved(std::ssize(bytes), 0);
  SOUK_ASSIGN(const auto version, train::unpack_changed(bytes, values_));
  // A hub that lost its latest versions in a crash has gone back: nothing that we have is of use.
  if (version < version_) {
    version_ = -1;
    return pull(unit);
  }
  version_ = version;
  return {};
}

// What is under check, beside the parameters that we have.
Result<std::vector<float>> Coach::pull_exactly(std::int64_t version) {
  options_.doing("pulling parameters");
  SOUK_ASSIGN(const auto bytes, patiently([&] {
                return link_->get(path(
                    fmt::format("parameters?epoch={}&version={}", options_.lease.epoch, version)));
              }));
  options_.moved(std::ssize(bytes), 0);
  std::vector<float> values(values_.size());
  SOUK_TRY(train::unpack_changed(bytes, values));
  return values;
}

bool Coach::push_to_hub(const wire::Unit& unit, std::string_view body) {
  if (!unit.hub || body.empty()) return false;
  return hubs_.push(*unit.hub, body, [this](std::size_t bytes) {
    options_.moved(0, static_cast<std::int64_t>(bytes));
  });
}

// True: accepted. What it was refused for is in the log.
Result<bool> Coach::report(const wire::Unit& unit, wire::UnitDone done, std::string_view body) {
  options_.doing("pushing an update");
  done.epoch = options_.lease.epoch;
  const auto where = path(fmt::format("units/{}", unit.id));
  if (push_to_hub(unit, body)) body = {};
  for (std::size_t at = 0; at < body.size();) {
    const auto piece = body.substr(at, kPiece);
    SOUK_ASSIGN(const auto answer, patiently([&] {
                  return link_->put(fmt::format("{}?epoch={}&offset={}", where, done.epoch, at),
                                    piece);
                }));
    SOUK_ASSIGN(const auto size, wire::from_json<wire::LogSize>(answer));
    at = static_cast<std::size_t>(size.size);
    options_.moved(0, std::ssize(piece));
  }
  SOUK_ASSIGN(const auto answer, link_->insist(where, wire::to_json(done), options_.grace,
                                               [this] { return ended_.load(); }));
  SOUK_ASSIGN(const auto verdict, wire::from_json<wire::UnitVerdict>(answer));
  if (!verdict.accepted && !done.error)
    options_.say(fmt::format("unit {} was not accepted: {}", unit.id, verdict.reason));
  return verdict.accepted;
}

Result<> Coach::init(const wire::Unit& unit) {
  options_.doing("making the first parameters");
  SOUK_TRY(trainer_.ask(
      request("init", {{"seed", std::to_string(unit.seed)}, {"out", quoted("init.safetensors")}}),
      kToInit));
  SOUK_ASSIGN(const auto values, trainer_.read("init.safetensors"));
  SOUK_ASSIGN(const auto fp32, train::make_codec("fp32"));
  SOUK_TRY(report(unit, {.tensors = trainer_.tensors()}, train::pack(values, *fp32, {})));
  lap(&wire::TimeSpent::prepare);
  return {};
}

Result<> Coach::train(const wire::Unit& unit) {
  SOUK_ASSIGN(const auto file, shard(unit.shard));
  lap(&wire::TimeSpent::fetch);
  auto base = unit.version;
  if (base > 0) {  // Somebody's work is checked: from what that began with.
    SOUK_ASSIGN(const auto values, pull_exactly(base));
    lap(&wire::TimeSpent::download);
    SOUK_TRY(trainer_.write(kBase, values));
  } else {
    SOUK_TRY(pull(unit));
    lap(&wire::TimeSpent::download);
    base = version_;
    SOUK_TRY(trainer_.write(kBase, values_));
  }
  lap(&wire::TimeSpent::prepare);
  options_.doing(fmt::format("training, epoch {}", unit.pass));
  SOUK_ASSIGN(const auto answer,
              trainer_.ask(request("train", {{"base", quoted(kBase)},
                                             {"shard", quoted(file)},
                                             {"out", quoted(kUpdate)},
                                             {"send", quoted(to_string(unit.send))},
                                             {"first_step", std::to_string(unit.first_step)},
                                             {"steps", std::to_string(unit.steps)},
                                             {"batch", std::to_string(unit.batch)},
                                             {"lr", fmt::format("{}", unit.lr)},
                                             {"seed", std::to_string(unit.seed)}}),
                           kLongestUnit));
  lap(&wire::TimeSpent::compute);
  if (answer.steps == 0) return {};  // Told to stop before the first: nothing to hand back.
  SOUK_ASSIGN(const auto values, trainer_.read_update(kUpdate, unit.state_scale));
  auto residual = residual_;
  const auto body = train::pack(values, *codec_, residual);
  lap(&wire::TimeSpent::prepare);
  SOUK_ASSIGN(
      const bool accepted,
      report(unit,
             {.base = base, .steps = answer.steps, .samples = answer.samples, .loss = answer.loss},
             body));
  lap(&wire::TimeSpent::upload);
  // What the codec left out is only owed if the rest arrived.
  if (accepted) residual_ = std::move(residual);
  return {};
}

Result<> Coach::evaluate(const wire::Unit& unit) {
  SOUK_ASSIGN(const auto file, shard(unit.shard));
  lap(&wire::TimeSpent::fetch);
  SOUK_ASSIGN(const auto values, pull_exactly(unit.version));
  lap(&wire::TimeSpent::download);
  SOUK_TRY(trainer_.write(kChecked, values));
  lap(&wire::TimeSpent::prepare);
  options_.doing(fmt::format("checking, epoch {}", unit.pass));
  SOUK_ASSIGN(
      const auto answer,
      trainer_.ask(request("evaluate",
                           {{"base", quoted(kChecked)}, {"shard", quoted(file)}, {"batch", "256"}}),
                   kLongestUnit));
  lap(&wire::TimeSpent::checking);
  trainer_.remove(kChecked);
  if (draining_) return {};  // It may be of a part only.
  SOUK_TRY(report(unit, {.samples = answer.samples, .loss = answer.loss, .metrics = answer.metrics},
                  {}));
  lap(&wire::TimeSpent::upload);
  return {};
}

}  // namespace souk::agent
