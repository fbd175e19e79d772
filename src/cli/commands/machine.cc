#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"
#include "wire/api/machine.h"

namespace souk::cli {
namespace {

std::string state_of(const wire::Machine& m) {
  return !m.online ? "offline" : m.doubted ? "not yet proved" : "online";
}

// The parts of a machine's description that can be given on the command line.
struct SpecFlags {
  std::optional<std::string> name;
  std::optional<std::int32_t> cores, gpus, rtt_ms;
  std::optional<Memory> memory, disk, gpu_memory;
  std::optional<std::string> gpu, cpu, os, region, provider;
  std::optional<Names> packages;
};

std::vector<Option> spec_flags(SpecFlags& s) {
  return {flag("--cores N", "processor cores", s.cores),
          flag("--memory SIZE", "for example 16G", s.memory),
          flag("--disk SIZE", "free disk", s.disk),
          flag("--gpus N", "graphics processors", s.gpus),
          flag("--gpu-memory SIZE", "of each of them", s.gpu_memory),
          flag("--gpu MODEL", "for example 'RTX 4090'", s.gpu),
          flag("--cpu MODEL", "for example 'EPYC 7763'", s.cpu),
          flag("--os NAME", "for example 'Debian 12'", s.os),
          flag("--region NAME", "for example eu", s.region),
          flag("--provider NAME", "default community", s.provider),
          flag("--packages A,B", "installed software jobs may ask for", s.packages),
          flag("--rtt MS", "round-trip time to the server", s.rtt_ms)};
}

void overlay(const SpecFlags& f, wire::MachineSpec& spec) {
  if (f.cores) spec.cores = *f.cores;
  if (f.memory) spec.memory_mib = f.memory->mib;
  if (f.disk) spec.disk_mib = f.disk->mib;
  if (f.gpus) spec.gpus = *f.gpus;
  if (f.gpu_memory) spec.gpu_memory_mib = f.gpu_memory->mib;
  if (f.gpu) spec.gpu = *f.gpu;
  if (f.cpu) spec.cpu = *f.cpu;
  if (f.os) spec.os = *f.os;
  if (f.region) spec.region = *f.region;
  if (f.provider) spec.provider = *f.provider;
  if (f.packages) spec.packages = f.packages->items;
  if (f.rtt_ms) spec.rtt_ms = *f.rtt_ms;
}

// This computer, as far as a few system calls tell.
wire::MachineSpec this_computer() {
  wire::MachineSpec out;
  out.cores = std::max<std::int32_t>(1, static_cast<std::int32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  struct sysinfo info{};
  if (sysinfo(&info) == 0)
    out.memory_mib = static_cast<std::int64_t>(info.totalram) * info.mem_unit / (1 << 20);
  utsname name{};
  if (uname(&name) == 0) out.os = fmt::format("{} {}", name.sysname, name.release);
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; out.cpu.empty() && std::getline(cpus, line);)
    if (line.starts_with("model name")) out.cpu = base::trim(line.substr(line.find(':') + 1));
  return out;
}

void show_machine(Context& c, const wire::Machine& m) {
  const auto& s = m.spec;
  c.print(fmt::format("{} {} of {}, {}, reliability {}\n", to_string(m.id), printable(m.name),
                      printable(m.owner), state_of(m), reliability_text(m.reliability, m.leases)));
  c.print(fmt::format("  {}, {} memory", plural(s.cores, "core"), to_string(Memory{s.memory_mib})));
  if (s.disk_mib > 0) c.print(fmt::format(", {} disk", to_string(Memory{s.disk_mib})));
  if (s.gpus > 0)
    c.print(fmt::format(", {} {} with {}", plural(s.gpus, "GPU"), printable(s.gpu),
                        to_string(Memory{s.gpu_memory_mib})));
  c.print("\n");
  const auto line = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) c.print(fmt::format("  {:<9} {}\n", what, printable(value)));
  };
  line("doubted", m.doubted.value_or(""));
  if (m.busy) line("busy", wire::busy_text(*m.busy, c.now()));
  line("cpu", s.cpu);
  if (m.core_speed) line("speed", fmt::format("{} for each core, measured", *m.core_speed));
  line("os", s.os);
  line("region", s.region);
  line("provider", s.provider);
  line("packages", base::join(s.packages, ", "));
  for (const auto& e : s.environments)
    line("env", fmt::format("{}: {}", e.name, base::join(e.packages, ", ")));
  std::vector<std::string> offers;
  for (const auto id : m.offers) offers.push_back(to_string(id));
  line("offers", offers.empty()
                     ? fmt::format("none yet: souk offer create {} --class c1", to_string(m.id))
                     : base::join(offers, ", "));
}

