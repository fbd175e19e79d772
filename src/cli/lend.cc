#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>

#include "agent/agent.h"
#include "agent/owner.h"
#include "agent/probe.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/human.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInternet = "@internet";
constexpr std::string_view kContainers = "@containers";
constexpr std::string_view kUnsandboxed = "@no-sandbox";

struct Lend {
  std::string name;
  std::optional<std::int32_t> cores;
  std::int32_t gpus = 0;
  std::optional<Memory> memory, disk;
  std::string slot_class;
  AskPrice price;
  std::vector<std::string> weekly;
  std::optional<base::Time> until;
  std::optional<base::Duration> longest_lease;
  std::string region;
  bool yield = false;
  base::Duration notice = base::seconds(30);
  base::Duration drain = base::seconds(90);
  base::Duration grace = base::minutes(10);
  bool internet = false;
  bool unsafe = false;
  bool once = false;
  std::string folder;
  Memory cache{20 * 1024};
  std::vector<std::string> also;
  std::optional<base::Credits> power_price;  // Per kWh.
  std::optional<double> watts;
};

// What the machine has, cut down to what is lent of it.
wire::MachineSpec spec_of(const Lend& o, const agent::Machine& m) {
  wire::MachineSpec out{.cores = m.cpu.usable,
                        .memory_mib = m.memory.total_mib,
                        .disk_mib = m.disk.free_mib,
                        .cpu = m.cpu.model,
                        .os = m.os,
                        .region = o.region};
  if (o.cores) out.cores = *o.cores;
  if (o.memory) out.memory_mib = o.memory->mib;
  if (o.disk) out.disk_mib = o.disk->mib;
  // Jobs may ask for these by name, with or without a version.
  constexpr std::size_t most = 900;
  if (!m.pythons.empty())
    for (const auto& p : m.pythons.front().packages)
      if (out.packages.size() < most)
        out.packages.push_back(fmt::format("{}=={}", p.name, p.version));
  return out;
}

std::int32_t round_trip_ms(Api& api) {
  std::vector<double> trips;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!api.get("/healthz")) return 0;
    trips.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::ranges::sort(trips);
  return static_cast<std::int32_t>(std::lround(std::ceil(trips[2])));
}

struct Slots {
  std::string slot_class;
  std::int32_t count = 0;
};

std::int32_t fitting(const wire::SlotClass& k, const wire::MachineSpec& m) {
  if (k.retired || k.gpu_memory_mib > m.gpu_memory_mib) return 0;
  auto out = std::min<std::int64_t>(m.cores / std::max(1, k.cores),
                                    m.memory_mib / std::max<std::int64_t>(1, k.memory_mib));
  if (k.gpus > 0) out = std::min<std::int64_t>(out, m.gpus / k.gpus);
  return static_cast<std::int32_t>(out);
}

// The class given, or the smallest of those with a GPU when GPUs are lent and of those without when
// not: many small slots find a use more often than few large ones.
Result<Slots> choose_slots(const Lend& o, const wire::MachineSpec& m,
                           const std::vector<wire::SlotClass>& classes) {
  const wire::SlotClass* best = nullptr;
  for (const auto& k : classes) {
    const bool wanted =
        o.slot_class.empty() ? (k.gpus > 0) == (m.gpus > 0) : k.name == o.slot_class;
    if (!wanted || fitting(k, m) == 0) continue;
    const auto size = [](const wire::SlotClass& c) {
      return std::tuple(c.gpus, c.gpu_memory_mib, c.cores, c.memory_mib);
    };
    if (best == nullptr || size(k) < size(*best)) best = &k;
  }
  if (best == nullptr)
    return failed(fmt::format("{}, {} of memory and {} make no slot{}", plural(m.cores, "core"),
                              to_string(Memory{m.memory_mib}), plural(m.gpus, "GPU"),
                              o.slot_class.empty() ? "" : " of class " + o.slot_class),
                  "lend more of the machine, or see `souk class list`");
  return Slots{best->name, o.once ? 1 : fitting(*best, m)};
}

