#include "cli/provide/provide.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "base/clock.h"
#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/lend/lend.h"
#include "cli/provide/market_side.h"
#include "cli/shell/human.h"
#include "net/client.h"
#include "provider/steward.h"
#include "wire/api/account.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

// What --dry-run prints.
struct WorstCase {
  base::Credits per_hour;
  base::Credits per_day;
  std::optional<base::Credits> in_all;  // Absent: there is no bill.
  SOUK_FIELDS(WorstCase, per_hour, per_day, in_all)
};
struct DryRun {
  std::string provider;
  std::string pool;
  std::string owner;
  std::vector<provider::MachineKind> kinds;  // Cheapest first: the first is the one started.
  std::int64_t would_start = 0;              // Now.
  std::int64_t alive = 0;                    // Of this pool, already.
  std::int64_t max = 0;
  std::string class_;
  std::int32_t slots_per_machine = 0;
  base::Credits price;  // That is asked per slot-hour, and the least that covers the bill.
  base::Credits floor;
  base::Duration lifetime;
  WorstCase worst_case;
  SOUK_FIELDS(DryRun, provider, pool, owner, kinds, would_start, alive, max, class_,
              slots_per_machine, price, floor, lifetime, worst_case)
};

// What is the same for a dry run and a real one.
struct Setup {
  PoolSettings settings;
  provider::Rules rules;
  MarketSideOptions market;
  base::Credits floor;
  std::string folder;
};

base::Credits per_slot(base::Credits hourly, std::int32_t slots) {
  return base::Credits((hourly.micro + slots - 1) / slots);  // Rounded up: it covers the bill.
}

base::Credits dearest(const PoolPlan& plan) {
  return std::ranges::max(plan.kinds, {}, &provider::MachineKind::hourly).hourly;
}

Result<> check(const ProvideOptions& o, const PoolPlan& plan) {
  if (o.most < 0 || o.most > 900)
    return usage(fmt::format("--max: {} is too few or too many", o.most), "0 to 900");
  if (o.least < 0 || o.least > o.most)
    return usage(fmt::format("--min: {} is not between 0 and --max", o.least));
  if (o.lifetime < base::minutes(2) || o.lifetime > base::days(7))
    return usage("--lifetime: " + to_string(o.lifetime), "2m to 7d");
  if (o.every < base::milliseconds(100) || o.every > base::minutes(1))
    return usage("--every: " + to_string(o.every), "100ms to 1m");
  if (dearest(plan).micro > 0 && !o.max_spend)
    return usage("these machines cost money, and nothing bounds how much",
                 "say the most that all of them may cost: --max-spend 20");
  return {};
}

// The slots of the machine that would be started first, and the least price of one that covers the
// bill of each kind.
struct SlotPlan {
  Slots slots;
  base::Credits floor;
};

Result<SlotPlan> plan_slots(Context& c, const ProvideOptions& o, const PoolPlan& plan) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto classes, parsed<wire::Page<wire::SlotClass>>(api->get("/v1/classes")));
  SlotPlan out;
  for (const auto& kind : plan.kinds) {
    const wire::MachineSpec spec{.cores = kind.cores,
                                 .memory_mib = kind.memory_mib * 2 / 3,
                                 .gpus = kind.gpus,
                                 // What its GPUs have is seen when it runs.
                                 .gpu_memory_mib = kind.gpus > 0 ? std::int64_t{1} << 40 : 0};
    // All lend the class that the first one has.
    const Lend lend{.slot_class = out.slots.count > 0 ? out.slots.slot_class : o.slot_class};
    SOUK_ASSIGN(const auto slots, choose_slots(lend, spec, classes.items));
    if (out.slots.count == 0) out.slots = slots;
    out.floor = std::max(out.floor, per_slot(kind.hourly, slots.count));
  }
  return out;
}

std::vector<std::string> lend_flags(const ProvideOptions& o, const Setup& s) {
  std::vector<std::string> out{
      "--class",
      s.market.slot_class,
      "--price",
      o.price || s.floor.micro > 0 ? to_string(o.price.value_or(s.floor)) : "market",
      "--exit-idle",
      to_string(o.idle + base::minutes(1)),
      "--exit-alone",
      to_string(o.alone)};
  for (const auto& e : o.environments) out.insert(out.end(), {"--env", e});
  if (o.unsafe) out.emplace_back("--unsafe-no-sandbox");
  return out;
}