Command add_machine_command() {
  struct Options {
    std::string name;
    SpecFlags spec;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "add",
              .summary = "tell the market of a machine you lend",
              .examples = {"machine add desk   # this computer, as it is",
                           "machine add tower --cores 16 --memory 64G --gpus 1 --gpu-memory 24G"}};
  out.options = spec_flags(o->spec);
  out.options.insert(out.options.begin(), argument("NAME", "what you call it", o->name));
  out.details = "What is not given is taken from the computer this runs on.";
  out.run = [o](Context& c) -> Result<> {
    wire::NewMachine request{o->name, this_computer()};
    overlay(o->spec, request.spec);
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->post("/v1/machines", wire::to_json(request)));
    return c.show<wire::Machine>(body, [&](const auto& m) { show_machine(c, m); });
  };
  return out;
}

Command list_machines_command() {
  struct Options {
    Paging paging;
    bool all = false;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "list",
              .summary = "your machines",
              .examples = {"machine list", "machine list --all --json"}};
  out.options = paging_flags(o->paging);
  out.options.insert(out.options.begin(), flag("--all", "everybody's (operators)", o->all));
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    auto query = params(o->paging);
    query.emplace_back("all", o->all ? "true" : "");
    SOUK_ASSIGN(const auto body, api->get("/v1/machines" + query_string(query)));
    return c.show<wire::Page<wire::Machine>>(body, [&](const auto& page) {
      if (page.items.empty()) return c.print("no machines yet: `souk lend` lends this one\n");
      using enum Column::Align;
      Table table({{"id"},
                   {"name", left, 8},
                   {"owner", left, 8, 4},
                   {"state"},
                   {"cores", right},
                   {"memory", right},
                   {"gpus", right, 0, 5},
                   {"region", left, 0, 2},
                   {"reliability", right, 0, 3},
                   {"offers", right, 0, 1}});
      for (const auto& m : page.items)
        table.add({to_string(m.id), m.name, m.owner,
                   Cell(state_of(m), !m.online   ? Tone::bad
                                     : m.doubted ? Tone::warning
                                                 : Tone::good),
                   std::to_string(m.spec.cores), to_string(Memory{m.spec.memory_mib}),
                   std::to_string(m.spec.gpus), m.spec.region,
                   reliability_text(m.reliability, m.leases), std::to_string(m.offers.size())});
      c.print(table);
      for (const auto& m : page.items)
        if (m.doubted)
          c.print(fmt::format("{} ({}) is not yet proved: {}\n", to_string(m.id), printable(m.name),
                              m.busy ? wire::busy_text(*m.busy, c.now()) : printable(*m.doubted)));
      show_next(c, page.next);
    });
  };
  return out;
}

struct OneMachine {
  base::MachineId id;
  SpecFlags spec;
  [[nodiscard]] std::string path(std::string_view suffix = {}) const {
    return path_of("/v1/machines", to_string(id), suffix);
  }
};

Command show_machine_command() {
  auto o = std::make_shared<OneMachine>();
  Command out{.name = "show", .summary = "one machine", .examples = {"machine show m1"}};
  out.options = {argument("MACHINE", "its id", o->id)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get(o->path()));
    return c.show<wire::Machine>(body, [&](const auto& m) { show_machine(c, m); });
  };
  return out;
}

