#include "agent/agent.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "agent/challenge_desk.h"
#include "base/containment.h"
#include "wire/json.h"

namespace souk::agent {
namespace {

using base::Code;
using base::Duration;
using base::Result;
using base::Time;

constexpr auto kPoll = base::seconds(25);

std::chrono::microseconds chrono_of(Duration d) { return std::chrono::microseconds(d.us); }

// Asking again will not help: the token is gone, or the machine.
bool is_final(const base::Error& e) {
  return e.code == Code::unauthenticated || e.code == Code::forbidden || e.code == Code::not_found;
}

// What this process has used: it fetches files and meets challenges itself.
double own_cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

Agent::Agent(AgentOptions options, Workshop& workshop)
    : options_(std::move(options)), shop_(workshop), busy_(options_.busy) {}

Agent::~Agent() = default;

std::size_t Agent::running() const {
  const std::lock_guard lock(mutex_);
  return runners_.size();
}

double Agent::programs_cpu_seconds() const {
  const std::lock_guard lock(mutex_);
  double out = ended_cpu_seconds_;
  for (const auto& [id, runner] : runners_) out += runner->held().usage->cpu_seconds;
  return out;
}

Result<bool> Agent::run() {
  SOUK_ASSIGN(auto link, Link::make(shop_.link));
  SOUK_ASSIGN(auto beat_link, Link::make(shop_.link));
  {
    const std::lock_guard lock(mutex_);
    polling_ = &link;
  }
  std::thread beats([&] { beat_loop(beat_link); });
  Result<> trouble;
  auto next_owner = std::chrono::steady_clock::now();
  heard_ = used_ = next_owner;
  while (!stopping_) {
    // What is thrown here is a moment's trouble, of one answer or one lease.
    if (auto polled = base::contained([&] { return poll(link); }); !polled) {
      if (stopping_) break;
      if (is_final(polled.error())) {
        trouble = std::unexpected(polled.error());
        break;
      }
      tell_holdings_ = true;  // A server that was away has forgotten.
      std::this_thread::sleep_for(chrono_of(options_.after_trouble));
    }
    reap();
    if (std::chrono::steady_clock::now() >= next_owner) {
      watch_owner();
      next_owner = std::chrono::steady_clock::now() + chrono_of(options_.owner_every);
    }
    if (has_no_use(link)) break;
    const std::lock_guard lock(mutex_);
    if (options_.once && ended_ > 0 && runners_.empty()) break;
  }
  {
    const std::lock_guard lock(mutex_);
    polling_ = nullptr;
  }
  drain_all(now() + options_.drain, "the lender ends");
  const auto deadline = now() + options_.drain;
  while (running() > 0 && now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    reap();
  }
  {
    const std::lock_guard lock(mutex_);
    beats_end_ = true;
  }
  wake_.notify_all();
  beats.join();
  runners_.clear();  // Whatever is left is ended without a word.
  if (!trouble) return std::unexpected(trouble.error());
  return succeeded_ > 0;
}

void Agent::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  if (polling_ != nullptr) polling_->cancel();
}

Result<> Agent::poll(Link& link) {
  // While something runs or an owner is watched for, others need this thread too.
  const bool busy = running() > 0 || options_.owner_is_here;
  auto wait = busy ? base::milliseconds(500) : kPoll;
  if (options_.exit_idle > Duration()) wait = std::min(wait, options_.exit_idle);
  const auto query = asked_ ? fmt::format("?seen={}&wait={}", seen_, to_string(wait)) : "";
  SOUK_ASSIGN(const auto answer,
              link.get(fmt::format("/v1/machines/{}/work{}", to_string(options_.machine), query)));
  SOUK_ASSIGN(const auto work, wire::from_json<wire::OpenLeases>(answer));
  asked_ = true;
  heard_ = std::chrono::steady_clock::now();
  seen_ = work.version;
  return take_up(link, work);
}

Result<> Agent::take_up(Link& link, const wire::OpenLeases& work) {
  for (const auto& lease : work.leases) {
    std::unique_lock lock(mutex_);
    const auto it = runners_.find(lease.id);
    if (it != runners_.end()) {
      if (lease.state == base::LeaseState::running) it->second->begun();
      if (lease.state == base::LeaseState::draining)
        it->second->drain(lease.until, lease.detail.value_or(""));
      continue;
    }
    if (lease.state == base::LeaseState::granted && lease.task && !stopping_ && !owner_here_) {
      shop_.tell(
          fmt::format("lease {}: {} for {}, {} credits an hour", to_string(lease.id),
                      lease.task->job_name.empty() ? to_string(lease.job) : lease.task->job_name,
                      lease.borrower, to_string(lease.price)));
      runners_.emplace(lease.id, std::make_unique<Runner>(lease, shop_));
      beat_now_ = true;
      wake_.notify_all();
      continue;
    }
    if (std::ranges::find(work.later, lease.id) != work.later.end()) continue;
    lock.unlock();
    // The remains of an agent that was killed, or not now: somebody else should have it. A job
    // without a program can run nowhere, and its owner should know.
    const bool idle = lease.state == base::LeaseState::granted && !lease.task;
    const wire::LeaseFinish report{
        .epoch = lease.epoch,
        .outcome = idle ? wire::ReportedOutcome::failed : wire::ReportedOutcome::released,
        .detail = idle ? "the job has no program: submit it with `souk run`"
                  : lease.state == base::LeaseState::granted ? "this machine cannot run it now"
                                                             : "the agent was restarted"};
    SOUK_TRY(
        link.post(fmt::format("/v1/leases/{}/finish", to_string(lease.id)), wire::to_json(report)));
  }
  // What the market no longer lists has been closed.
  const std::lock_guard lock(mutex_);
  for (const auto& [id, runner] : runners_)
    if (std::ranges::find(work.leases, id, &wire::Lease::id) == work.leases.end()) runner->stop();
  return {};
}

// A market that is not heard, or has no work, for longer than the owner pays for.
bool Agent::has_no_use(Link& link) {
  const auto now = std::chrono::steady_clock::now();
  if (running() > 0) used_ = now;
  const auto passed = [&](auto since, Duration limit) {
    return limit > Duration() && now - since >= chrono_of(limit);
  };
  if (passed(heard_, options_.exit_alone)) {
    shop_.tell(
        fmt::format("ending: the market did not answer for {}", to_string(options_.exit_alone)));
    return true;
  }
  if (!passed(used_, options_.exit_idle)) return false;
  options_.on_idle(true);
  asked_ = false;  // So that the answer comes at once.
  const auto last = base::contained([&] { return poll(link); });
  if (last && running() == 0) {
    shop_.tell(fmt::format("ending: no lease for {}", to_string(options_.exit_idle)));
    return true;
  }
  used_ = now;
  options_.on_idle(false);
  return false;
}

void Agent::reap() {
  std::vector<std::unique_ptr<Runner>> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = runners_.begin(); it != runners_.end();) {
      if (!it->second->finished()) {
        ++it;
        continue;
      }
      ++ended_;
      ended_cpu_seconds_ += it->second->held().usage->cpu_seconds;
      if (it->second->succeeded()) ++succeeded_;
      ended.push_back(std::move(it->second));
      it = runners_.erase(it);
    }
  }
}

