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

#include "agent/probe/command_output.h"
#include "agent/probe/probe.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/commands/upload.h"
#include "cli/lend/lend.h"
#include "cli/lend/lend_environments.h"
#include "cli/lend/lend_fetch.h"
#include "cli/lend/lend_hardware.h"
#include "cli/lend/lend_trainer.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"
#include "job/job_terms.h"
#include "job/packages.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;

using job::kContainers;
using job::kInternet;
using job::kUnsandboxed;

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
  if (k.gpu_memory_mib > m.gpu_memory_mib) return 0;
  auto out = std::min<std::int64_t>(m.cores / std::max(1, k.cores),
                                    m.memory_mib / std::max<std::int64_t>(1, k.memory_mib));
  if (k.gpus > 0) out = std::min<std::int64_t>(out, m.gpus / k.gpus);
  return static_cast<std::int32_t>(out);
}

std::string no_slot(const wire::MachineSpec& m, const std::string& slot_class) {
  return fmt::format("{}, {} of memory and {} make no slot{}", plural(m.cores, "core"),
                     to_string(Memory{m.memory_mib}), plural(m.gpus, "GPU"),
                     slot_class.empty() ? "" : " of class " + slot_class);
}

}  // namespace

Result<Slots> choose_slots(const Lend& o, const wire::MachineSpec& m,
                           const std::vector<wire::SlotClass>& classes) {
  const wire::SlotClass* best = nullptr;
  for (const auto& k : classes) {
    const bool wanted =
        o.slot_class.empty() ? (k.gpus > 0) == (m.gpus > 0) : k.name == o.slot_class;
    if (!wanted || k.retired || fitting(k, m) == 0) continue;
    if (best == nullptr || job::size_of(k) < job::size_of(*best)) best = &k;
  }
  if (best == nullptr)
    return failed(no_slot(m, o.slot_class), "lend more of the machine, or see `souk class list`");
  const auto all = fitting(*best, m);
  return Slots{best->name, o.once ? 1 : all, all};
}

Slots keep_slots(const Lend& o, const wire::Offer& offer, std::int32_t fitted, std::int32_t fit) {
  const auto kept = offer.slots >= fitted ? fit : std::min(offer.slots, fit);
  return {offer.class_, o.once ? std::min(1, kept) : kept, kept};
}

wire::OfferEdit keep_terms(const Lend& o, const wire::Offer& offer, base::Time now) {
  wire::OfferEdit out{.longest_lease = o.longest_lease};
  if (o.price) {
    out.price = o.price->credits;
    out.market = !o.price->credits;
  }
  if (!o.weekly.empty()) out.weekly = o.weekly;
  out.until = o.until;
  if (!o.until && offer.until && *offer.until <= now) {
    out.always = true;
    if (!out.weekly) out.weekly = offer.weekly;
  }
  return out;
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
      } else if (finding.subject == "gangs") {
        if (finding.limited && name == shop.sandbox) features.emplace_back(job::kGangs);
        if (!finding.limited) c.note(finding.text);
      } else if (!finding.limited && name == shop.sandbox) {
        c.note(fmt::format("not limited here: {}", finding.text));
      } else if (finding.subject == "memory" && name == shop.sandbox) {
        c.note(finding.text);
      }
    }
    if (works && name == "podman") features.emplace_back(kContainers);
    if (works && name == "bubblewrap" && !o.unsafe) features.emplace_back(job::kPorts);
    if (works) shop.sandboxes[std::string(name)] = std::move(sandbox);
  }
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

// The machine that this name has on the market, if there is one.
Result<std::optional<wire::Machine>> machine_named(Api& api, const std::string& name) {
  std::optional<wire::Machine> out;
  SOUK_TRY(visit_all<wire::Machine>(api, "/v1/machines", [&](const wire::Machine& m) {
    if (m.name == name) out = m;
    return !out;
  }));
  return out;
}

// What is to be lent: by an offer that the machine has, or by a new one.
struct OfferChoice {
  std::optional<wire::Offer> offer;
  wire::OfferEdit edit;
  std::vector<wire::Offer> others;
  Slots slots;
};

Result<std::vector<wire::Offer>> offers_of(Api& api, const std::optional<wire::Machine>& machine) {
  std::vector<wire::Offer> out;
  if (!machine) return out;
  for (const auto id : machine->offers) {
    SOUK_ASSIGN(auto offer, parsed<wire::Offer>(api.get(path_of("/v1/offers", to_string(id)))));
    out.push_back(std::move(offer));
  }
  return out;
}

