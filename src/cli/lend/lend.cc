#include "cli/lend/lend.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "agent/agent.h"
#include "agent/limits/cores.h"
#include "agent/limits/scope.h"
#include "agent/probe/command_output.h"
#include "agent/probe/owner.h"
#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/lend/worth.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"

namespace souk::cli {
namespace {

// What this machine's leases have earned since `start`.
Result<base::Credits> earned_since(Api& api, base::MachineId machine, base::Time start) {
  base::Credits out;
  SOUK_TRY(visit_all<wire::Lease>(api, "/v1/leases", [&](const wire::Lease& l) {
    if (l.granted < start) return false;  // Newest first.
    if (l.machine == machine) out += l.earned;
    return true;
  }));
  return out;
}

void show_earnings(Context& c, Api& api, const Lend& o, base::MachineId machine, base::Time start) {
  const auto earned = earned_since(api, machine, start);
  if (!earned) return c.note("earnings: " + earned.error().message);
  auto line = fmt::format("earned {} credits in {}", brief(*earned), rough(c.now() - start));
  if (o.power_price && o.watts) {
    const auto kwh = *o.watts / 1000 * (c.now() - start).seconds() / 3600;
    const auto cost =
        base::Credits(static_cast<std::int64_t>(kwh * static_cast<double>(o.power_price->micro)));
    line += fmt::format(", net {} after power for {}", brief(*earned - cost), brief(cost));
  }
  c.note(line);
}

// Ends the agent when the user or the system asks for it. Made before any thread, so that every
// thread inherits the blocked signals.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int s : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set_, s);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  ~Signals() {
    if (!thread_.joinable()) return;
    ::kill(::getpid(), SIGUSR1);  // Our own: only wakes the thread.
    thread_.join();
  }
  void on_end(std::function<void()> fn) {
    thread_ = std::thread([this, fn = std::move(fn)] {
      int signal = 0;
      sigwait(&set_, &signal);
      if (signal != SIGUSR1) fn();
    });
  }

 private:
  sigset_t set_{};
  std::thread thread_;
};

// The machine's own token may do this, on a connection of its own: callers are on other threads.
void set_paused(const Ready& ready, const agent::Workshop& shop, bool paused) {
  auto api = Api::connect(ready.target, base::seconds(5));
  if (!api) return;
  const auto done = paused ? api->post(ready.offer_path + "/pause", wire::to_json(wire::Pause{}))
                           : api->post(ready.offer_path + "/resume");
  if (!done)
    shop.tell(
        fmt::format("cannot {} the offer: {}", paused ? "pause" : "resume", done.error().message));
}

// One lease took one slot; the offer is of more.
void put_slots_back(const Ready& ready, const agent::Workshop& shop) {
  if (ready.slots.after == ready.slots.count) return;
  auto api = Api::connect(ready.target, base::seconds(5));
  if (!api) return;
  const wire::OfferEdit edit{.slots = ready.slots.after};
  if (const auto done = api->patch(ready.offer_path, wire::to_json(edit)); !done)
    shop.tell(fmt::format("the offer stays at one slot: {}", done.error().message));
}