// The sandboxes that work here, and the word for the market.
Result<> open_sandboxes(Context& c, const Lend& o, agent::Workshop& shop,
                        std::vector<std::string>& features) {
  shop.sandbox = o.unsafe ? "none" : "bubblewrap";
  for (const auto name : agent::sandbox_names()) {
    if (name == "none" && !o.unsafe) continue;
    SOUK_ASSIGN(auto sandbox, agent::make_sandbox(name));
    bool works = true;
    for (const auto& finding : sandbox->findings()) {
      if (finding.subject == "runs" && !finding.limited) {
        works = false;
        if (name == shop.sandbox)
          return failed(fmt::format("programs cannot be kept apart here: {}", finding.text),
                        "`souk doctor` says what to install; --unsafe-no-sandbox lends anyway, "
                        "and lets strangers' programs do here what you can");
      } else if (!finding.limited && name == shop.sandbox) {
        c.note(fmt::format("not limited here: {}", finding.text));
      }
    }
    if (works && name == "podman") features.emplace_back(kContainers);
    if (works) shop.sandboxes[std::string(name)] = std::move(sandbox);
  }
  if (o.internet) features.emplace_back(kInternet);
  if (o.unsafe) features.emplace_back(kUnsandboxed);
  return {};
}

// The machine of this name, with this description.
Result<wire::Machine> register_machine(Api& api, const std::string& name,
                                       const wire::MachineSpec& spec) {
  for (std::string after;;) {
    SOUK_ASSIGN(const auto page,
                parsed<wire::Page<wire::Machine>>(
                    api.get("/v1/machines" + query_string({{"limit", "500"}, {"after", after}}))));
    for (const auto& m : page.items)
      if (m.name == name)
        return parsed<wire::Machine>(api.patch(path_of("/v1/machines", to_string(m.id)),
                                               wire::to_json(wire::MachineEdit{{}, spec})));
    if (!page.next) break;
    after = *page.next;
  }
  return parsed<wire::Machine>(
      api.post("/v1/machines", wire::to_json(wire::NewMachine{name, spec})));
}

// An offer of this class, the machine's own if it has one: changed and resumed. Others are paused.
Result<base::OfferId> open_offer(Api& api, const wire::Machine& m, const Lend& o,
                                 const Slots& slots) {
  base::OfferId out;
  for (const auto id : m.offers) {
    const auto path = path_of("/v1/offers", to_string(id));
    SOUK_ASSIGN(const auto offer, parsed<wire::Offer>(api.get(path)));
    if (offer.class_ != slots.slot_class || offer.state == "draining" || out) {
      SOUK_TRY(api.post(path + "/pause", wire::to_json(wire::Pause{})));
      continue;
    }
    wire::OfferEdit edit{.slots = slots.count,
                         .price = o.price.credits,
                         .market = !o.price.credits,
                         .longest_lease = o.longest_lease};
    edit.always = o.weekly.empty() && !o.until;
    if (!edit.always) {
      edit.weekly = o.weekly;
      edit.until = o.until;
    }
    SOUK_TRY(api.patch(path, wire::to_json(edit)));
    SOUK_TRY(api.post(path + "/resume"));
    out = id;
  }
  if (out) return out;
  const wire::NewOffer offer{.machine = m.id,
                             .class_ = slots.slot_class,
                             .slots = slots.count,
                             .price = o.price.credits,
                             .weekly = o.weekly,
                             .until = o.until,
                             .longest_lease = o.longest_lease};
  SOUK_ASSIGN(const auto made, parsed<wire::Offer>(api.post("/v1/offers", wire::to_json(offer))));
  return made.id;
}

// A token that can act for this machine only, kept from one run to the next.
Result<std::string> machine_token(Api& api, const Target& target, base::MachineId machine,
                                  const std::string& folder) {
  const auto path = fmt::format("{}/token-{}-{:016x}", folder, to_string(machine),
                                base::short_hash(target.server));
  std::string kept;
  if (std::ifstream in(path); in && in >> kept) {
    auto as_machine = target;
    as_machine.token = kept;
    SOUK_ASSIGN(auto probe, Api::connect(as_machine));
    if (probe.get(path_of("/v1/machines", to_string(machine), "/work"))) return kept;
  }
  const wire::NewToken request{.scope = "machine", .machine = machine, .label = "souk lend"};
  SOUK_ASSIGN(const auto token,
              parsed<wire::IssuedToken>(api.post("/v1/tokens", wire::to_json(request))));
  const auto old = ::umask(0077);
  std::ofstream out(path, std::ios::trunc);
  out << token.token << '\n';
  out.close();
  ::umask(old);
  if (!out) return failed(fmt::format("cannot write {}", path), "choose another --folder");
  return token.token;
}

