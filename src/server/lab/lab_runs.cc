#include "server/lab/lab_runs.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <new>
#include <stop_token>

#include "base/containment.h"
#include "server/http/router.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using base::AccountId;
using base::Code;
using base::fail;
using wire::LabRunId;
using wire::LabState;

// From here on this thread, and those that it starts, give way to all others. Not SCHED_IDLE: on a
// computer that is busy with training, whoever waits for a run would wait for ever.
void step_back() {
  constexpr int nicest = 19;
  if (::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nicest) == 0) return;
  spdlog::warn("lab: this system gives a thread no lower priority: runs compete with the market");
}

// Whatever the task throws is its own failure.
Result<LabResult> compute_contained(const LabTask& task, const lab::Watch& watch) {
  try {
    const base::Containment contained;
    return task.compute(watch);
  } catch (const std::bad_alloc&) {
    return fail(Code::exhausted, "it needs more memory than this server has",
                "use fewer agents or seeds, or a shorter horizon");
  } catch (const std::exception& e) {
    spdlog::error("lab: a run failed: {}", e.what());
    return fail(Code::internal, fmt::format("it failed inside the server: {}", e.what()),
                "please report the scenario; other runs are not affected");
  }
}

std::size_t bytes_of(const LabResult& r) { return r.report.size() + r.trades.size(); }

}  // namespace

struct LabRuns::Entry {
  AccountId owner;
  Ticket made, cancelled;
  LabRun run;  // Without progress, scenario and result.
  std::optional<std::string> scenario;
  LabTask task;
  std::stop_source stop;
  std::atomic<double> progress = 0;
  std::shared_ptr<const LabResult> result;  // Of one that is done; read back when asked.
  std::size_t stored = 0;                   // Bytes of it there.

  [[nodiscard]] LabRun shown() const {
    auto out = run;
    out.progress = progress;
    return out;
  }
  // Something, so that however many of them there are, there is a bound.
  [[nodiscard]] std::size_t bytes() const {
    return 4'096 + (scenario ? scenario->size() : 0) + (result ? bytes_of(*result) : stored);
  }
  [[nodiscard]] LabStore::Record record() const {
    LabStore::Record out{owner, made.key, made.fingerprint, cancelled.key, shown()};
    out.run.scenario = scenario;
    return out;
  }
};

LabRuns::LabRuns(const base::Clock& clock, LabOptions options, journal::Records* records)
    : clock_(clock), options_(std::move(options)), store_(records) {
  store_.take_over(options_.folder);
  recall();
  if (options_.limit > base::Duration()) thread_ = std::thread([this] { run(); });
}

LabRuns::~LabRuns() { stop(); }

// What the last process left. Nothing else runs yet.
void LabRuns::recall() {
  last_id_ = store_.last_id();
  for (auto& record : store_.load()) {
    auto entry = std::make_shared<Entry>();
    entry->owner = record.owner;
    entry->made = {record.key, record.fingerprint};
    entry->cancelled.key = record.cancelled_key;
    entry->scenario = std::move(record.run.scenario);
    record.run.scenario.reset();
    entry->progress = record.run.progress;
    entry->run = std::move(record.run);
    entry->stored = store_.result_bytes(entry->run.id);
    runs_.emplace(entry->run.id, entry);
    if (!is_over(entry->run.state)) interrupt(*entry);
  }
  forget_oldest();
}

void LabRuns::interrupt(Entry& entry) {
  entry.run.state = LabState::interrupted;
  entry.run.finished = clock_.now();
  entry.run.error = "the server was restarted before this run was finished: run it again";
  keep(entry);
}

// A run that cannot be written down is still there until this process ends.
void LabRuns::keep(const Entry& entry) const {
  if (const auto kept = store_.save(entry.record()); !kept)
    spdlog::error("lab: run {} is not kept: {}", to_string(entry.run.id), kept.error().message);
}

void LabRuns::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (computing_) computing_->stop.request_stop();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

wire::LabLimits LabRuns::limits() const {
  auto out = kLabTaskLimits;
  out.time = options_.limit;
  out.waiting = kWaiting;
  out.kept = kKept;
  return out;
}

Result<LabRun> LabRuns::add(AccountId who, LabTask task, const Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  if (options_.limit <= base::Duration() || stopping_)
    return fail(Code::unavailable, "this server runs no experiments",
                "its operator can turn the lab on with `souk serve --lab-limit 2m`");
  std::size_t mine = 0, all = 0;
  for (const auto& [id, entry] : runs_) {
    if (entry->owner == who && entry->made.key == ticket.key) {
      if (entry->made.fingerprint == ticket.fingerprint) return entry->shown();
      return fail(Code::conflict, "this Idempotency-Key was used for another request",
                  "use a new key for a new request", "Idempotency-Key");
    }
    if (is_over(entry->run.state)) continue;
    ++all;
    if (entry->owner == who) ++mine;
  }
  if (mine >= kWaiting)
    return fail(Code::exhausted, fmt::format("{} of your runs are not finished", mine),
                "wait for one of them, or cancel it");
  if (all >= kWaitingInAll)
    return fail(Code::exhausted, fmt::format("{} runs are waiting", all), "try again later");
  auto entry = std::make_shared<Entry>();
  entry->owner = who;
  entry->made = ticket;
  entry->run = {.id = LabRunId(++last_id_),
                .kind = task.kind,
                .title = task.title,
                .mechanisms = task.mechanisms,
                .seeds = task.seeds,
                .created = clock_.now()};
  entry->scenario = std::move(task.scenario);
  entry->task = std::move(task);
  SOUK_TRY(store_.save(entry->record()));
  runs_.emplace(entry->run.id, entry);
  queue_.push_back(entry);
  changed_.notify_all();
  return entry->shown();
}