Result<Setup> set_up(Context& c, const ProvideOptions& o, PoolPlan& plan) {
  SOUK_TRY(check(o, plan));
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto* target, c.target());
  if (target->token.empty())
    return failed("machines on demand need your account", "log in with `souk login NAME`");
  SOUK_ASSIGN(const auto me, parsed<wire::Account>(api->get("/v1/me")));
  Setup out{.settings = std::move(plan.settings)};
  auto& settings = out.settings;
  settings.owner = owner_tag(me.name, target->server);
  settings.pool = provider::clean_name(o.pool.empty() ? provider_name(settings) : o.pool);
  settings.server = target->server;
  SOUK_ASSIGN(const auto pools, pools_folder(c, o.state));
  out.folder = pools + "/" + settings.pool;
  if (settings.slurm) settings.slurm->folder = out.folder + "/jobs";
  SOUK_ASSIGN(const auto planned, plan_slots(c, o, plan));
  const auto& slots = planned.slots;
  out.floor = planned.floor;
  if (o.price && *o.price < out.floor)
    return usage(
        fmt::format("--price: {} does not cover the bill", to_string(*o.price)),
        fmt::format("a machine costs up to {} an hour and has {}: {} or more",
                    to_string(dearest(plan)), plural(slots.count, "slot"), to_string(out.floor)));
  out.rules = {.max_machines = o.most, .max_spend = o.max_spend, .lifetime = o.lifetime};
  out.market = {.pool = settings.pool,
                .provider = provider_name(settings),
                .slot_class = slots.slot_class,
                .demand = {.floor = o.price.value_or(out.floor),
                           .slots_per_machine = slots.count,
                           .min_machines = o.least,
                           .idle = o.idle},
                .token_life = o.lifetime + base::hours(1)};
  auto& join = out.market.join;
  join.server = target->server;
  if (!o.via.empty()) {
    SOUK_ASSIGN(join.server, normal_url(o.via));
  }
  join.pin = target->pin;
  if (!target->ca.empty()) {
    SOUK_ASSIGN(join.ca_pem, base::read_file(target->ca, "check --ca"));
  }
  join.flags = lend_flags(o, out);
  return out;
}

WorstCase worst_case(const ProvideOptions& o, const PoolPlan& plan) {
  const auto hourly = dearest(plan).micro * o.most;
  WorstCase out{base::Credits(hourly), base::Credits(hourly * 24), o.max_spend};
  if (hourly == 0) out.in_all = base::Credits();
  return out;
}

Result<> show_plan(Context& c, const ProvideOptions& o, const PoolPlan& plan, const Setup& s) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto provider, make_provider(c, s.settings));
  provider::Fleet fleet;
  if (auto known = provider::read_intents(s.folder); known) fleet = *std::move(known);
  MarketSide market(*api, s.market);
  SOUK_ASSIGN(auto kinds, provider->kinds());
  SOUK_ASSIGN(const auto listed, provider->list({}));
  SOUK_ASSIGN(const auto need, market.need(fleet, c.now()));
  if (kinds.empty()) return failed("this provider has nothing to start now");
  const auto actions = reconcile(fleet, listed, need, kinds.front(), s.rules, c.now());
  DryRun out{.provider = provider_name(s.settings),
             .pool = s.settings.pool,
             .owner = s.settings.owner,
             .kinds = std::move(kinds),
             .would_start = actions.starts,
             .alive = alive(fleet),
             .max = o.most,
             .class_ = s.market.slot_class,
             .slots_per_machine = s.market.demand.slots_per_machine,
             .price = o.price.value_or(s.floor),
             .floor = s.floor,
             .lifetime = o.lifetime,
             .worst_case = worst_case(o, plan)};
  if (c.json()) {
    std::string text;
    wire::write_json(text, out);
    return c.print_json(text);
  }
  c.print(fmt::format("pool {} of {}: {} now, of {} at most, each {} x {} at {} or more\n",
                      out.pool, out.provider, plural(out.would_start, "machine"), out.max,
                      out.slots_per_machine, out.class_, brief(out.price)));
  for (const auto& kind : out.kinds)
    c.print(fmt::format("  {}: {} credits an hour\n", to_string(kind), brief(kind.hourly)));
  c.print(fmt::format("worst case: {} credits an hour, {} a day, {} in all\n",
                      brief(out.worst_case.per_hour), brief(out.worst_case.per_day),
                      brief(out.worst_case.in_all, "no limit")));
  return {};
}

sigset_t ending_signals() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGTERM);
  sigaddset(&out, SIGINT);
  return out;
}

