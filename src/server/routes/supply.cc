#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "lab/report/choices.h"
#include "server/http/router.h"
#include "server/routes/offer_view.h"
#include "server/routes/proofs.h"
#include "server/routes/views.h"
#include "wire/query.h"

// Slot classes, machines and offers.

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using market::State;

Result<wire::SlotClass> set_class(Context& c, const wire::SlotClassEdit& v) {
  SOUK_TRY(c.execute(
      market::SetClass{{.name = c.param(),
                        .cores = v.cores,
                        .memory_mib = v.memory_mib,
                        .gpus = v.gpus,
                        .gpu_memory_mib = v.gpu_memory_mib,
                        .price = v.price,
                        .mechanism = v.mechanism,
                        .params = v.params,
                        .retired = v.retired,
                        .trial = v.trial ? std::optional(market::Trial{
                                               v.trial->mechanism, v.trial->params, v.trial->slice})
                                         : std::nullopt}}));
  return view(c.state(), *c.state().find_class(c.param()), c.now());
}

wire::Machine view_with_load(Context& c, const market::Machine& m) {
  auto out = view(c.state(), m);
  out.busy = busy_cores(c, m.id);
  return out;
}

Result<wire::Machine> machine_of(Context& c, base::MachineId id) {
  const auto* m = c.state().machines.find(id);
  const bool mine = m != nullptr && m->owner == c.actor.account &&
                    (c.actor.scope != market::Scope::machine || c.actor.machine == id);
  if (m == nullptr || !(mine || c.is_operator())) return Context::no_such("machine", to_string(id));
  return view_with_load(c, *m);
}

// A machine's token sees that machine alone.
Result<wire::Page<wire::Machine>> list_machines(Context& c) {
  const bool all = c.flag("all") && c.is_operator();
  const auto shown = [&](const market::Machine& m) {
    if (c.actor.scope == market::Scope::machine) return m.id == c.actor.machine;
    return all || m.owner == c.actor.account;
  };
  return page<wire::Machine>(c, c.state().machines, shown,
                             [&](const auto& m) { return view_with_load(c, m); });
}

Result<wire::Machine> edit_machine(Context& c, const wire::MachineEdit& body) {
  SOUK_ASSIGN(const auto id, c.id<base::MachineId>());
  const auto* m = c.state().machines.find(id);
  if (m == nullptr) return Context::no_such("machine", c.param());
  const auto before = m->spec;
  SOUK_TRY(c.execute(market::ChangeMachine{id, body.name.value_or(m->name),
                                           body.spec ? spec_from(*body.spec) : m->spec}));
  const auto& after = c.state().machines.at(id).spec;
  if (after.cores > before.cores || after.memory_mib > before.memory_mib ||
      after.gpus > before.gpus || after.gpu_memory_mib > before.gpu_memory_mib)
    doubt_claim(c, id);
  return view(c.state(), c.state().machines.at(id));
}

Result<wire::Offer> post_offer(Context& c, const wire::NewOffer& body) {
  SOUK_ASSIGN(const auto slot_class, class_named(c.state(), body.class_));
  SOUK_ASSIGN(auto terms, terms_from(body));
  SOUK_ASSIGN(const auto events,
              c.execute(market::PostOffer{body.machine, slot_class, std::move(terms)}));
  return view(c.state(), std::get<market::OfferPosted>(events.front()).offer, c.now());
}

Result<wire::Offer> show_offer(Context& c, base::OfferId id) {
  const auto* o = c.state().offers.find(id);
  const bool others =
      c.actor.scope == market::Scope::machine && o != nullptr && o->machine != c.actor.machine;
  if (o == nullptr || others) return Context::no_such("offer", to_string(id));
  auto out = view(c.state(), *o, c.now());
  out.busy = busy_cores(c, o->machine);
  return out;
}

