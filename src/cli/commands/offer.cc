#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"

namespace souk::cli {
namespace {

std::string when_of(const wire::Offer& o, base::Time now) {
  if (o.paused_until) return "resumes " + relative(*o.paused_until, now);
  if (o.opens) return "opens " + relative(*o.opens, now);
  if (o.closes) return "closes " + relative(*o.closes, now);
  return "always";
}

// "2 x NVIDIA A100 with 40 GiB"
std::string gpu_text(const wire::Offer& o) {
  if (o.gpus == 0) return "";
  return fmt::format("{} x {} with {:g} GiB", o.gpus, o.gpu.empty() ? "GPU" : printable(o.gpu),
                     o.vram);
}

// What each condition leaves out, so that nobody wonders where the rest is.
void show_left_out(Context& c, const wire::OfferPage& page) {
  if (!page.query) return;
  c.print(fmt::format("{} of {} looked at {}", page.items.size(), plural(page.looked_at, "offer"),
                      page.items.size() == 1 ? "matches" : "match"));
  for (const auto& out : page.left_out)
    if (out.offers > 0)
      c.print(fmt::format("\n  {} leaves out {}; without it {} more would match",
                          printable(out.condition), out.offers, out.only));
  c.print("\n");
}

void show_offer(Context& c, const wire::Offer& o) {
  c.print(fmt::format("{}: {} x {} on {} ({}) of {}, {}, {} free\n", to_string(o.id), o.slots,
                      printable(o.class_), printable(o.machine_name), to_string(o.machine),
                      printable(o.lender), to_string(o.state), o.free));
  if (o.busy) c.print(fmt::format("  not yet proved {}\n", wire::busy_text(*o.busy, c.now())));
  c.print(fmt::format("  price          {}\n", o.price ? to_string(*o.price) : "market"));
  c.print(fmt::format("  open           {}\n", when_of(o, c.now())));
  for (const auto& w : o.weekly) c.print(fmt::format("  weekly         {}\n", printable(w)));
  if (o.from) c.print(fmt::format("  from           {}\n", to_string(*o.from)));
  if (o.until) c.print(fmt::format("  until          {}\n", to_string(*o.until)));
  c.print(fmt::format("  longest lease  {}\n", to_string(o.longest_lease)));
  c.print(fmt::format("  reliability    {}\n", reliability_text(o.reliability, o.leases)));
  c.print(fmt::format("  machine        {}, {:g} GiB{}\n", plural(o.cores, "core"), o.memory,
                      o.gpus > 0 ? fmt::format(", {}", gpu_text(o)) : ""));
  c.print(o.speed ? fmt::format("  speed          {:g} a slot, measured; {} per unit\n", *o.speed,
                                brief(o.per_speed))
                  : std::string("  speed          not measured yet\n"));
  if (!o.packages.empty())
    c.print(fmt::format("  packages       {}\n", printable(base::join(o.packages, ", "))));
  if (!o.sandboxed)
    c.print(
        paint("  warning        programs run there without a sandbox\n", Tone::warning, c.out()));
}

Result<> show_offer(Context& c, const Result<std::string>& body) {
  if (!body) return std::unexpected(body.error());
  return c.show<wire::Offer>(*body, [&](const auto& offer) { show_offer(c, offer); });
}

Command create_offer_command() {
  struct Options {
    wire::NewOffer offer;
    AskPrice price;
  };
  auto o = std::make_shared<Options>();
  auto& n = o->offer;
  Command out{.name = "create",
              .summary = "lend slots of a machine",
              .examples = {"offer create m1 --class c4 --slots 2 --price 0.5",
                           "offer create m1 --class g1 --weekly 'Mon,Wed 22:00-05:00 "
                           "America/Los_Angeles'",
                           "offer create m1 --class c1 --until 8h"}};
  out.options = {
      argument("MACHINE", "the machine's id", n.machine),
      required(flag("--class CLASS", "a slot class (`souk class list`)", n.class_)),
      flag("--slots N", "how many, default 1", n.slots),
      flag("--price PRICE", "the least you take per slot-hour; default: market", o->price),
      flag("--weekly WINDOW", "open only then: 'Mon-Fri 18:00-08:00 Europe/Berlin'", n.weekly),
      flag("--from TIME", "not before: a time, or 2h from now", n.from),
      flag("--until TIME", "not after: a time, or 8h from now", n.until),
      flag("--longest-lease TIME", "default 24h", n.longest_lease)};
  out.run = [o](Context& c) -> Result<> {
    o->offer.price = o->price.credits;
    SOUK_ASSIGN(auto* api, c.api());
    return show_offer(c, api->post("/v1/offers", wire::to_json(o->offer)));
  };
  return out;
}

struct OneOffer {
  base::OfferId id;
  [[nodiscard]] std::string path(std::string_view suffix = {}) const {
    return path_of("/v1/offers", to_string(id), suffix);
  }
};

Command show_offer_command() {
  auto o = std::make_shared<OneOffer>();
  Command out{.name = "show", .summary = "one offer", .examples = {"offer show o1"}};
  out.options = {argument("OFFER", "its id", o->id)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    return show_offer(c, api->get(o->path()));
  };
  return out;
}

Command edit_offer_command() {
  struct Options : OneOffer {
    wire::OfferEdit edit;
    std::optional<AskPrice> price;
    std::vector<std::string> weekly;
  };
  auto o = std::make_shared<Options>();
  auto& e = o->edit;
  Command out{.name = "edit",
              .summary = "change an offer; running leases keep their price",
              .examples = {"offer edit o1 --price 0.4", "offer edit o1 --price market --always"}};
  out.options = {argument("OFFER", "its id", o->id),
                 flag("--slots N", "how many", e.slots),
                 flag("--price PRICE", "credits per slot-hour, or market", o->price),
                 flag("--weekly WINDOW", "open only then; replaces all windows", o->weekly),
                 flag("--from TIME", "not before", e.from),
                 flag("--until TIME", "not after", e.until),
                 flag("--always", "no windows, no start, no end", e.always),
                 flag("--longest-lease TIME", "for example 8h", e.longest_lease)};
  out.run = [o](Context& c) -> Result<> {
    auto& edit = o->edit;
    if (o->price) {
      edit.price = o->price->credits;
      edit.market = !o->price->credits;
    }
    if (!o->weekly.empty()) edit.weekly = o->weekly;
    SOUK_ASSIGN(auto* api, c.api());
    return show_offer(c, api->patch(o->path(), wire::to_json(edit)));
  };
  return out;
}

Command pause_command() {
  struct Options : OneOffer {
    std::optional<base::Duration> length;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "pause",
              .summary = "take no new leases for a while",
              .examples = {"offer pause o1 --for 1h", "offer pause o1"}};
  out.options = {argument("OFFER", "its id", o->id),
                 flag("--for TIME", "how long; else until resumed", o->length)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    return show_offer(c, api->post(o->path("/pause"), wire::to_json(wire::Pause{o->length})));
  };
  return out;
}

Command act_on_offer_command(std::string name, std::string summary) {
  auto o = std::make_shared<OneOffer>();
  Command out{.name = name, .summary = std::move(summary), .examples = {"offer " + name + " o1"}};
  out.options = {argument("OFFER", "its id", o->id)};
  out.run = [o, name](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    if (name != "remove") return show_offer(c, api->post(o->path("/" + name)));
    SOUK_ASSIGN(const auto body, api->remove(o->path()));
    return c.done(body, fmt::format("offer {} is removed", to_string(o->id)));
  };
  return out;
}

void show_offers(Context& c, const wire::OfferPage& page, bool mine) {
  if (page.query) c.print(fmt::format("where {}\n", printable(*page.query)));
  if (page.items.empty()) {
    show_left_out(c, page);
    c.print(page.query ? "no offers match: `souk offers` shows all\n"
            : mine     ? "you offer nothing yet: souk offer create MACHINE --class CLASS\n"
                       : "no offers yet: lend a machine with `souk machine add`, then `souk offer "
                         "create`\n");
    return;
  }
  using enum Column::Align;
  Table table({{"id"},
               {"class"},
               {"free", right},
               {"slots", right, 0, 5},
               {"price", right},
               {"gpu", left, 8, 10},
               {"cores", right, 0, 8},
               {"memory", right, 0, 7},
               {"speed", right, 0, 11},
               {"per speed", right, 0, 9},
               {"state"},
               {"lender", left, 8},
               {"reliability", right, 0, 6},
               {"region", left, 4, 3},
               {"provider", left, 4, 2},
               {"rtt", right, 0, 1},
               {"when", left, 0, 4}});
  for (const auto& o : page.items)
    table.add({to_string(o.id), o.class_, std::to_string(o.free), std::to_string(o.slots),
               brief(o.price, "market"), gpu_text(o), std::to_string(o.cores),
               fmt::format("{:.3g}G", o.memory), o.speed ? fmt::format("{:.3g}", *o.speed) : "-",
               brief(o.per_speed), state_cell(o.state), o.lender,
               reliability_text(o.reliability, o.leases), o.region, o.provider,
               o.rtt_ms > 0 ? fmt::format("{}ms", o.rtt_ms) : "", when_of(o, c.now())});
  c.print(table);
  for (const auto& o : page.items)
    if (o.busy)
      c.print(fmt::format("{}: {} ({}) is not yet proved: {}\n", to_string(o.id),
                          to_string(o.machine), printable(o.machine_name),
                          wire::busy_text(*o.busy, c.now())));
  show_left_out(c, page);
  show_next(c, page.next);
}

}  // namespace

Command offer_command() {
  Command out{.name = "offer",
              .summary = "lend slots of your machines",
              .examples = {"offer create m1 --class c4 --price 0.5", "offer pause o1 --for 1h"}};
  auto list = offers_command();
  list.name = "list";
  out.commands = {create_offer_command(),
                  std::move(list),
                  show_offer_command(),
                  edit_offer_command(),
                  pause_command(),
                  act_on_offer_command("resume", "take leases again"),
                  act_on_offer_command("drain", "let leases end, take no new ones"),
                  act_on_offer_command("remove", "take an offer away")};
  return out;
}

Command offers_command() {
  struct Options {
    std::string where;
    bool mine = false;
    Paging paging;
  };
  auto o = std::make_shared<Options>();
  Command out{
      .name = "offers",
      .summary = "what is on offer",
      .examples = {"offers", "offers --where 'class=c4 and price<=0.5 and reliability>0.9'",
                   "offers --where 'gpu=A100 and vram>=40 and price<1'", "offers --mine --json"}};
  out.details =
      "A filter joins conditions with and, or, not. Fields are those of --json: gpu and packages "
      "hold for a part of the name (gpu=A100, packages=torch), memory and vram are in GiB, speed "
      "is "
      "that of one slot in cores of ten years ago, measured; price is what the lender wants and "
      "asks "
      "is that or, where it takes the market's, the suggested price; leases=0 is a new machine.";
  out.options = paging_flags(o->paging);
  out.options.insert(out.options.begin(),
                     {flag("--where QUERY", "only those that match; fields as in --json", o->where),
                      flag("--mine", "only yours", o->mine)});
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    auto query = params(o->paging);
    query.insert(query.begin(), {{"where", o->where}, {"mine", o->mine ? "true" : ""}});
    SOUK_ASSIGN(const auto body, api->get("/v1/offers" + query_string(query)));
    return c.show<wire::OfferPage>(body, [&](const auto& page) { show_offers(c, page, o->mine); });
  };
  return out;
}

}  // namespace souk::cli