void Agent::beat_loop(Link& link) {
  std::unique_lock lock(mutex_);
  while (!beats_end_) {
    lock.unlock();
    // A server that is away hears the next one.
    (void)base::contained([&] { return beat(link); });
    lock.lock();
    wake_.wait_for(lock, chrono_of(beat_every_), [this] { return beats_end_ || beat_now_; });
    beat_now_ = false;
  }
}

Result<> Agent::beat(Link& link) {
  wire::Heartbeat body;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, runner] : runners_)
      if (!runner->finished()) body.leases.push_back(runner->held());
  }
  auto holds = shop_.trees->names();
  busy_.look(own_cpu_seconds() + programs_cpu_seconds(), now());
  body.busy = busy_.report(now());
  const bool tell = tell_holdings_.exchange(false) || holds != told_holdings_;
  if (tell) body.holds = holds;
  const auto answer = link.post(
      fmt::format("/v1/machines/{}/heartbeat", to_string(options_.machine)), wire::to_json(body));
  if (!answer) {
    tell_holdings_ = true;
    return std::unexpected(answer.error());
  }
  // Said again whenever the market may have forgotten it. One that knows nothing of it sends all
  // files itself.
  if (tell && shop_.sharing)
    (void)link.put(fmt::format("/v1/machines/{}/sharing", to_string(options_.machine)),
                   wire::to_json(shop_.sharing->sharing()));
  SOUK_ASSIGN(const auto orders, wire::from_json<wire::Orders>(*answer));
  told_holdings_ = std::move(holds);
  busy_.set_unproved(orders.unproved.value_or(false));
  if (orders.challenge) {
    const auto met = meet(link, *orders.challenge);
    busy_.skip();
    SOUK_TRY(met);
  }
  const std::lock_guard lock(mutex_);
  // Preparing is worth showing while it lasts.
  beat_every_ = std::min(orders.heartbeat_every, base::seconds(body.leases.empty() ? 10 : 2));
  for (const auto& order : orders.orders) obey(order);
  return {};
}

// One question after the other, as each answer brings the next.
Result<> Agent::meet(Link& link, const wire::Challenge& first) {
  const auto began = std::chrono::steady_clock::now();
  ChallengeDesk desk(*shop_.gpus, *shop_.gpu_board);
  std::optional<wire::Challenge> challenge = first;
  while (challenge) {
    SOUK_ASSIGN(const auto said,
                link.post(fmt::format("/v1/machines/{}/challenge", to_string(options_.machine)),
                          wire::to_json(desk.answer(*challenge))));
    SOUK_ASSIGN(auto verdict, wire::from_json<wire::ChallengeVerdict>(said));
    if (!verdict.good) {
      const auto news =
          busy_.challenge_failed(verdict.reason.value_or("a challenge was not met"), now());
      if (!news.empty()) shop_.tell(news);
    } else if (!verdict.next) {
      busy_.challenge_met();
      shop_.tell(fmt::format(
          "met a challenge in {:.2f} s",
          std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count()));
    }
    challenge = std::move(verdict.next);
  }
  return {};
}

// Requires mutex_.
void Agent::obey(const wire::Order& order) {
  const auto it = runners_.find(order.lease);
  if (it == runners_.end()) return;
  if (order.action == wire::OrderAction::stop) it->second->stop();
  if (order.action == wire::OrderAction::drain)
    it->second->drain(order.until.value_or(now()), "the market asked to drain");
}

void Agent::drain_all(Time until, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, runner] : runners_) runner->drain(until, reason);
}

void Agent::watch_owner() {
  if (!options_.owner_is_here) return;
  const bool here = options_.owner_is_here(programs_cpu_seconds());
  if (here == owner_here_) return;
  owner_here_ = here;
  options_.on_owner(here);
  if (here) drain_all(now() + options_.notice, "the owner is back");
}

}  // namespace souk::agent