Command edit_machine_command() {
  auto o = std::make_shared<OneMachine>();
  Command out{.name = "edit",
              .summary = "change a machine's name or description",
              .examples = {"machine edit m1 --region eu --packages python3-torch,numpy",
                           "machine edit m1 --name tower"}};
  out.options = spec_flags(o->spec);
  out.options.insert(out.options.begin(), {argument("MACHINE", "its id", o->id),
                                           flag("--name NAME", "a new name", o->spec.name)});
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(auto machine, parsed<wire::Machine>(api->get(o->path())));
    overlay(o->spec, machine.spec);
    const wire::MachineEdit edit{o->spec.name, std::move(machine.spec)};
    SOUK_ASSIGN(const auto body, api->patch(o->path(), wire::to_json(edit)));
    return c.show<wire::Machine>(body, [&](const auto& m) { show_machine(c, m); });
  };
  return out;
}

Command remove_machine_command() {
  auto o = std::make_shared<OneMachine>();
  Command out{.name = "remove",
              .summary = "take a machine and its offers away",
              .examples = {"machine remove m1"}};
  out.options = {argument("MACHINE", "its id", o->id)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->remove(o->path()));
    return c.done(body, fmt::format("machine {} is removed", to_string(o->id)));
  };
  return out;
}

Command heartbeat_command() {
  struct Options {
    OneMachine machine;
    std::vector<wire::LeaseReport> held;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "heartbeat",
              .summary = "say that a machine is alive, as its agent does",
              .examples = {"machine heartbeat m1 --lease l4:1"}};
  out.options = {argument("MACHINE", "its id", o->machine.id),
                 flag("--lease LEASE:EPOCH", "a lease it works on", o->held)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body,
                api->post(o->machine.path("/heartbeat"), wire::to_json(wire::Heartbeat{o->held})));
    return c.show<wire::Orders>(body, [&](const auto& orders) {
      for (const auto& order : orders.orders)
        c.print(fmt::format("{}:{}  {}  {}\n", to_string(order.lease), order.epoch,
                            to_string(order.action),
                            order.until ? "until " + to_string(*order.until) : ""));
      c.print(fmt::format("say so again within {}\n", to_string(orders.heartbeat_every)));
    });
  };
  return out;
}

Command work_command() {
  struct Options {
    OneMachine machine;
    std::string seen;
    base::Duration wait;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "work",
              .summary = "the open leases of a machine, as its agent sees them",
              .examples = {"machine work m1", "machine work m1 --seen 12 --wait 30s"}};
  out.options = {argument("MACHINE", "its id", o->machine.id),
                 flag("--seen VERSION", "answer when there is a newer version", o->seen),
                 flag("--wait TIME", "how long to wait for one", o->wait)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    const auto query = query_string(
        {{"seen", o->seen}, {"wait", o->wait.us > 0 ? to_string(o->wait) : std::string()}});
    SOUK_ASSIGN(const auto body, api->get(o->machine.path("/work") + query));
    return c.show<wire::OpenLeases>(body, [&](const auto& work) {
      if (work.leases.empty()) c.print("no work now\n");
      for (const auto& l : work.leases)
        c.print(fmt::format("{}:{}  {}  job {}  {} x {}  until {}\n", to_string(l.id), l.epoch,
                            to_string(l.state), to_string(l.job), l.slots, l.class_,
                            to_string(l.until)));
      c.print(fmt::format("version {}\n", work.version));
    });
  };
  return out;
}

Command machine_token_command() {
  auto o = std::make_shared<OneMachine>();
  Command out{.name = "token",
              .summary = "a token for a machine's agent: it can do nothing else",
              .examples = {"machine token m1"}};
  out.options = {argument("MACHINE", "its id", o->id)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    const wire::NewToken request{base::Scope::machine, o->id, "agent of " + to_string(o->id), {}};
    SOUK_ASSIGN(const auto body, api->post("/v1/tokens", wire::to_json(request)));
    return c.show<wire::IssuedToken>(body, [&](const auto& t) {
      c.note("shown only now; give it to the agent as SOUK_TOKEN:");
      c.print(t.token + "\n");
    });
  };
  return out;
}

}  // namespace

Command machine_command() {
  Command out{.name = "machine",
              .summary = "machines that you lend",
              .examples = {"machine add desk", "machine list", "machine token m1"}};
  out.commands = {add_machine_command(),  list_machines_command(),  show_machine_command(),
                  edit_machine_command(), remove_machine_command(), heartbeat_command(),
                  work_command(),         machine_token_command()};
  return out;
}

}  // namespace souk::cli