Result<std::string> lending_folder(const Context& c, const Lend& o) {
  auto folder = o.folder;
  if (folder.empty()) folder = c.env()("XDG_CACHE_HOME").value_or("");
  if (folder.empty()) folder = c.env()("HOME").value_or("/tmp") + "/.cache";
  if (o.folder.empty()) folder += "/souk/lend";
  std::error_code error;
  fs::create_directories(folder + "/leases", error);
  if (error)
    return failed(fmt::format("cannot make {}: {}", folder, error.message()),
                  "choose another with --folder");
  return folder;
}

// What this machine's leases have earned since `start`.
Result<base::Credits> earned_since(Api& api, base::MachineId machine, base::Time start) {
  base::Credits out;
  for (std::string after;;) {
    SOUK_ASSIGN(const auto page,
                parsed<wire::Page<wire::Lease>>(
                    api.get("/v1/leases" + query_string({{"limit", "500"}, {"after", after}}))));
    for (const auto& l : page.items) {
      if (l.granted < start) return out;
      if (l.machine == machine) out += l.earned;
    }
    if (!page.next) return out;
    after = *page.next;
  }
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

Result<> lend(Context& c, const Lend& o) {
  Signals signals;
  agent::sweep();
  if (o.yield) ::setpriority(PRIO_PROCESS, 0, 19);
  SOUK_ASSIGN(const auto folder, lending_folder(c, o));
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto* target, c.target());
  if (target->token.empty())
    return failed("lending needs your account", "log in with `souk login NAME`, or set SOUK_TOKEN");

  agent::Workshop shop;
  auto options = agent::probe_options();
  options.disk_path = folder;
  auto spec = spec_of(o, agent::probe(options));
  spec.rtt_ms = round_trip_ms(*api);
  if (o.gpus > 0)
    return failed("GPUs cannot be lent yet: no sandbox here passes them on", "lend without --gpus");
  SOUK_TRY(open_sandboxes(c, o, shop, spec.packages));
  SOUK_ASSIGN(const auto classes, parsed<wire::Page<wire::SlotClass>>(api->get("/v1/classes")));
  SOUK_ASSIGN(const auto slots, choose_slots(o, spec, classes.items));
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  SOUK_ASSIGN(const auto machine,
              register_machine(*api, o.name.empty() ? host.data() : o.name, spec));
  SOUK_ASSIGN(const auto token, machine_token(*api, *target, machine.id, folder));
  shop.link = {
      .servers = {target->server}, .token = token, .ca_file = target->ca, .pin = target->pin};
  for (const auto& server : o.also) {
    SOUK_ASSIGN(auto url, normal_url(server));
    shop.link.servers.push_back(std::move(url));
  }
  shop.folder = folder + "/leases";
  shop.grace = o.grace;
  shop.internet = o.internet;
  const auto cache = o.cache.mib << 20;
  SOUK_ASSIGN(shop.store, blob::Store::open(folder + "/blobs",
                                            {.max_bytes = static_cast<std::uint64_t>(cache / 2)}));
  SOUK_ASSIGN(shop.trees, agent::Trees::open(folder + "/trees", cache / 2));
  shop.scratch_bytes = std::max<std::int64_t>(64, std::min(spec.disk_mib, spec.memory_mib / 2) /
                                                      std::max(1, slots.count))
                       << 20;

  std::mutex printing;
  shop.tell = [&](const std::string& line) {
    const std::lock_guard lock(printing);
    c.note(line);
  };
  SOUK_ASSIGN(const auto offer, open_offer(*api, machine, o, slots));
  const auto offer_path = path_of("/v1/offers", to_string(offer));
  // The machine's own token may do this, on a connection of its own: these run on other threads.
  auto as_machine = *target;
  as_machine.token = token;
  const auto set_paused = [as_machine, offer_path, &shop](bool paused) {
    auto own = Api::connect(as_machine, base::seconds(5));
    if (!own) return;
    const auto done = paused ? own->post(offer_path + "/pause", wire::to_json(wire::Pause{}))
                             : own->post(offer_path + "/resume");
    if (!done)
      shop.tell(fmt::format("cannot {} the offer: {}", paused ? "pause" : "resume",
                            done.error().message));
  };
  agent::AgentOptions how{.machine = machine.id,
                          .cores = spec.cores,
                          .once = o.once,
                          .drain = o.drain,
                          .notice = o.notice};
  agent::OwnerWatch owner;
  if (o.yield) {
    how.owner_is_here = [&owner](double programs) {
      return owner.here(programs, base::SystemClock().now());
    };
    how.on_owner = [&](bool here) {
      shop.tell(here ? "you are back: giving the machine back" : "you are gone: lending again");
      set_paused(here);
    };
  }
  agent::Agent agent(how, shop);
  signals.on_end([&] {
    shop.tell("ending: no new leases, those that run finish or save what they have");
    set_paused(true);
    agent.stop();
  });
  const auto start = c.now();
  c.note(fmt::format(
      "lending {} ({}): {} x {} at {}; Ctrl-C ends it", printable(machine.name),
      to_string(machine.id), slots.count, slots.slot_class,
      o.price.credits ? brief(*o.price.credits) + " credits per slot-hour" : "the market's price"));
  const auto ended = agent.run();
  set_paused(true);
  show_earnings(c, *api, o, machine.id, start);
  if (!ended) return std::unexpected(ended.error());
  if (o.once && !*ended) return failed("the lease did not succeed");
  return {};
}

}  // namespace

