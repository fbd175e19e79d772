#include <fmt/format.h>

#include <algorithm>

#include "market/decide/decider.h"
#include "market/decide/words.h"

namespace souk::market {
namespace {

using base::Code;
using base::fail;

base::Failure bad_offer(std::string message, std::string hint, std::string field) {
  return fail(Code::invalid, std::move(message), std::move(hint), std::move(field));
}

}  // namespace

Result<> Decider::check_spec(const MachineSpec& v) const {
  if (v.cores < 1 || v.cores > 4096)
    return bad_offer(fmt::format("a machine cannot have {} cores", v.cores), "use 1 to 4096",
                     "spec.cores");
  if (v.memory_mib < 1 || v.memory_mib > 1 << 26)
    return bad_offer(fmt::format("a machine cannot have {} MiB of memory", v.memory_mib),
                     "use 1 to 67108864", "spec.memory_mib");
  if (v.gpus < 0 || v.gpus > 1024 || v.gpu_memory_mib < 0 || v.disk_mib < 0 || v.rtt_ms < 0)
    return bad_offer("a machine's GPUs, disk or round-trip time cannot be so",
                     "use 0 to 1024 GPUs, and 0 or more for the rest", "spec");
  SOUK_TRY(check_line(v.cpu, kDescriptionMax, "the description of the CPU", "spec.cpu"));
  SOUK_TRY(check_line(v.gpu, kDescriptionMax, "the description of the GPU", "spec.gpu"));
  SOUK_TRY(check_line(v.os, kDescriptionMax, "the description of the system", "spec.os"));
  if (!v.region.empty()) SOUK_TRY(check_word(v.region, "a region", "spec.region"));
  if (!v.provider.empty()) SOUK_TRY(check_word(v.provider, "a provider", "spec.provider"));
  SOUK_TRY(check_words(v.packages, kPackagesMax, "a package", "spec.packages"));
  if (v.environments.size() > kEnvironmentsMax)
    return bad_offer(fmt::format("a machine with {} environments", v.environments.size()),
                     fmt::format("{} at most", kEnvironmentsMax), "spec.environments");
  auto packages = v.packages.size();
  std::size_t bytes = 0;
  const auto count = [&](const std::vector<std::string>& list) {
    for (const auto& package : list) bytes += package.size();
  };
  count(v.packages);
  for (const auto& e : v.environments) {
    SOUK_TRY(check_word(e.name, "an environment", "spec.environments"));
    SOUK_TRY(check_words(e.packages, kPackagesMax, "a package", "spec.environments"));
    packages += e.packages.size();
    bytes += e.name.size();
    count(e.packages);
  }
  if (packages > kPackagesMax || bytes > kPackageBytesMax)
    return bad_offer(fmt::format("{} packages, whose names have {} bytes", packages, bytes),
                     fmt::format("{} packages and {} bytes at most, with all environments",
                                 kPackagesMax, kPackageBytesMax),
                     "spec.packages");
  return {};
}

Result<> Decider::check_machine_name(AccountId owner, std::string_view name,
                                     MachineId except) const {
  if (name.empty())
    return bad_offer("a machine needs a name", fmt::format("use 1 to {} characters", kNameMax),
                     "name");
  SOUK_TRY(check_line(name, kNameMax, "the name of the machine", "name"));
  for (const auto id : s.index.machines_of[owner.value])
    if (id != except && s.machines.at(id).name == name)
      return fail(Code::conflict,
                  fmt::format("you have a machine '{}' already: {}", name, to_string(id)),
                  "choose another name, or use that one", "name");
  return {};
}

Result<> Decider::operator()(const AddMachine& c) {
  SOUK_TRY(need_person("add machines"));
  SOUK_TRY(check_spec(c.spec));
  SOUK_TRY(check_machine_name(actor_.account, c.name, {}));
  if (s.index.counts[actor_.account.value].machines >= static_cast<int>(kMachinesPerAccount))
    return fail(Code::exhausted,
                fmt::format("you have {} machines, and more are not allowed", kMachinesPerAccount),
                "remove one first");
  out.push_back(MachineAdded{{.id = s.machines.next(),
                              .owner = actor_.account,
                              .name = c.name,
                              .spec = c.spec,
                              .created = now}});
  return {};
}

Result<> Decider::operator()(const ChangeMachine& c) {
  SOUK_ASSIGN(const auto* machine, find(s.machines, c.machine));
  SOUK_TRY(need_agent(*machine));
  SOUK_TRY(check_spec(c.spec));
  SOUK_TRY(check_machine_name(machine->owner, c.name, c.machine));
  auto changed = *machine;
  changed.spec = c.spec;
  for (const auto id : s.index.offers_of[c.machine.value]) {
    const auto& o = s.offers.at(id);
    SOUK_TRY(check_fits(changed, o.slot_class, o.terms.slots, id));
  }
  if (machine->name == c.name && machine->spec == c.spec) return {};
  out.push_back(MachineChanged{c.machine, c.name, c.spec});
  audit_other(machine->owner, "change machine", to_string(c.machine));
  return {};
}

Result<> Decider::operator()(const RemoveMachine& c) {
  SOUK_ASSIGN(const auto* machine, find(s.machines, c.machine));
  SOUK_TRY(need_owner(machine->owner, c.machine));
  if (const auto& offers = s.index.offers_of[c.machine.value]; !offers.empty())
    return fail(
        Code::conflict,
        fmt::format("machine {} still has offer {}", to_string(c.machine), to_string(offers[0])),
        "remove its offers first");
  s.tokens.for_each([&](const Token& t) {
    if (t.scope == Scope::machine && t.machine == c.machine) out.push_back(TokenRevoked{t.id});
  });
  out.push_back(MachineRemoved{c.machine});
  audit_other(machine->owner, "remove machine", to_string(c.machine), machine->name);
  return {};
}

Result<> Decider::check_terms(const OfferTerms& t) const {
  if (t.slots < 1 || t.slots > kSlotsMax)
    return bad_offer(fmt::format("an offer cannot have {} slots", t.slots),
                     fmt::format("use 1 to {}", kSlotsMax), "slots");
  if (t.reserve && (*t.reserve < Credits() || *t.reserve > kMostPrice))
    return bad_offer(
        fmt::format("the price cannot be {}", to_string(*t.reserve)),
        fmt::format("use 0 to {} credits per slot-hour, or \"market\"", to_string(kMostPrice)),
        "price");
  if (t.longest_lease < s.settings.shortest_term || t.longest_lease > kLongestLease)
    return bad_offer(
        fmt::format("the longest lease cannot be {}", to_string(t.longest_lease)),
        fmt::format("use {} to {}", to_string(s.settings.shortest_term), to_string(kLongestLease)),
        "longest_lease");
  const auto& a = t.availability;
  if (a.once && (a.once->from >= a.once->until || a.once->until <= now))
    return bad_offer("the offer would never be available",
                     "let it end in the future and after it begins", "until");
  if (a.once && a.once->from > now + kLongestLease)
    return bad_offer("the offer begins too late",
                     fmt::format("at most {} from now", to_string(kLongestLease)), "from");
  if (a.weekly.size() > kWindowsMax)
    return bad_offer(fmt::format("the offer has {} weekly windows", a.weekly.size()),
                     fmt::format("{} at most", kWindowsMax), "weekly");
  for (const auto& w : a.weekly) {  // However it was made, it must be one that can be written down.
    SOUK_ASSIGN(const auto read, parse_weekly(to_string(w)));
    if (read != w)
      return bad_offer(fmt::format("'{}' is not a weekly window", to_string(w)),
                       "use days Mon to Sun, 00:00-23:59 for the start and 00:01-24:00 for the end",
                       "weekly");
  }
  if (!opening(a, now) && !(a.once && a.once->from > now))
    return bad_offer("the offer has no window in the next two weeks", "check its days and its end",
                     "weekly");
  return {};
}

// Slots of all the machine's offers together must fit the machine, so a slot is never sold twice.
Result<> Decider::check_fits(const Machine& m, ClassId slot_class, std::int32_t slots,
                             OfferId except) const {
  std::int64_t cores = 0, memory = 0, gpus = 0;
  const auto add = [&](const SlotClass& c, std::int64_t n) {
    cores += c.cores * n;
    memory += c.memory_mib * n;
    gpus += c.gpus * n;
  };
  add(s.slot_class(slot_class), slots);
  for (const auto id : s.index.offers_of[m.id.value]) {
    const auto& o = s.offers.at(id);
    if (id != except) add(s.slot_class(o.slot_class), o.terms.slots);
  }
  if (s.slot_class(slot_class).gpu_memory_mib > m.spec.gpu_memory_mib)
    return bad_offer(
        fmt::format("class '{}' needs GPUs with {} MiB, machine {} has {} MiB",
                    s.slot_class(slot_class).name, s.slot_class(slot_class).gpu_memory_mib,
                    to_string(m.id), m.spec.gpu_memory_mib),
        "choose a smaller class", "class");
  const auto over = [&](std::string_view what, std::int64_t need, std::int64_t have) {
    return bad_offer(fmt::format("its offers would need {} {}, machine {} has {}", need, what,
                                 to_string(m.id), have),
                     "offer fewer slots or a smaller class", "slots");
  };
  if (cores > m.spec.cores) return over("cores", cores, m.spec.cores);
  if (memory > m.spec.memory_mib) return over("MiB of memory", memory, m.spec.memory_mib);
  if (gpus > m.spec.gpus) return over("GPUs", gpus, m.spec.gpus);
  return {};
}

Result<> Decider::operator()(const JudgeMachine& c) {
  SOUK_TRY(need_operator("judge machines"));
  SOUK_ASSIGN(const auto* machine, find(s.machines, c.machine));
  if (c.failure.size() > kTextMax)
    return bad_offer("the failure is too long", fmt::format("{} characters at most", kTextMax),
                     "failure");
  // Passing is news only to those who doubted, or if its speed was not known to within a tenth.
  const auto off = c.lane > machine->lane ? c.lane - machine->lane : machine->lane - c.lane;
  const bool measured = c.lane > Duration() && off * 10 > machine->lane;
  if (c.failure.empty() && machine->doubted.empty() && !measured) return {};
  out.push_back(MachineJudged{c.machine, c.failure, c.untested, c.lane});
  if (!is_system()) audit("judge machine", to_string(c.machine), c.failure);
  return {};
}

Result<> Decider::operator()(const PostOffer& c) {
  SOUK_ASSIGN(const auto* machine, find(s.machines, c.machine));
  SOUK_TRY(need_agent(*machine));
  SOUK_TRY(need_active(machine->owner));
  SOUK_ASSIGN(const auto* slot_class, find_class(c.slot_class));
  if (slot_class->retired)
    return bad_offer(fmt::format("class '{}' is retired", slot_class->name), "choose another class",
                     "class");
  SOUK_TRY(check_terms(c.terms));
  if (s.index.offers_of[c.machine.value].size() >= kOffersPerMachine)
    return fail(Code::exhausted,
                fmt::format("machine {} has {} offers", to_string(c.machine), kOffersPerMachine),
                "remove one first");
  SOUK_TRY(check_fits(*machine, c.slot_class, c.terms.slots, {}));
  out.push_back(OfferPosted{{.id = s.offers.next(),
                             .machine = c.machine,
                             .owner = machine->owner,
                             .slot_class = c.slot_class,
                             .terms = c.terms,
                             .created = now}});
  audit_other(machine->owner, "post offer", to_string(s.offers.next()));
  return {};
}

Result<> Decider::operator()(const ChangeOffer& c) {
  SOUK_ASSIGN(const auto* offer, find(s.offers, c.offer));
  const auto& machine = s.machines.at(offer->machine);
  SOUK_TRY(need_agent(machine));
  SOUK_TRY(check_terms(c.terms));
  if (c.terms == offer->terms) return {};
  SOUK_TRY(check_fits(machine, offer->slot_class, c.terms.slots, c.offer));
  if (offer->leased > 0) {
    if (c.terms.slots < offer->leased)
      return fail(
          Code::conflict,
          fmt::format("{} slots of offer {} are under lease", offer->leased, to_string(c.offer)),
          "keep at least as many, or drain the offer first", "slots");
    if (c.terms.availability != offer->terms.availability)
      return fail(Code::conflict,
                  fmt::format("offer {} is under lease until its term ends", to_string(c.offer)),
                  "drain it first, or pause it to give notice", "weekly");
  }
  out.push_back(OfferChanged{c.offer, c.terms});
  audit_other(offer->owner, "change offer", to_string(c.offer));
  return {};
}

Result<> Decider::operator()(const PauseOffer& c) {
  SOUK_ASSIGN(const auto* offer, find(s.offers, c.offer));
  SOUK_TRY(need_agent(s.machines.at(offer->machine)));
  const bool goes_on = c.until <= now && offer->paused_until <= now;
  if (goes_on || offer->paused_until == c.until) return {};
  out.push_back(OfferPaused{c.offer, c.until});
  audit_other(offer->owner, "pause offer", to_string(c.offer));
  if (c.until <= now || offer->leased == 0) return {};
  // Owner first: whoever is on it gets notice and leaves.
  for (const auto id : s.index.leases_of[offer->machine.value])
    if (const auto& l = s.leases.at(id); l.offer == c.offer) drain(l, "paused by its owner");
  return {};
}

Result<> Decider::operator()(const DrainOffer& c) {
  SOUK_ASSIGN(const auto* offer, find(s.offers, c.offer));
  SOUK_TRY(need_agent(s.machines.at(offer->machine)));
  if (offer->draining) return {};
  out.push_back(OfferDraining{c.offer});
  audit_other(offer->owner, "drain offer", to_string(c.offer));
  return {};
}

Result<> Decider::operator()(const RemoveOffer& c) {
  SOUK_ASSIGN(const auto* offer, find(s.offers, c.offer));
  SOUK_TRY(need_agent(s.machines.at(offer->machine)));
  if (offer->leased > 0)
    return fail(
        Code::conflict,
        fmt::format("{} slots of offer {} are under lease", offer->leased, to_string(c.offer)),
        "drain it and wait, or pause it to give notice");
  out.push_back(OfferRemoved{c.offer});
  audit_other(offer->owner, "remove offer", to_string(c.offer));
  return {};
}

}  // namespace souk::market
