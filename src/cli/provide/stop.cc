#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "cli/provide/market_side.h"
#include "cli/provide/provide.h"
#include "cli/shell/human.h"
#include "provider/steward.h"
#include "wire/json.h"

// `souk provide status` and `souk provide stop`.

namespace souk::cli {
namespace {

struct MachineStatus {
  std::string intent;
  provider::Phase phase = provider::Phase::starting;
  std::string handle;
  provider::MachineKind machine;
  base::Time intended;
  base::Time end;
  SOUK_FIELDS(MachineStatus, intent, phase, handle, machine, intended, end)
};
struct PoolStatus {
  std::string pool;
  std::string provider;
  std::string server;
  std::vector<MachineStatus> machines;  // That are not known to have ended.
  std::int64_t ended = 0;
  base::Credits spent;
  base::Credits committed;  // If all run to their latest end.
  SOUK_FIELDS(PoolStatus, pool, provider, server, machines, ended, spent, committed)
};
struct Status {
  std::vector<PoolStatus> pools;
  SOUK_FIELDS(Status, pools)
};

// A journal of another version may lack what this one needs; it still says what runs.
PoolSettings settings_of(const provider::Fleet& fleet, const std::string& pool) {
  auto out = wire::from_json<PoolSettings>(fleet.settings);
  return out ? *std::move(out) : PoolSettings{.pool = pool};
}

PoolStatus status_of(const std::string& pool, const provider::Fleet& fleet, base::Time now) {
  const auto settings = settings_of(fleet, pool);
  PoolStatus out{.pool = pool,
                 .provider = provider_name(settings),
                 .server = settings.server,
                 .spent = spent(fleet, now),
                 .committed = committed(fleet)};
  for (const auto& [id, i] : fleet.intents) {
    if (i.phase == provider::Phase::ended)
      ++out.ended;
    else
      out.machines.push_back({id, i.phase, i.handle, i.machine, i.intended, i.end});
  }
  return out;
}

Result<> show_status(Context& c, const std::string& state) {
  SOUK_ASSIGN(const auto folder, pools_folder(c, state));
  Status out;
  for (const auto& pool : pools_in(folder)) {
    SOUK_ASSIGN(const auto fleet, provider::read_intents(folder + "/" + pool));
    out.pools.push_back(status_of(pool, fleet, c.now()));
  }
  if (c.json()) {
    std::string text;
    wire::write_json(text, out);
    return c.print_json(text);
  }
  if (out.pools.empty()) c.note("nothing was ever provided from here");
  Table table({{"pool"}, {"provider"}, {"machine"}, {"state"}, {"handle"}, {"kind"}, {"ends"}});
  for (const auto& p : out.pools)
    for (const auto& m : p.machines)
      table.add({p.pool, p.provider, m.intent, std::string(to_string(m.phase)), m.handle,
                 to_string(m.machine), relative(m.end, c.now())});
  if (!table.empty()) c.print(table);
  for (const auto& p : out.pools)
    c.print(fmt::format("pool {}: {}, {} credits spent, {} at most until they end\n", p.pool,
                        plural(static_cast<std::int64_t>(p.machines.size()), "machine"),
                        brief(p.spent), brief(p.committed)));
  return {};
}

struct Stop {
  std::string pool;
  std::string state;
  bool all = false;
  base::Duration wait = base::minutes(5);
};

using Deadline = std::chrono::steady_clock::time_point;

void pause_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }

// Waits for whoever has the pool: it sees the stop file, stops all and ends.
Result<std::unique_ptr<provider::IntentFile>> take_over(Context& c, const std::string& folder,
                                                        provider::Fleet& fleet, Deadline deadline) {
  while (true) {
    auto log = provider::IntentFile::open(folder, fleet, c.now());
    if (log) return *std::move(log);
    if (log.error().code != base::Code::conflict || std::chrono::steady_clock::now() > deadline)
      return std::unexpected(log.error());
    pause_a_moment();
  }
}

Result<> stop_pool(Context& c, const std::string& folder, const std::string& pool,
                   Deadline deadline) {
  const auto here = folder + "/" + pool;
  {
    std::ofstream file(stop_file(here));
    if (!file) return failed("cannot write " + stop_file(here));
  }
  provider::Fleet fleet;
  SOUK_ASSIGN(const auto log, take_over(c, here, fleet, deadline));
  const auto settings = settings_of(fleet, pool);
  SOUK_ASSIGN(const auto provider, make_provider(c, settings));
  SOUK_ASSIGN(auto* api, c.api());
  MarketSide market(*api, {.pool = pool});
  const base::SystemClock clock;
  provider::Rules rules;
  rules.delays = provider->delays();
  provider::Steward steward({.provider = *provider,
                             .market = market,
                             .log = *log,
                             .clock = clock,
                             .fresh_intent = [] { return std::string(); },
                             .say = [&](const std::string& line) { c.note(line); }},
                            {settings.owner, pool, ""}, rules, fleet);
  steward.stop_all();
  while (true) {
    SOUK_TRY(steward.pass());
    if (steward.empty()) break;
    if (std::chrono::steady_clock::now() > deadline)
      return failed(fmt::format("{} of pool {} still end", plural(alive(fleet), "machine"), pool),
                    "run it again: nothing new is started meanwhile");
    pause_a_moment();
  }
  std::error_code error;
  std::filesystem::remove(stop_file(here), error);
  c.note(fmt::format("pool {}: nothing runs", pool));
  return {};
}

Result<> stop(Context& c, const Stop& o) {
  SOUK_ASSIGN(const auto folder, pools_folder(c, o.state));
  auto pools = pools_in(folder);
  if (o.pool.empty() == !o.all)
    return usage("say which machines to stop", "--all, or one pool: --pool NAME");
  if (!o.all) {
    if (std::ranges::find(pools, o.pool) == pools.end())
      return failed(fmt::format("there is no pool '{}' in {}", o.pool, folder),
                    "see `souk provide status`");
    pools = {o.pool};
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(o.wait.us);
  Result<> out;
  for (const auto& pool : pools)
    if (auto done = stop_pool(c, folder, pool, deadline); !done) {
      c.note(fmt::format("pool {}: {}", pool, wire::one_line(done.error())));
      out = std::move(done);  // The others are stopped none the less.
    }
  if (pools.empty()) c.note("nothing was ever provided from here");
  return out;
}

}  // namespace

Command provide_status_command() {
  auto state = std::make_shared<std::string>();
  Command out{.name = "status",
              .summary = "what was started from here and runs, and what it costs",
              .examples = {"provide status", "provide status --json"}};
  out.options = {flag("--state FOLDER", "where the journals are", *state)};
  out.common = Common::local;
  out.run = [state](Context& c) { return show_status(c, *state); };
  return out;
}

Command provide_stop_command() {
  auto o = std::make_shared<Stop>();
  Command out{.name = "stop",
              .summary = "stop machines that were started from here, and who starts them",
              .examples = {"provide stop --all", "provide stop --pool slurm"}};
  out.options = {flag("--all", "of all pools", o->all),
                 flag("--pool NAME", "of this pool", o->pool),
                 flag("--wait TIME", "for them to end; default 5m", o->wait),
                 flag("--state FOLDER", "where the journals are", o->state)};
  out.run = [o](Context& c) { return stop(c, *o); };
  return out;
}

}  // namespace souk::cli