Command lend_command() {
  auto o = std::make_shared<Lend>();
  Command out{.name = "lend",
              .summary = "lend this machine and earn credits",
              .examples = {"lend", "lend --cores 4 --memory 8G --price 0.4",
                           "lend --yield --weekly 'Mon-Fri 18:00-08:00 Europe/Berlin'",
                           "lend --once --price market"}};
  out.options = {
      flag("--name NAME", "what the machine is called; default: its host name", o->name),
      flag("--cores N", "lend so many cores; default: all", o->cores),
      flag("--memory SIZE", "lend so much memory (8G); default: all", o->memory),
      flag("--gpus N", "lend so many GPUs; default: none", o->gpus),
      flag("--disk SIZE", "lend so much disk (50G)", o->disk),
      flag("--class CLASS", "lend slots of this class; default: the smallest", o->slot_class),
      flag("--price PRICE", "the least you take per slot-hour, or market (default)", o->price),
      flag("--weekly WINDOW", "lend only then: 'Mon-Fri 18:00-08:00 Europe/Berlin'", o->weekly),
      flag("--until TIME", "lend until then: a time, or 8h from now", o->until),
      flag("--longest-lease TIME", "default 24h", o->longest_lease),
      flag("--region NAME", "where it stands, for example eu", o->region),
      flag("--yield", "lowest priority, and give back when you use the machine", o->yield),
      flag("--notice TIME", "what programs get when you are back; default 30s", o->notice),
      flag("--drain TIME", "the longest it takes to end; default 90s", o->drain),
      flag("--grace TIME", "go on this long without the server; default 10m", o->grace),
      flag("--internet", "let jobs that ask for it reach the internet, never your network",
           o->internet),
      flag("--also URL", "another address of the server, tried in turn", o->also),
      flag("--folder PATH", "for files; default: the user's cache folder", o->folder),
      flag("--cache SIZE", "of files kept for later jobs; default 20G", o->cache),
      flag("--power-price PRICE", "credits per kWh, to show net earnings", o->power_price),
      flag("--watts N", "what the machine draws, with --power-price", o->watts),
      flag("--once", "take one lease to its end, then exit", o->once),
      flag("--unsafe-no-sandbox", "run strangers' programs without a sandbox", o->unsafe)};
  out.details =
      "Runs in the foreground; connects outward only. Programs run in a sandbox: they see none of "
      "your files, no network, and no more than the slot's cores and memory. Ctrl-C gives running "
      "programs time to save what they have; you are paid for what they ran.";
  out.run = [o](Context& c) { return lend(c, *o); };
  return out;
}

}  // namespace souk::cli