Result<wire::SlotClass> class_of(const wire::Offer& offer,
                                 const std::vector<wire::SlotClass>& classes) {
  const auto at = std::ranges::find(classes, offer.class_, &wire::SlotClass::name);
  if (at != classes.end()) return *at;
  return failed(fmt::format("offer {} is of class {}, which the market does not list",
                            to_string(offer.id), offer.class_));
}

// What is left of the machine beside these offers: the market sells no slot twice.
Result<wire::MachineSpec> left_by(const std::vector<wire::Offer>& offers, wire::MachineSpec m,
                                  const std::vector<wire::SlotClass>& classes) {
  for (const auto& offer : offers) {
    SOUK_ASSIGN(const auto k, class_of(offer, classes));
    m.cores -= k.cores * offer.slots;
    m.memory_mib -= k.memory_mib * offer.slots;
    m.gpus -= k.gpus * offer.slots;
  }
  return m;
}

Result<OfferChoice> plan_offer(Api& api, const Lend& o, const std::optional<wire::Machine>& known,
                               const wire::MachineSpec& spec, base::Time now) {
  SOUK_ASSIGN(const auto page, parsed<wire::Page<wire::SlotClass>>(api.get("/v1/classes")));
  const auto& classes = page.items;
  OfferChoice out;
  SOUK_ASSIGN(out.others, offers_of(api, known));
  const auto usable = std::ranges::find_if(out.others, [&](const wire::Offer& offer) {
    return offer.state != wire::OfferState::draining &&
           (o.slot_class.empty() || offer.class_ == o.slot_class);
  });
  if (usable != out.others.end()) {
    out.offer = *usable;
    out.others.erase(usable);
  }
  SOUK_ASSIGN(const auto rest, left_by(out.others, spec, classes));
  if (out.offer) {
    SOUK_ASSIGN(const auto k, class_of(*out.offer, classes));
    SOUK_ASSIGN(const auto before, left_by(out.others, known->spec, classes));
    out.slots = keep_slots(o, *out.offer, fitting(k, before), fitting(k, rest));
    out.edit = keep_terms(o, *out.offer, now);
    out.edit.slots = out.slots.count;
    if (out.slots.count > 0) return out;
    return failed(no_slot(rest, k.name), fmt::format("lend more of it, or `souk offer remove {}`",
                                                     to_string(out.offer->id)));
  }
  auto slots = choose_slots(o, rest, classes);
  if (!slots && !out.others.empty())
    slots.error().hint = fmt::format("its offer {0} has the rest: `souk offer remove {0}`",
                                     to_string(out.others.front().id));
  SOUK_ASSIGN(out.slots, std::move(slots));
  return out;
}

// The machine as the market is to know it from now on.
Result<wire::Machine> tell_machine(Api& api, const Lend& o,
                                   const std::optional<wire::Machine>& known,
                                   const OfferChoice& plan, const std::string& name,
                                   const wire::MachineSpec& spec) {
  if (!known)
    return parsed<wire::Machine>(
        api.post("/v1/machines", wire::to_json(wire::NewMachine{name, spec})));
  // The market takes no machine that is too small for its offers.
  if (plan.offer && plan.slots.count < plan.offer->slots)
    SOUK_TRY(api.patch(path_of("/v1/offers", to_string(plan.offer->id)), wire::to_json(plan.edit)));
  const wire::MachineEdit edit{o.name.empty() ? std::nullopt : std::optional(o.name), spec};
  return parsed<wire::Machine>(
      api.patch(path_of("/v1/machines", to_string(known->id)), wire::to_json(edit)));
}

// Posts the offer, or changes in the machine's own what flags say, and opens it. Who names a class
// lends that alone.
Result<wire::Offer> open_offer(Api& api, const wire::Machine& m, const Lend& o,
                               const OfferChoice& plan) {
  wire::Offer out;
  if (plan.offer) {
    const auto path = path_of("/v1/offers", to_string(plan.offer->id));
    SOUK_TRY(api.patch(path, wire::to_json(plan.edit)));
    SOUK_ASSIGN(out, parsed<wire::Offer>(api.post(path + "/resume")));
  } else {
    const wire::NewOffer offer{.machine = m.id,
                               .class_ = plan.slots.slot_class,
                               .slots = plan.slots.count,
                               .price = o.price.value_or(AskPrice{}).credits,
                               .weekly = o.weekly,
                               .until = o.until,
                               .longest_lease = o.longest_lease};
    SOUK_ASSIGN(out, parsed<wire::Offer>(api.post("/v1/offers", wire::to_json(offer))));
  }
  if (!o.slot_class.empty())
    for (const auto& other : plan.others)
      SOUK_TRY(api.post(path_of("/v1/offers", to_string(other.id), "/pause"),
                        wire::to_json(wire::Pause{})));
  return out;
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
  const wire::NewToken request{
      .scope = base::Scope::machine, .machine = machine, .label = "souk lend"};
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
  const auto folder = o.folder.empty() ? usual_lending_folder(c.env()) : o.folder;
  std::error_code error;
  fs::create_directories(folder + "/leases", error);
  if (error)
    return failed(fmt::format("cannot make {}: {}", folder, error.message()),
                  "choose another with --folder");
  return folder;
}