Result<wire::Offer> edit_offer(Context& c, const wire::OfferEdit& body) {
  SOUK_ASSIGN(const auto id, c.id<base::OfferId>());
  const auto* o = c.state().offers.find(id);
  if (o == nullptr) return Context::no_such("offer", c.param());
  auto terms = o->terms;
  SOUK_TRY(change(terms, body));
  SOUK_TRY(c.execute(market::ChangeOffer{id, std::move(terms)}));
  return show_offer(c, id);
}

// Runs one command about the offer of the path and shows the offer.
template <class Make>
Result<wire::Offer> on_offer(Context& c, Make make) {
  SOUK_ASSIGN(const auto id, c.id<base::OfferId>());
  SOUK_TRY(c.execute(make(id)));
  return show_offer(c, id);
}

Result<wire::OfferPage> list_offers(Context& c) {
  const auto& s = c.state();
  std::optional<wire::Query> query;
  if (const auto where = c.query("where"); !where.empty()) {
    auto fields = wire::query_fields<wire::Offer>();
    const auto of_class = std::ranges::find(fields, "class", &wire::QueryField::name);
    for (const auto& k : s.classes) of_class->words.push_back(k.name);
    SOUK_ASSIGN(query, wire::parse_query(where, fields));
  }
  const bool mine = c.flag("mine");
  std::optional<wire::Offer> last;
  std::optional<LeftOutCount> count;
  if (query) count.emplace(*query);
  SuggestedPrices suggested(s, c.now());
  std::int64_t looked_at = 0;
  // A query looks at the offer as it is shown, so each is shown once and kept for show().
  const auto keep = [&](const market::Offer& o) {
    if (mine && o.owner != c.actor.account) return false;
    last = view(s, o, c.now(), suggested);
    last->busy = busy_cores(c, o.machine);
    ++looked_at;
    return !count || count->look(*last);
  };
  // A query sees a view of each offer, which takes far longer than a look at a field.
  constexpr std::size_t views_per_request = 50;
  SOUK_ASSIGN(auto found, page<wire::Offer>(
                              c, s.offers, keep,
                              [&](const market::Offer&) { return shortened(*std::move(last)); },
                              query ? views_per_request : kLooksPerRequest));
  wire::OfferPage out{
      .items = std::move(found.items), .next = std::move(found.next), .looked_at = looked_at};
  if (query) {
    out.query = to_string(*query);
    out.left_out = count->result();
  }
  return out;
}

void add_machine_routes(Routes& routes) {
  auto& list = paged(routes.get(
      "/v1/machines", "listMachines",
      "My machines; for a machine's token that machine; for an operator who asks all of them",
      Access::agent, &list_machines));
  list.doc.query.push_back({"all", "boolean", "Operators: everybody's.", false});
  routes.change<wire::NewMachine>(
      "POST", "/v1/machines", "addMachine", "Add a machine to lend", Access::user, 201,
      [](Context& c, const wire::NewMachine& body) -> Result<wire::Machine> {
        SOUK_ASSIGN(const auto events,
                    c.execute(market::AddMachine{body.name, spec_from(body.spec)}));
        const auto id = std::get<market::MachineAdded>(events.front()).machine.id;
        doubt_claim(c, id);
        return machine_of(c, id);
      });
  routes.get("/v1/machines/{id}", "getMachine", "One of my machines", Access::agent,
             [](Context& c) -> Result<wire::Machine> {
               SOUK_ASSIGN(const auto id, c.id<base::MachineId>());
               return machine_of(c, id);
             });
  routes.change<wire::MachineEdit>("PATCH", "/v1/machines/{id}", "editMachine",
                                   "Rename a machine, or tell what it has now", Access::agent, 200,
                                   &edit_machine);
  routes.change("DELETE", "/v1/machines/{id}", "removeMachine",
                "Remove a machine that has no offers", Access::user,
                [](Context& c) -> Result<wire::Acknowledged> {
                  SOUK_ASSIGN(const auto id, c.id<base::MachineId>());
                  SOUK_TRY(c.execute(market::RemoveMachine{id}));
                  return wire::Acknowledged{};
                });
}

