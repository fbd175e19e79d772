#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "agent/command_output.h"
#include "agent/probe.h"
#include "base/hash.h"
#include "cli/human.h"
#include "cli/lend.h"
#include "cli/session.h"
#include "cli/upload.h"
#include "server/batch.h"
#include "server/views.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

using server::kContainers;
using server::kInternet;
using server::kUnsandboxed;

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

std::int32_t fitting(const wire::SlotClass& k, const wire::MachineSpec& m) {
  if (k.retired || k.gpu_memory_mib > m.gpu_memory_mib) return 0;
  auto out = std::min<std::int64_t>(m.cores / std::max(1, k.cores),
                                    m.memory_mib / std::max<std::int64_t>(1, k.memory_mib));
  if (k.gpus > 0) out = std::min<std::int64_t>(out, m.gpus / k.gpus);
  return static_cast<std::int32_t>(out);
}

}  // namespace

Result<Slots> choose_slots(const Lend& o, const wire::MachineSpec& m,
                           const std::vector<wire::SlotClass>& classes) {
  const wire::SlotClass* best = nullptr;
  for (const auto& k : classes) {
    const bool wanted =
        o.slot_class.empty() ? (k.gpus > 0) == (m.gpus > 0) : k.name == o.slot_class;
    if (!wanted || fitting(k, m) == 0) continue;
    if (best == nullptr || server::size_of(k) < server::size_of(*best)) best = &k;
  }
  if (best == nullptr)
    return failed(fmt::format("{}, {} of memory and {} make no slot{}", plural(m.cores, "core"),
                              to_string(Memory{m.memory_mib}), plural(m.gpus, "GPU"),
                              o.slot_class.empty() ? "" : " of class " + o.slot_class),
                  "lend more of the machine, or see `souk class list`");
  return Slots{best->name, o.once ? 1 : fitting(*best, m)};
}

namespace {

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
  shop.torch = torch_trainer(c.env());
  if (!shop.torch.empty()) {
    // It needs libraries that this machine may lack.
    const auto tried = agent::run_command({shop.torch, "--version"}, base::seconds(60), 4'096);
    if (tried && tried->good())
      features.emplace_back(server::kTorch);
    else
      shop.torch.clear();
  }
  if (shop.torch.empty()) c.note("no training jobs of kind torch: souk-torch does not run here");
  if (o.internet) features.emplace_back(kInternet);
  if (o.unsafe) features.emplace_back(kUnsandboxed);
  return {};
}

// The one machine that the token is for; nothing when it is a person's token. Only a machine's is
// refused to know its account.
Result<std::optional<wire::Machine>> machine_of_token(Api& api) {
  const auto me = api.get("/v1/me");
  if (me) return std::nullopt;
  if (me.error().code != base::Code::forbidden) return std::unexpected(me.error());
  SOUK_ASSIGN(const auto own, parsed<wire::Page<wire::Machine>>(api.get("/v1/machines")));
  if (own.items.empty())
    return failed("the machine that this token is for was removed",
                  "add it again in the console, or log in with `souk login NAME`");
  return own.items.front();
}

Result<wire::Machine> describe_machine(Api& api, base::MachineId id,
                                       const wire::MachineEdit& edit) {
  return parsed<wire::Machine>(
      api.patch(path_of("/v1/machines", to_string(id)), wire::to_json(edit)));
}

// The machine of this name, with this description.
Result<wire::Machine> register_machine(Api& api, const std::string& name,
                                       const wire::MachineSpec& spec) {
  std::optional<base::MachineId> known;
  SOUK_TRY(visit_all<wire::Machine>(api, "/v1/machines", [&](const wire::Machine& m) {
    if (m.name == name) known = m.id;
    return !known;
  }));
  if (known) return describe_machine(api, *known, {{}, spec});
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
  const auto folder = o.folder.empty() ? cache_folder(c.env()) + "/lend" : o.folder;
  std::error_code error;
  fs::create_directories(folder + "/leases", error);
  if (error)
    return failed(fmt::format("cannot make {}: {}", folder, error.message()),
                  "choose another with --folder");
  return folder;
}

Result<> open_shop(const Lend& o, const Ready& ready, const std::string& folder,
                   agent::Workshop& shop) {
  shop.link = link_to(ready.target);
  for (const auto& server : o.also) {
    SOUK_ASSIGN(auto url, normal_url(server));
    shop.link.servers.push_back(std::move(url));
  }
  shop.folder = folder + "/leases";
  shop.grace = o.grace;
  if (!(o.cpu_share >= 0.1 && o.cpu_share <= 1))
    return failed(fmt::format("a CPU share of {}", o.cpu_share), "use 0.1 to 1");
  shop.cpu_share = o.cpu_share;
  shop.internet = o.internet;
  const auto cache = o.cache.mib << 20;
  SOUK_ASSIGN(shop.store, blob::Store::open(folder + "/blobs",
                                            {.max_bytes = static_cast<std::uint64_t>(cache / 2)}));
  SOUK_ASSIGN(shop.trees, agent::Trees::open(folder + "/trees", cache / 2));
  // Scratch lies in memory, beside what the slots guarantee: half as much again, shared by all.
  const auto& spec = ready.machine.spec;
  const auto each = std::min(spec.disk_mib, spec.memory_mib / 2) / std::max(1, ready.slots.count);
  shop.scratch_bytes = std::max<std::int64_t>(64, each) << 20;
  return {};
}

std::string host_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

}  // namespace