// Asks every few seconds whether the machine is about to be taken away, as clouds announce it.
class Preemption {
 public:
  Preemption(std::string command, std::function<void()> fn)
      : thread_([this, command = std::move(command), fn = std::move(fn)] { watch(command, fn); }) {}
  ~Preemption() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  void watch(const std::string& command, const std::function<void()>& fn) {
    constexpr auto every = std::chrono::seconds(5);
    std::unique_lock lock(mutex_);
    while (!over_ && !command.empty()) {
      lock.unlock();
      const auto said = agent::run_command({"/bin/sh", "-c", command}, base::seconds(5), 4096);
      if (said && said->good()) return fn();
      lock.lock();
      wake_.wait_for(lock, every, [this] { return over_; });
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

// What a week of it may bring. A market that does not say is no reason not to lend.
void tell_worth(Context& c, const Ready& ready, agent::Workshop& shop) {
  const auto api = c.api();
  if (!api) return;
  const auto& spec = ready.machine.spec;
  const auto body =
      (*api)->get(earnings_path({spec.cores, spec.memory_mib, spec.gpus, spec.gpu_memory_mib}));
  if (!body) return;
  const auto earnings = parse_body<wire::Earnings>(*body);
  if (!earnings) return;
  if (const auto worth = worth_text(*earnings, ready.slots.slot_class))
    shop.tell("expected: " + *worth);
}

bool means_it(const Lend& o) {
  return !o.unsafe || ask_typed("Strangers' programs will do here what you can. Type 'no sandbox'",
                                "no sandbox");
}

Result<> lend(Context& c, const Lend& o) {
  agent::enter_scope();  // First, or the question below would be asked twice.
  if (!means_it(o)) return failed("nothing is lent");
  Signals signals;
  agent::sweep();
  if (o.yield) ::setpriority(PRIO_PROCESS, 0, 19);
  agent::Workshop shop;
  std::mutex printing;
  shop.tell = [&](const std::string& line) {
    const std::lock_guard lock(printing);
    c.note(line);
  };
  const auto usable = agent::allowed_cores();  // Before it takes some of them for itself.
  SOUK_ASSIGN(const auto ready, get_ready(c, o, shop));
  agent::AgentOptions how{.machine = ready.machine.id,
                          .busy = {.cores = usable, .lent = ready.machine.spec.cores},
                          .once = o.once,
                          .drain = o.drain,
                          .notice = o.notice};
  how.exit_idle = o.exit_idle;
  how.exit_alone = o.exit_alone;
  how.on_idle = [&](bool leaving) { set_paused(ready, shop, leaving); };
  agent::OwnerWatch owner;
  if (o.yield) {
    how.owner_is_here = [&owner](double programs) {
      return owner.here(programs, base::SystemClock().now());
    };
    how.on_owner = [&](bool here) {
      shop.tell(here ? "you are back: giving the machine back" : "you are gone: lending again");
      set_paused(ready, shop, here);
    };
  }
  agent::Agent agent(how, shop);
  const auto end = [&] {
    shop.tell("ending: no new leases, those that run finish or save what they have");
    set_paused(ready, shop, true);
    agent.stop();
  };
  signals.on_end(end);
  const Preemption preemption(o.preempt_when, end);
  const auto start = c.now();
  shop.tell(fmt::format(
      "lending {} ({}): {} x {} at {}; Ctrl-C ends it", printable(ready.machine.name),
      to_string(ready.machine.id), ready.slots.count, ready.slots.slot_class,
      ready.price ? brief(*ready.price) + " credits per slot-hour" : "the market's price"));
  tell_worth(c, ready, shop);
  const auto ended = agent.run();
  set_paused(ready, shop, true);
  put_slots_back(ready, shop);
  SOUK_ASSIGN(auto* api, c.api());
  show_earnings(c, *api, o, ready.machine.id, start);
  if (!ended) return std::unexpected(ended.error());
  if (o.once && !*ended) return failed("the lease did not succeed");
  return {};
}

// What is lent, when, and to whom it yields.
std::vector<Option> offer_flags(Lend& o) {
  return {
      flag("--name NAME", "what the machine is called; default: its host name", o.name),
      flag("--cores N", "lend this many cores; default: all that no other agent here lends",
           o.cores),
      flag("--share-cores", "lend cores whether other agents of this machine lend them or not",
           o.share_cores),
      flag("--memory SIZE", "lend this much memory (8G); default: all", o.memory),
      flag("--cpu-share SHARE", "of each core's time, 0.1 to 1; default 1", o.cpu_share),
      flag("--gpus N", "lend this many GPUs; default: all that no other agent here lends", o.gpus),
      flag("--share-gpus", "lend GPUs whether other agents of this machine lend them or not",
           o.share_gpus),
      flag("--disk SIZE", "lend this much disk (50G)", o.disk),
      flag("--scratch SIZE", "lend this much disk for the files of jobs that ask (500G)",
           o.scratch),
      flag("--class CLASS",
           "lend slots of this class; default: as before, or the smallest, with a GPU if you lend "
           "one",
           o.slot_class),
      flag("--price PRICE", "the least you take per slot-hour, or market", o.price),
      flag("--weekly WINDOW", "lend only then: 'Mon-Fri 18:00-08:00 Europe/Berlin'", o.weekly),
      flag("--until TIME", "lend until then: a time, or 8h from now", o.until),
      flag("--longest-lease TIME", "at first 24h", o.longest_lease),
      flag("--region NAME", "where it stands, for example eu", o.region),
      flag("--yield", "lowest priority, and give back when you use the machine", o.yield),
      flag("--notice TIME", "what programs get when you are back; default 30s", o.notice),
      flag("--drain TIME", "the longest it takes to end; default 90s", o.drain),
      flag("--grace TIME", "go on this long without the server; default 10m", o.grace)};
}

// What jobs find there, and when the agent ends.
std::vector<Option> work_flags(Lend& o) {
  return {
      flag("--env PATH", "lend this Python environment, too: a venv, a conda prefix, or a folder",
           o.environments),
      flag("--registry HOST[/PREFIX]",
           "pull the images of jobs from there, by digest; default: none", o.registries),
      flag("--build-environments", "build the environments of jobs that ask for it here",
           o.build_environments),
      flag("--index HOST", "of packages for that; default files.pythonhosted.org (PyPI)",
           o.indexes),
      flag("--fetch HOST", "fetch inputs of jobs from there, by their hash; default: none",
           o.fetch),
      flag("--no-trainer", "do not fetch the built-in trainer from the market", o.no_trainer),
      flag("--internet", "let jobs that ask for it reach the internet, never your network",
           o.internet),
      flag("--share-chunks ADDRESS:PORT",
           "give files of a job to other machines that work on the same job, and take them from "
           "there: 0.0.0.0:7075",
           o.share_chunks),
      flag("--relayed",
           "never let other machines of a gang connect to this one while it joins: always meet at "
           "a relay",
           o.relayed),
      flag("--also URL", "another address of the server, tried in turn", o.also),
      flag("--folder PATH", "for files; default: the user's cache folder", o.folder),
      flag("--cache SIZE", "of files kept for later jobs; default 20G", o.cache),
      flag("--power-price PRICE", "credits per kWh, to show net earnings", o.power_price),
      flag("--watts N", "what the machine draws, with --power-price", o.watts),
      flag("--preempt-when COMMAND", "drain and end once this succeeds: a cloud's notice",
           o.preempt_when),
      flag("--exit-idle TIME", "end when there was no lease for so long", o.exit_idle),
      flag("--exit-alone TIME", "end when the server did not answer for so long", o.exit_alone),
      flag("--once", "take one lease to its end, then exit", o.once),
      flag("--unsafe-no-sandbox", "run strangers' programs without a sandbox", o.unsafe)};
}

}  // namespace

Command lend_command() {
  auto o = std::make_shared<Lend>();
  Command out{.name = "lend",
              .summary = "lend this machine and earn credits",
              .examples = {"lend", "lend --cores 4 --memory 8G --price 0.4",
                           "lend --yield --weekly 'Mon-Fri 18:00-08:00 Europe/Berlin'",
                           "lend --env /opt/torch/.venv --registry docker.io/library"}};
  out.options = offer_flags(*o);
  std::ranges::move(work_flags(*o), std::back_inserter(out.options));
  out.details =
      "Runs in the foreground. It connects outward. It opens a port only while a gang forms with "
      "this "
      "machine, never with --relayed, and the one that --share-chunks names. Programs run in a "
      "sandbox: they see none of your files, no network, and no more than the slot's cores and "
      "memory. Ctrl-C gives running programs time to save what they have; you are paid for what "
      "they ran. A machine that was lent before goes on with its offer: what no flag mentions "
      "stays "
      "as it is there.";
  out.run = [o](Context& c) { return lend(c, *o); };
  return out;
}

}  // namespace souk::cli