std::vector<LabRun> LabRuns::list(AccountId who) const {
  const std::lock_guard lock(mutex_);
  std::vector<LabRun> out;
  for (auto it = runs_.rbegin(); it != runs_.rend(); ++it)
    if (it->second->owner == who) out.push_back(it->second->shown());
  return out;
}

Result<LabRuns::EntryPtr> LabRuns::entry_of(AccountId who, LabRunId id) const {
  const auto at = runs_.find(id);
  if (at != runs_.end() && at->second->owner == who) return at->second;
  return Context::no_such(base::IdTraits<LabRunId>::noun, to_string(id));
}

Result<LabRuns::RunAndResult> LabRuns::find(AccountId who, LabRunId id) const {
  const std::lock_guard lock(mutex_);
  SOUK_ASSIGN(const auto entry, entry_of(who, id));
  if (entry->run.state == LabState::done && !entry->result) {
    SOUK_ASSIGN(auto result, store_.result(id));
    entry->result = std::make_shared<const LabResult>(std::move(result));
  }
  RunAndResult out{entry->shown(), entry->result};
  out.run.scenario = entry->scenario;
  return out;
}

Result<LabRun> LabRuns::remove(AccountId who, LabRunId id, const Ticket& ticket) {
  const std::lock_guard lock(mutex_);
  SOUK_ASSIGN(const auto entry, entry_of(who, id));
  if (!is_over(entry->run.state)) {
    if (std::erase(queue_, entry) > 0) entry->task = {};  // Else it is in use.
    entry->stop.request_stop();
    entry->cancelled = ticket;
    finish(*entry, LabState::cancelled);
  } else if (entry->cancelled.key != ticket.key) {
    runs_.erase(id);
    store_.remove(id);
  }
  return entry->shown();
}

void LabRuns::finish(Entry& entry, LabState state) {
  entry.run.state = state;
  entry.run.finished = clock_.now();
  keep(entry);
  forget_oldest();
}

void LabRuns::forget_oldest() {
  struct Kept {
    std::size_t runs = 0, bytes = 0;
  };
  std::size_t bytes = 0;
  std::map<AccountId, Kept> kept;
  for (auto it = runs_.end(); it != runs_.begin();) {
    --it;
    if (!is_over(it->second->run.state)) continue;
    auto& mine = kept[it->second->owner];
    ++mine.runs;
    mine.bytes += it->second->bytes();
    bytes += it->second->bytes();
    const bool too_much = mine.runs > kKept || (mine.runs > 1 && mine.bytes > kKeptBytesEach);
    if (!too_much && bytes <= kKeptBytes) continue;
    store_.remove(it->first);
    it = runs_.erase(it);
  }
}

void LabRuns::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    computing_ = queue_.front();
    queue_.pop_front();
    computing_->run.state = LabState::running;
    const auto entry = computing_;
    lock.unlock();
    auto result = compute(*entry);
    lock.lock();
    settle(*entry, std::move(result));
    computing_.reset();
  }
}

Result<LabResult> LabRuns::compute(Entry& entry) const {
  std::promise<Result<LabResult>> promise;
  auto ready = promise.get_future();
  const std::jthread worker([&] {
    step_back();
    const lab::Watch watch{.progress = [&](double share) { entry.progress = share; },
                           .stop = entry.stop.get_token()};
    promise.set_value(compute_contained(entry.task, watch));
  });
  const bool in_time =
      ready.wait_for(std::chrono::microseconds(options_.limit.us)) == std::future_status::ready;
  if (!in_time) entry.stop.request_stop();
  auto result = ready.get();
  if (result || in_time) return result;
  return fail(Code::exhausted,
              fmt::format("it was stopped after {}, the longest that a run may take here",
                          to_string(options_.limit)),
              "use fewer agents, seeds or mechanisms, or a shorter horizon; `souk lab run` on a "
              "computer of your own has no limit");
}

void LabRuns::settle(Entry& entry, Result<LabResult> result) {
  entry.task = {};                                   // It may be large.
  if (entry.run.state != LabState::running) return;  // Cancelled meanwhile.
  if (!result && stopping_) return interrupt(entry);
  if (!result) {
    entry.run.error = wire::one_line(result.error());
    return finish(entry, LabState::failed);
  }
  entry.progress = 1;
  entry.result = std::make_shared<const LabResult>(*std::move(result));
  if (const auto kept = store_.save_result(entry.run.id, *entry.result); !kept)
    spdlog::error("lab: the result of run {} is not kept: {}", to_string(entry.run.id),
                  kept.error().message);
  finish(entry, LabState::done);
}

}  // namespace souk::server