// Until `length` has passed, a signal arrives (true), or somebody wants the pool to stop.
bool told_to_end(const std::string& folder, base::Duration length) {
  const auto signals = ending_signals();
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(length.us);
  const timespec moment{0, 100'000'000};
  while (std::chrono::steady_clock::now() < end && !stop_wanted(folder))
    if (::sigtimedwait(&signals, nullptr, &moment) > 0) return true;
  return false;
}

}  // namespace

std::vector<Option> pool_flags(ProvideOptions& o) {
  return {
      flag("--max N", "at most so many machines at a time; default 1", o.most),
      flag("--min N", "keep so many, whether anybody wants them or not; default 0", o.least),
      flag("--price PRICE", "the least you take per slot-hour; default: what covers the bill",
           o.price),
      flag("--max-spend CREDITS", "the most that all machines of the pool may ever cost",
           o.max_spend),
      flag("--class CLASS", "lend slots of this class; default: the smallest that fits",
           o.slot_class),
      flag("--lifetime TIME", "the longest that one machine runs; default 4h", o.lifetime),
      flag("--idle TIME", "let a machine go that has no lease for so long; default 5m", o.idle),
      flag("--alone TIME", "a machine that does not reach the market ends; default 5m", o.alone),
      flag("--every TIME", "how often to look; default 10s", o.every),
      flag("--pool NAME", "what this fleet is called; default: the provider's name", o.pool),
      flag("--state FOLDER", "for the journal; default: ~/.local/state/souk/provide", o.state),
      flag("--via URL", "the address of the market for the machines: a `souk relay`", o.via),
      flag("--env PATH", "lend this Python environment of the machines, too", o.environments),
      flag("--unsafe-no-sandbox", "for nodes without user namespaces: no sandbox", o.unsafe),
      flag("--dry-run", "show what would be started, and the worst-case bill", o.dry_run)};
}

Result<> provide(Context& c, const ProvideOptions& o, PoolPlan plan) {
  SOUK_ASSIGN(const auto s, set_up(c, o, plan));
  if (o.dry_run) return show_plan(c, o, plan, s);
  SOUK_ASSIGN(auto* api, c.api());
  provider::Fleet fleet;
  SOUK_ASSIGN(const auto log, provider::IntentFile::open(s.folder, fleet, c.now()));
  SOUK_ASSIGN(const auto provider, make_provider(c, s.settings));
  std::string settings;
  wire::write_json(settings, s.settings);
  if (settings != fleet.settings) {
    const provider::Record opened{
        .kind = provider::RecordKind::opened, .at = c.now(), .text = settings};
    SOUK_TRY(log->append(opened));
    apply(fleet, opened);
  }
  auto rules = s.rules;
  rules.delays = provider->delays();
  MarketSide market(*api, s.market);
  const base::SystemClock clock;
  provider::Steward steward({.provider = *provider,
                             .market = market,
                             .log = *log,
                             .clock = clock,
                             .fresh_intent = [] { return net::fresh_key().substr(0, 16); },
                             .say = [&](const std::string& line) { c.note(line); }},
                            {s.settings.owner, s.settings.pool, ""}, rules, fleet);
  const auto signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  c.note(
      fmt::format("providing {} from {}: at most {} at {} credits per slot-hour; Ctrl-C leaves "
                  "what runs, `souk provide stop --pool {}` stops it",
                  s.market.slot_class, provider_name(s.settings), plural(o.most, "machine"),
                  brief(s.market.demand.floor), s.settings.pool));
  bool ending = false;
  while (true) {
    if (!ending && stop_wanted(s.folder)) {
      ending = true;
      steward.stop_all();
      c.note("stopping all machines");
    }
    SOUK_TRY(steward.pass());
    if (ending && steward.empty()) break;
    // While it ends, the stop file is there, and nobody needs to wait long.
    if (ending ? told_to_end("", base::seconds(1)) : told_to_end(s.folder, o.every)) break;
  }
  if (const auto left = alive(fleet); left > 0)
    c.note(fmt::format("{} go on until nobody uses them: `souk provide stop --pool {}` ends them",
                       plural(left, "machine"), s.settings.pool));
  return {};
}

Command provide_command() {
  Command out{.name = "provide",
              .summary = "lend machines of a cluster or a cloud, started when somebody wants them",
              .examples = {"provide slurm --partition idle --max 8 --price 0.3",
                           "provide ec2 --region us-east-1 --type c7i.large --spot --max-spend 20",
                           "provide kubernetes --namespace souk --image souk:latest --max 4",
                           "provide stop --all"}};
  out.commands = {provide_slurm_command(), provide_ec2_command(), provide_kubernetes_command(),
                  provide_status_command(), provide_stop_command()};
  return out;
}

}  // namespace souk::cli
