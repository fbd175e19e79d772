#include "agent/coach.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/remote.h"
#include "base/check.h"
#include "base/containment.h"
#include "blob/folder.h"
#include "blob/transfer.h"
#include "train/pull.h"
#include "train/update.h"
#include "wire/api/log.h"
#include "wire/json.h"

namespace souk::agent {
namespace {

using base::Code;
using base::Duration;
using base::fail;
using base::Result;

constexpr std::size_t kReadAtOnce = 4 << 20;
constexpr auto kFirstPause = std::chrono::milliseconds(50);
constexpr auto kLongestPause = std::chrono::milliseconds(1000);
constexpr auto kToInit = base::minutes(10);
constexpr auto kLongestUnit = base::hours(6);
constexpr auto kToGiveBack = base::seconds(5);
constexpr std::int64_t kLeastMemoryMib = 64, kMostMemoryMib = std::int64_t{1} << 20;
constexpr auto kGlance = std::chrono::microseconds(20'000);  // Is it still wanted?
constexpr const char* kInit = "init.safetensors";
// Of two units in turn: the files of one are written while the trainer works with the other's.
constexpr const char* kBases[] = {"base-0.safetensors", "base-1.safetensors"};
constexpr const char* kUpdates[] = {"update-0.safetensors", "update-1.safetensors"};
constexpr const char* kKept = "job";  // The name of the optimiser's state: there is one job.
// Units that this machine cannot do are somebody else's; after so many in a row it leaves.
constexpr int kMostFailures = 3;

std::string request(std::string_view op, const std::map<std::string, std::string>& fields) {
  std::string out = fmt::format(R"({{"op":"{}")", op);
  for (const auto& [name, value] : fields) out += fmt::format(R"(,"{}":{})", name, value);
  return out + "}";
}

// What a coach keeps for a model lies outside of the trainer's control group, and is no more than
// the lease has memory. Of a large model that is an update and what the codec left out; of others
// also the parameters, the update's bytes, and what is pulled: so many copies.
constexpr std::size_t kCopies = 6, kCopiesOfLarge = 2;

std::size_t most_floats(const wire::Lease& lease, std::size_t copies) {
  const auto memory =
      std::max<std::int64_t>(lease.task ? lease.task->memory_mib : 0, kLeastMemoryMib);
  return (static_cast<std::size_t>(std::min(memory, kMostMemoryMib)) << 20) /
         (copies * sizeof(float));
}

std::string quoted(std::string_view text) { return wire::to_json(std::string(text)); }

}  // namespace

Coach::Coach(CoachOptions options, base::Fd socket)
    : options_(std::move(options)),
      down_(Link::make(options_.link)),
      up_(Link::make(options_.link)),
      hubs_(options_.lease.job, options_.link, *options_.clock, options_.say),
      trainer_(std::move(socket), options_.folder, most_floats(options_.lease, kCopiesOfLarge),
               give_up_, [this] { return draining_.load(); }),
      large_over_(std::min(train::kMostPackedWhole, most_floats(options_.lease, kCopies))),
      thread_([this] { run(); }) {}

Coach::~Coach() {
  ended_ = true;
  if (up_) up_->cancel();
  drain();
  thread_.join();
}

void Coach::drain() {
  draining_ = true;
  if (down_) down_->cancel();
  hubs_.cancel_pulls();
}

std::string Coach::failure() const {
  CHECK(finished_);
  return failure_;
}

std::string Coach::path(std::string_view rest) const {
  return fmt::format("/v1/leases/{}/{}", to_string(options_.lease.id), rest);
}

void Coach::run() {
  if (const auto done = base::contained([this] { return work(); }); !done && !ended_) {
    failure_ = done.error().message;
    options_.say(failure_);
  }
  if (busy_ && busy_->answer.valid()) {
    leaving_ = true;
    busy_->answer.wait();
    leaving_ = false;
  }
  trainer_.bye();
  finished_ = true;
}

void Coach::lap(Duration wire::TimeSpent::* what) {
  const auto now = options_.clock->now();
  auto idle = now - lap_;
  if (busy_) {
    const auto from = std::max(lap_, busy_->began), to = std::min(now, busy_->ended.load());
    if (from < to) idle = idle - (to - from);
  }
  spent_.*what = spent_.*what + idle;
  lap_ = now;
}

void Coach::doing(std::string text) {
  if (!busy_) options_.doing(std::move(text));
}

Result<> Coach::start() {
  if (!down_) return std::unexpected(down_.error());
  if (!up_) return std::unexpected(up_.error());
  options_.doing("starting the trainer");
  const auto& batch = options_.lease.task->batch;
  auto config = batch.train->config;
  config.try_emplace("threads", std::to_string(options_.lease.task->cores));
  SOUK_ASSIGN(const auto hello, trainer_.hello(config));
  options_.say(fmt::format("{} on {} ({}): {} parameters", hello.name, hello.device,
                           hello.framework, trainer_.size()));
  if (!large()) values_.resize(trainer_.size());
  lap_ = options_.clock->now();  // Starting is no part of the work.
  return {};
}

// Sending comes before fetching: so what is fetched contains what was sent, and the market has at
// most two units with this worker.
Result<> Coach::work() {
  SOUK_TRY(start());
  while (!ended_) {
    if (done_ && !done_->answer) hand_in();  // Before the trainer gets more.
    if (next_ && !busy_ && more_ && !draining_) {
      if (done_) SOUK_TRY(go_on_from(*done_, *next_));
      begin(*std::exchange(next_, std::nullopt));
    }
    if (done_) hand_in();
    const bool asks = !next_ && more_ && !draining_;
    if (asks && kSteadyClock.now() >= ask_at_) {
      take_next();
    } else if (busy_) {
      await_trainer(asks ? ask_at_ : base::kNever);
    } else if (asks) {
      rest();
    } else if (!next_ || !more_ || draining_) {
      break;
    }
  }
  if (next_) give_back(next_->unit);
  if (error_) return std::unexpected(*error_);
  return {};
}

void Coach::begin(Task task) {
  options_.doing(task.unit.kind == base::UnitKind::init ? "making the first parameters"
                 : task.unit.kind == base::UnitKind::evaluate
                     ? fmt::format("checking, epoch {}", task.unit.pass)
                     : fmt::format("training, epoch {}", task.unit.pass));
  busy_ = std::make_unique<Computing>(std::move(task), options_.clock->now());
  busy_->answer = std::async(std::launch::async, [this, &busy = *busy_] {
    auto answer =
        base::contained([&] { return trainer_.ask(busy.task.request, busy.task.patience); });
    busy.ended = options_.clock->now();
    return answer;
  });
  const auto& unit = busy_->task.unit;
  ask_at_ = unit.kind == base::UnitKind::train ? ahead_.ask_at(kSteadyClock.now(), unit.steps)
                                               : base::Time();
}

// Until the trainer has answered, or it is time to ask for another unit.
void Coach::await_trainer(base::Time until) {
  auto& answer = busy_->answer;
  if (until == base::kNever)
    answer.wait();
  else if (answer.wait_for(std::chrono::microseconds((until - kSteadyClock.now()).us)) !=
           std::future_status::ready)
    return;
  lap(&wire::TimeSpent::prepare);
  const auto busy = std::move(busy_);
  const auto kind = busy->task.unit.kind;
  const auto what = kind == base::UnitKind::init       ? &wire::TimeSpent::prepare
                    : kind == base::UnitKind::evaluate ? &wire::TimeSpent::checking
                                                       : &wire::TimeSpent::compute;
  const auto took = busy->ended.load() - busy->began;
  spent_.*what = spent_.*what + took;
  if (kind == base::UnitKind::train) ahead_.computed(busy->task.unit.steps, took);
  done_.emplace(std::move(busy->task), busy->answer.get());
  ask_at_ = {};
}

void Coach::rest() {
  doing("waiting for work");
  for (auto left = ask_at_ - kSteadyClock.now(); left > Duration() && !no_more_();
       left = ask_at_ - kSteadyClock.now())
    std::this_thread::sleep_for(std::min(kGlance, std::chrono::microseconds(left.us)));
  lap(&wire::TimeSpent::waiting);
}

void Coach::take_next() {
  const auto began = kSteadyClock.now();
  const auto unit = ask();
  if (!unit) {
    if (draining_) return leave({});
    closed_ = unit.error().code == Code::conflict;
    if (!busy_ || closed_) return leave(unit.error());
    ask_at_ = base::kNever;  // What is under way can perhaps still be handed in. Then again.
    return;
  }
  if (unit->kind == base::UnitKind::finish) return leave({});
  if (unit->kind == base::UnitKind::wait) {
    ask_at_ = kSteadyClock.now() + unit->wait;
    return;
  }
  auto task = unit->kind == base::UnitKind::init       ? init(*unit)
              : unit->kind == base::UnitKind::evaluate ? evaluate(*unit)
                                                       : train(*unit);
  if (task) {
    if (unit->kind == base::UnitKind::train) ahead_.fetched(kSteadyClock.now() - began);
    next_ = *std::move(task);
  } else if (draining_)
    next_ = Task{.unit = *unit};  // To be given back.
  else
    failed(*unit, task.error());
}

void Coach::hand_in() {
  const auto [task, answer] = *std::exchange(done_, std::nullopt);
  if (closed_) return;
  const auto began = kSteadyClock.now();
  const auto handed = [&]() -> Result<> {
    if (!answer) return std::unexpected(answer.error());
    if (task.unit.kind == base::UnitKind::init) return initialised(task);
    return task.unit.kind == base::UnitKind::evaluate ? evaluated(task, *answer)
                                                      : trained(task, *answer);
  }();
  if (handed) {
    failures_ = 0;
    if (task.unit.kind == base::UnitKind::train) ahead_.handed_in(kSteadyClock.now() - began);
  } else if (!ended_) {
    failed(task.unit, handed.error());
  }
}

void Coach::failed(const wire::Unit& unit, const base::Error& error) {
  options_.say(fmt::format("{}: {}", to_string(unit.kind), error.message));
  // It was given to somebody else, who was faster, or its round is over: no fault of this machine.
  if (error.code == Code::conflict) return;
  // Whoever gets it next should not wait for the deadline.
  (void)report(unit, {.error = error.message.substr(0, 500)});
  if (++failures_ == kMostFailures) leave(error);
}

// What is not begun goes to another. If the market does not hear of it, that happens when the lease
// ends.
void Coach::give_back(const wire::Unit& unit) {
  (void)up_->insist(path(fmt::format("units/{}", unit.id)),
                    wire::to_json(wire::UnitDone{.epoch = options_.lease.epoch}),
                    std::min(options_.grace, kToGiveBack), give_up_);
}

// After what is under way.
void Coach::leave(std::optional<base::Error> error) {
  more_ = false;
  if (!error_) error_ = std::move(error);
}

Result<wire::Unit> Coach::ask() {
  wire::UnitAsk ask{.epoch = options_.lease.epoch};
  for (const auto& [name, size] : shards_) ask.holds.push_back(name);
  ask.spent = std::exchange(spent_, {});
  if (busy_) ask.keeps = busy_->task.unit.id;
  SOUK_ASSIGN(const auto answer,
              up_->insist(path("units"), wire::to_json(ask), options_.grace, no_more_));
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
  doing("fetching data");
  SOUK_ASSIGN(const auto root, blob::parse_digest(name));
  SOUK_ASSIGN(
      auto got,
      blob::download(root, *options_.store,
                     blobs_at(options_.link, "lease=" + to_string(options_.lease.id), no_more_)));
  options_.moved(static_cast<std::int64_t>(got.stats.bytes_moved), 0);
  if (got.manifest.entries.size() != 1) return fail(Code::invalid, "a shard is one file");
  const auto most = static_cast<std::uint64_t>(options_.shard_bytes);
  if (got.manifest.entries[0].size > most)
    return fail(Code::too_large, fmt::format("a shard of {} bytes", got.manifest.entries[0].size),
                fmt::format("this machine takes shards of {} bytes", options_.shard_bytes));
  const auto size = static_cast<std::int64_t>(got.manifest.entries[0].size);
  make_room(size);
  SOUK_ASSIGN(const auto bytes,
              blob::read_file(got.manifest, got.manifest.entries[0].path, *options_.store, most));
  SOUK_TRY(trainer_.write_bytes(file, bytes));
  shards_.emplace_back(name, size);
  return file;
}

// The oldest shards go. One that the trainer works with goes when it has answered.
void Coach::make_room(std::int64_t bytes) {
  const auto used = [&] {
    std::int64_t sum = bytes;
    for (const auto& [_, size] : shards_) sum += size;
    return sum;
  };
  while (!shards_.empty() && used() > options_.shard_bytes) {
    auto oldest = std::ranges::find_if(
        shards_, [&](const auto& s) { return !busy_ || s.first != busy_->task.unit.shard; });
    if (oldest == shards_.end()) {
      busy_->answer.wait();
      oldest = shards_.begin();
    }
    trainer_.remove("shard-" + oldest->first.substr(0, 24));
    shards_.erase(oldest);
  }
}

// A market that cannot be reached is waited for, as long as there is grace.
Result<std::string> Coach::patiently(const std::function<Result<std::string>()>& call,
                                     const std::function<bool()>& give_up) {
  const auto deadline = options_.clock->now() + options_.grace;
  for (auto pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    auto answer = call();
    if (answer || answer.error().code != Code::unavailable || give_up() ||
        options_.clock->now() > deadline)
      return answer;
    std::this_thread::sleep_for(pause);
  }
}

train::Packing Coach::Outgoing::packing() const { return {values, codec, residual, kReadAtOnce}; }

bool Coach::push_to_hub(const wire::Unit& unit, const Outgoing& update) {
  if (!unit.hub) return false;
  return hubs_.push(*unit.hub, update.packing(), [this](std::size_t bytes) {
    options_.moved(0, static_cast<std::int64_t>(bytes));
  });
}

Result<std::int64_t> Coach::push_to_market(const std::string& where, const Outgoing& update) {
  auto packing = update.packing();
  std::size_t at = 0;
  for (auto piece = packing.next(); !piece.empty(); piece = packing.next()) {
    const auto to = fmt::format("{}?epoch={}&offset={}", where, options_.lease.epoch, at);
    SOUK_ASSIGN(const auto answer, patiently([&] { return up_->put(to, piece); }, give_up_));
    SOUK_ASSIGN(const auto size, wire::from_json<wire::LogSize>(answer));
    at += piece.size();
    if (static_cast<std::size_t>(size.size) != at)
      return fail(Code::conflict, fmt::format("of {} bytes {} have arrived", at, size.size));
    options_.moved(0, std::ssize(piece));
  }
  return static_cast<std::int64_t>(at);
}

// True: accepted. What it was refused for is in the log.
Result<bool> Coach::report(const wire::Unit& unit, wire::UnitDone done, const Outgoing* update) {
  doing("pushing an update");
  done.epoch = options_.lease.epoch;
  const auto where = path(fmt::format("units/{}", unit.id));
  if (update != nullptr && !push_to_hub(unit, *update)) {
    SOUK_ASSIGN(done.bytes, push_to_market(where, *update));
  }
  SOUK_ASSIGN(const auto answer, up_->insist(where, wire::to_json(done), options_.grace, give_up_));
  SOUK_ASSIGN(const auto verdict, wire::from_json<wire::UnitVerdict>(answer));
  if (!verdict.accepted && !done.error)
    options_.say(fmt::format("unit {} was not accepted: {}", unit.id, verdict.reason));
  return verdict.accepted;
}

Result<Coach::Task> Coach::init(const wire::Unit& unit) {
  return Task{
      .unit = unit,
      .request = request("init", {{"seed", std::to_string(unit.seed)}, {"out", quoted(kInit)}}),
      .out = kInit,
      .patience = kToInit};
}

Result<> Coach::initialised(const Task& task) {
  SOUK_TRY(trainer_.read(task.out, update_));
  trainer_.remove(task.out);
  SOUK_ASSIGN(const auto fp32, train::make_codec("fp32"));
  const Outgoing first{update_, *fp32};
  SOUK_TRY(report(task.unit, {.tensors = trainer_.tensors()}, &first));
  lap(&wire::TimeSpent::prepare);
  return {};
}

// What one codec left out waits until such a codec is used again. It does not go into updates of
// others: those may be compared with what another worker makes of the same unit.
Result<> Coach::use_codec(const std::string& spec) {
  if (spec == codec_spec_) return {};
  SOUK_ASSIGN(codec_, train::make_codec(spec));
  codec_spec_ = spec;
  if (codec_->keeps_residual()) residual_.resize(trainer_.size());
  return {};
}

Result<Coach::Task> Coach::train(const wire::Unit& unit) {
  const std::size_t slot = busy_ && busy_->task.base == kBases[0] ? 1 : 0;
  Task task{.unit = unit,
            .base = kBases[slot],
            .out = kUpdates[slot],
            .version = unit.version,
            .patience = kLongestUnit};
  SOUK_ASSIGN(const auto file, shard(unit.shard));
  lap(&wire::TimeSpent::fetch);
  if (large()) {
    SOUK_ASSIGN(task.version, pull_to_file(unit, task.base));
  } else if (unit.version > 0) {  // Somebody's work is checked: from what that began with.
    SOUK_ASSIGN(const auto values, pull_exactly(unit.version));
    SOUK_TRY(write_base(task.base, values));
  } else {
    SOUK_TRY(pull(unit));
    task.version = version_;
    SOUK_TRY(write_base(task.base, values_));
  }
  const auto of_batch = options_.lease.task->batch.train->batch;
  task.request = request("train", {{"base", quoted(task.base)},
                                   {"shard", quoted(file)},
                                   {"out", quoted(task.out)},
                                   {"send", quoted(to_string(unit.send))},
                                   {"first_step", std::to_string(unit.first_step)},
                                   {"steps", std::to_string(unit.steps)},
                                   {"batch", std::to_string(unit.batch)},
                                   {"of_batch", std::to_string(of_batch)},
                                   {"lr", fmt::format("{}", unit.lr)},
                                   {"seed", std::to_string(unit.seed)},
                                   {"keep", quoted(unit.keep ? kKept : "")},
                                   {"measure", unit.measure ? "true" : "false"}});
  return task;
}

Result<> Coach::trained(const Task& task, const TrainerAnswer& answer) {
  if (answer.steps == 0) {  // Told to stop before the first.
    give_back(task.unit);
    return {};
  }
  SOUK_TRY(trainer_.read_update(task.out, task.unit.state_scale, update_));
  // The trainer writes the next in the same place, unless the folder is too small for two.
  if (static_cast<std::int64_t>(4 * update_.size() * sizeof(float)) > options_.shard_bytes)
    trainer_.remove(task.out);
  SOUK_TRY(use_codec(task.unit.codec));
  const bool keeps = codec_->keeps_residual();
  const Outgoing update{update_, *codec_, keeps ? residual_ : std::span<const float>()};
  lap(&wire::TimeSpent::prepare);
  SOUK_ASSIGN(const bool accepted, report(task.unit,
                                          {.base = task.version,
                                           .steps = answer.steps,
                                           .samples = answer.samples,
                                           .loss = answer.loss},
                                          &update));
  lap(&wire::TimeSpent::upload);
  // What the codec left out is only owed if the rest arrived.
  if (accepted && keeps) train::advance_residual(update_, *codec_, residual_);
  return {};
}

Result<Coach::Task> Coach::evaluate(const wire::Unit& unit) {
  Task task{.unit = unit,
            .base = kBases[busy_ && busy_->task.base == kBases[0] ? 1 : 0],
            .version = unit.version,
            .patience = kLongestUnit};
  SOUK_ASSIGN(const auto file, shard(unit.shard));
  lap(&wire::TimeSpent::fetch);
  if (large()) {
    SOUK_TRY(pull_to_file(unit, task.base));
  } else {
    SOUK_ASSIGN(const auto values, pull_exactly(unit.version));
    SOUK_TRY(write_base(task.base, values));
  }
  task.request =
      request("evaluate", {{"base", quoted(task.base)}, {"shard", quoted(file)}, {"batch", "256"}});
  return task;
}

Result<> Coach::evaluated(const Task& task, const TrainerAnswer& answer) {
  if (draining_) {  // It may be of a part only.
    give_back(task.unit);
    return {};
  }
  SOUK_TRY(report(task.unit,
                  {.samples = answer.samples, .loss = answer.loss, .metrics = answer.metrics}));
  lap(&wire::TimeSpent::upload);
  return {};
}

}  // namespace souk::agent