Result<Ready> get_ready(Context& c, const Lend& o, agent::Workshop& shop) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto* target, c.target());
  if (target->token.empty())
    return failed("lending needs your account, or a token of this machine",
                  "log in with `souk login NAME`, or set SOUK_TOKEN");
  SOUK_ASSIGN(const auto own, machine_of_token(*api));
  SOUK_ASSIGN(const auto folder, lending_folder(c, o));
  auto options = agent::probe_options();
  options.disk_path = folder;
  const auto machine = agent::probe(options);
  auto spec = spec_of(o, machine);
  const auto known = static_cast<int>(machine.gpus.size());
  shop.gpus = std::make_unique<agent::Gpus>(std::min(o.gpus.value_or(known), known));
  if (shop.gpus->count() < o.gpus.value_or(0))
    return failed(fmt::format("{} can be lent, not {}", plural(shop.gpus->count(), "GPU"), *o.gpus),
                  "`souk doctor` shows the GPUs; their device nodes are /dev/nvidia0 and on");
  spec.gpus = shop.gpus->count();
  if (spec.gpus > 0) {
    spec.gpu = machine.gpus.front().name;
    spec.gpu_memory_mib = machine.gpus.front().memory_mib;
  }
  spec.rtt_ms = round_trip_ms(*api);
  SOUK_TRY(open_sandboxes(c, o, shop, spec.packages));
  SOUK_ASSIGN(const auto classes, parsed<wire::Page<wire::SlotClass>>(api->get("/v1/classes")));

  Ready out;
  SOUK_ASSIGN(out.slots, choose_slots(o, spec, classes.items));
  out.target = *target;
  if (own) {  // It keeps its name, unless it is given another.
    const auto name = o.name.empty() ? std::nullopt : std::optional(o.name);
    SOUK_ASSIGN(out.machine, describe_machine(*api, own->id, {name, spec}));
  } else {
    SOUK_ASSIGN(out.machine, register_machine(*api, o.name.empty() ? host_name() : o.name, spec));
    SOUK_ASSIGN(out.target.token, machine_token(*api, *target, out.machine.id, folder));
  }
  SOUK_TRY(open_shop(o, out, folder, shop));
  SOUK_ASSIGN(const auto offer, open_offer(*api, out.machine, o, out.slots));
  out.offer_path = path_of("/v1/offers", to_string(offer));
  return out;
}

}  // namespace souk::cli
