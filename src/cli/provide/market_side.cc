#include "cli/provide/market_side.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/shell/session.h"
#include "wire/api/account.h"
#include "wire/api/book.h"
#include "wire/api/offer.h"

namespace souk::cli {
namespace {

template <class T>
base::Result<T> plain(Result<T> result) {
  if (!result) return std::unexpected(base::Error(std::move(result).error()));
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return *std::move(result);
}

}  // namespace

std::string intent_in(const std::string& machine_name, const std::string& pool) {
  const auto prefix = pool + "-";
  if (!machine_name.starts_with(prefix)) return {};
  auto intent = machine_name.substr(prefix.size());
  const bool hex = std::ranges::all_of(
      intent, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  return hex && intent.size() == 16 ? intent : std::string();
}

Result<std::map<std::string, wire::Machine>> MarketSide::machines() {
  std::map<std::string, wire::Machine> out;
  SOUK_TRY(visit_all<wire::Machine>(api_, "/v1/machines", [&](const wire::Machine& m) {
    if (auto intent = intent_in(m.name, options_.pool); !intent.empty()) out[intent] = m;
    return true;
  }));
  return out;
}

Result<std::map<base::MachineId, MarketSide::OfferUse>> MarketSide::offers() {
  std::map<base::MachineId, OfferUse> out;
  for (std::string after;;) {
    SOUK_ASSIGN(
        const auto page,
        parsed<wire::OfferPage>(api_.get(
            "/v1/offers" + query_string({{"limit", "500"}, {"mine", "true"}, {"after", after}}))));
    for (const auto& offer : page.items) {
      auto& use = out[offer.machine];
      use.slots += offer.slots;
      use.free += offer.free;
      use.doubted = use.doubted || offer.state == wire::OfferState::doubted;
    }
    if (!page.next) return out;
    after = *page.next;
  }
}

Result<provider::Need> MarketSide::look(const provider::Fleet& fleet, base::Time now) {
  SOUK_ASSIGN(
      const auto book,
      parsed<wire::Book>(api_.get("/v1/book" + query_string({{"class", options_.slot_class}}))));
  SOUK_ASSIGN(const auto known, machines());
  SOUK_ASSIGN(const auto offered, offers());
  std::map<std::string, provider::MachineUse> uses;
  for (const auto& [intent, state] : fleet.intents) {
    if (state.phase != provider::Phase::starting && state.phase != provider::Phase::running)
      continue;
    auto& use = uses[intent];
    use.slots = use.free = options_.demand.slots_per_machine;
    const auto machine = known.find(intent);
    const auto offer = machine == known.end() ? offered.end() : offered.find(machine->second.id);
    if (offer != offered.end()) {
      use.online = machine->second.online && !offer->second.doubted;
      use.slots = offer->second.slots;
      use.free = offer->second.free;
    }
    if (!use.online || use.free < use.slots) idle_since_.erase(intent);
    if (use.online && use.free == use.slots)
      use.idle_since = idle_since_.try_emplace(intent, now).first->second;
  }
  std::erase_if(idle_since_, [&](const auto& i) { return !uses.contains(i.first); });
  return need_of(book, uses, options_.demand, now);
}

Result<provider::Join> MarketSide::make_machine(const std::string& intent,
                                                const provider::MachineKind& kind) {
  const wire::NewMachine machine{.name = options_.pool + "-" + intent,
                                 .spec = {.cores = kind.cores,
                                          .memory_mib = kind.memory_mib,
                                          .gpus = kind.gpus,
                                          .region = kind.where,
                                          .provider = options_.provider}};
  SOUK_ASSIGN(const auto made,
              parsed<wire::Machine>(api_.post("/v1/machines", wire::to_json(machine))));
  const wire::NewToken request{.scope = base::Scope::machine,
                               .machine = made.id,
                               .label = "souk provide",
                               .expires_in = options_.token_life};
  SOUK_ASSIGN(const auto token,
              parsed<wire::IssuedToken>(api_.post("/v1/tokens", wire::to_json(request))));
  auto out = options_.join;
  out.token = token.token;
  return out;
}

// False: it still has leases. The market gives them up when it stays silent, and it can go then.
Result<bool> MarketSide::remove(const wire::Machine& machine) {
  const auto gone = [&](std::string_view path, const std::string& id) -> Result<bool> {
    const auto done = api_.remove(path_of(path, id));
    if (done || done.error().code == base::Code::not_found) return true;
    if (done.error().code == base::Code::conflict) return false;
    return std::unexpected(done.error());
  };
  for (const auto offer : machine.offers) {
    SOUK_ASSIGN(const bool removed, gone("/v1/offers", to_string(offer)));
    if (!removed) return false;
  }
  return gone("/v1/machines", to_string(machine.id));
}

Result<> MarketSide::remove_ended(const provider::Fleet& fleet) {
  const auto over = [&](const std::string& intent) {
    const auto it = fleet.intents.find(intent);
    return it == fleet.intents.end() || it->second.phase == provider::Phase::ended;
  };
  const bool work = std::ranges::any_of(fleet.intents, [&](const auto& i) {
    return i.second.phase == provider::Phase::ended && !dismissed_.contains(i.first);
  });
  if (swept_ && !work) return {};
  SOUK_ASSIGN(const auto known, machines());
  for (const auto& [intent, machine] : known) {
    if (!over(intent)) continue;
    SOUK_ASSIGN(const bool gone, remove(machine));
    if (gone) dismissed_.insert(intent);
  }
  for (const auto& [intent, state] : fleet.intents)
    if (over(intent) && !known.contains(intent)) dismissed_.insert(intent);
  swept_ = true;
  return {};
}

base::Result<provider::Need> MarketSide::need(const provider::Fleet& fleet, base::Time now) {
  return plain(look(fleet, now));
}
base::Result<provider::Join> MarketSide::admit(const std::string& intent,
                                               const provider::MachineKind& kind) {
  return plain(make_machine(intent, kind));
}
base::Result<> MarketSide::dismiss(const provider::Fleet& fleet) {
  return plain(remove_ended(fleet));
}

}  // namespace souk::cli