Result<> open_caches(const Lend& o, const std::string& folder, agent::Workshop& shop) {
  const auto cache = o.cache.mib << 20;
  SOUK_ASSIGN(shop.store, blob::Store::open(folder + "/blobs",
                                            {.max_bytes = static_cast<std::uint64_t>(cache / 2)}));
  SOUK_ASSIGN(shop.trees, agent::Trees::open(trees_folder(folder), cache / 2));
  return {};
}

Result<> open_shop(const Lend& o, const Ready& ready, const FetchRules& rules,
                   const std::string& arch, const std::string& folder, agent::Workshop& shop) {
  shop.link = link_to(ready.target);
  for (const auto& server : o.also) {
    SOUK_ASSIGN(auto url, normal_url(server));
    shop.link.servers.push_back(std::move(url));
  }
  shop.folder = folder + "/leases";
  shop.grace = o.grace;
  shop.cpu_share = o.cpu_share;
  shop.internet = o.internet;
  shop.direct = !o.relayed;
  if (!o.share_chunks.empty()) {
    SOUK_ASSIGN(shop.sharing,
                agent::ChunkServer::start(o.share_chunks, *shop.store, agent::kWallClock));
    shop.link.peers = true;
  }
  if (!rules.registries.empty())
    shop.images = std::make_unique<agent::Images>(rules.registries, arch, *shop.trees);
  if (!rules.indexes.empty())
    shop.builder = std::make_unique<agent::EnvironmentBuilder>(
        rules.indexes, *shop.sandboxes.at(shop.sandbox), *shop.trees);
  if (!rules.hosts.empty())
    shop.web_inputs = std::make_unique<agent::WebInputs>(rules.hosts, *shop.trees);
  shop.scratch_bytes = memory_scratch_mib(ready.machine.spec, ready.slots.count) << 20;
  return {};
}

std::string host_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

}  // namespace

Result<Ready> get_ready(Context& c, const Lend& o, agent::Workshop& shop) {
  if (!(o.cpu_share >= 0.1 && o.cpu_share <= 1))
    return failed(fmt::format("a CPU share of {}", o.cpu_share), "use 0.1 to 1");
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
  SOUK_TRY(claim_cores(c, o, machine, shop, spec));
  SOUK_TRY(open_gpus(c, o, machine, shop, spec));
  spec.rtt_ms = round_trip_ms(*api);
  SOUK_TRY(open_sandboxes(c, o, shop, spec.packages));
  SOUK_TRY(open_caches(o, folder, shop));
  if (open_trainer(c, o, machine.arch, folder, shop)) spec.packages.emplace_back(job::kTorch);
  SOUK_ASSIGN(const auto rules, fetch_rules(o, spec.packages));
  spec.packages.push_back(job::architecture(machine.arch));
  const auto name = o.name.empty() ? host_name() : o.name;
  auto before = own;
  if (!before) {
    SOUK_ASSIGN(before, machine_named(*api, name));
  }
  if (before) {  // What no program can see here is as its owner said.
    if (o.region.empty()) spec.region = before->spec.region;
    spec.provider = before->spec.provider;
  }
  SOUK_ASSIGN(const auto plan, plan_offer(*api, o, before, spec, c.now()));
  SOUK_TRY(open_scratch(o, machine, plan.slots.count, folder, shop, spec));
  // Last, as packages fill what room the words above leave.
  SOUK_ASSIGN(shop.environments, lent_environments(o.environments));
  for (const auto& note : list_packages(machine, shop.environments, spec)) c.note(note);

  Ready out{.slots = plan.slots, .target = *target};
  SOUK_ASSIGN(out.machine, tell_machine(*api, o, before, plan, name, spec));
  if (!own) {
    SOUK_ASSIGN(out.target.token, machine_token(*api, *target, out.machine.id, folder));
  }
  SOUK_TRY(open_shop(o, out, rules, machine.arch, folder, shop));
  SOUK_ASSIGN(const auto offer, open_offer(*api, out.machine, o, plan));
  out.price = offer.price;
  out.offer_path = path_of("/v1/offers", to_string(offer.id));
  return out;
}

}  // namespace souk::cli