void add_offer_routes(Routes& routes) {
  auto& list =
      paged(routes.get("/v1/offers", "listOffers", "What is on offer", Access::user, &list_offers));
  list.doc.query.push_back(
      {"where", "string", "A filter: gpu=A100 and vram>=40 and price<1", false});
  list.doc.query.push_back({"mine", "boolean", "Only my own offers.", false});
  routes.change<wire::NewOffer>("POST", "/v1/offers", "postOffer", "Offer slots of a machine",
                                Access::agent, 201, &post_offer);
  routes.get("/v1/offers/{id}", "getOffer", "One offer", Access::agent,
             [](Context& c) -> Result<wire::Offer> {
               SOUK_ASSIGN(const auto id, c.id<base::OfferId>());
               return show_offer(c, id);
             });
  routes.change<wire::OfferEdit>("PATCH", "/v1/offers/{id}", "editOffer",
                                 "Change price, slots or windows", Access::agent, 200, &edit_offer);
  routes.change<wire::Pause>("POST", "/v1/offers/{id}/pause", "pauseOffer",
                             "Take no leases for a while; who is on it gets notice", Access::agent,
                             200, [](Context& c, const wire::Pause& body) {
                               const auto until = body.for_ ? c.now() + *body.for_ : base::kNever;
                               return on_offer(
                                   c, [&](auto id) { return market::PauseOffer{id, until}; });
                             });
  routes.change("POST", "/v1/offers/{id}/resume", "resumeOffer", "End a pause", Access::agent,
                [](Context& c) {
                  return on_offer(c, [](auto id) { return market::PauseOffer{id, base::Time()}; });
                });
  routes.change(
      "POST", "/v1/offers/{id}/drain", "drainOffer",
      "Take no new leases; the present ones run to the end of their terms", Access::agent,
      [](Context& c) { return on_offer(c, [](auto id) { return market::DrainOffer{id}; }); });
  routes.change("DELETE", "/v1/offers/{id}", "removeOffer", "Remove an offer without leases",
                Access::agent, [](Context& c) -> Result<wire::Acknowledged> {
                  SOUK_ASSIGN(const auto id, c.id<base::OfferId>());
                  SOUK_TRY(c.execute(market::RemoveOffer{id}));
                  return wire::Acknowledged{};
                });
}

}  // namespace

void add_supply_routes(Routes& routes) {
  routes.get("/v1/classes", "listClasses", "The slot classes, those with the most on offer first",
             Access::agent, [](Context& c) -> Result<wire::Page<wire::SlotClass>> {
               wire::Page<wire::SlotClass> out;
               for (const auto* k : classes_by_supply(c.state()))
                 out.items.push_back(view(c.state(), *k, c.now()));
               return out;
             });
  routes.change<wire::SlotClassEdit>("PUT", "/v1/classes/{name}", "setClass",
                                     "Add or edit a slot class, and how it is cleared",
                                     Access::operator_, 200, &set_class);
  routes.get("/v1/classes/{name}/mechanisms", "compareMechanisms",
             "What each mechanism did for a class while it was in force", Access::user,
             [](Context& c) -> Result<wire::MechanismRecords> {
               const auto* slot_class = c.state().find_class(c.param());
               if (slot_class == nullptr) return Context::no_such("slot class", c.param());
               return records_view(c.state(), *slot_class, c.now());
             });
  routes.get("/v1/mechanisms", "listMechanisms",
             "The mechanisms by which a class can be cleared, their properties and parameters",
             Access::user,
             [](Context&) -> Result<wire::Mechanisms> { return lab::mechanism_choices(); });
  add_machine_routes(routes);
  add_offer_routes(routes);
}

}  // namespace souk::server
