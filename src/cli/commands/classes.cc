#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/shell/choices.h"
#include "cli/shell/human.h"
#include "lab/report/choices.h"
#include "wire/api/mechanism.h"
#include "wire/api/slot_class.h"

namespace souk::cli {
namespace {

void show_classes(Context& c, const std::vector<wire::SlotClass>& classes) {
  using enum Column::Align;
  Table table({{"class"},
               {"cores", right},
               {"memory", right},
               {"gpus", right},
               {"gpu memory", right, 0, 2},
               {"suggested", right},
               {"offered", right},
               {"leased", right, 0, 3},
               {"wanted", right, 0, 3},
               {"rule", left, 6, 1}});
  for (const auto& k : classes)
    table.add({k.retired ? Cell(k.name + " (retired)", Tone::dim) : Cell(k.name),
               std::to_string(k.cores), to_string(Memory{k.memory_mib}),
               k.gpus > 0 ? std::to_string(k.gpus) : "",
               k.gpus > 0 ? to_string(Memory{k.gpu_memory_mib}) : "", brief(k.suggested),
               std::to_string(k.offered), std::to_string(k.leased), std::to_string(k.wanted),
               k.trial ? fmt::format("{} / {} every {}", k.mechanism, k.trial->mechanism,
                                     rough(k.trial->slice))
                       : k.mechanism});
  c.print(table);
}

Command list_classes_command() {
  Command out{.name = "list",
              .summary = "the slot classes that are traded",
              .examples = {"class list", "class list --json"}};
  out.run = [](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/classes"));
    return c.show<wire::Page<wire::SlotClass>>(
        body, [&](const auto& page) { show_classes(c, page.items); });
  };
  return out;
}

struct Set {
  std::string name;
  std::optional<std::int32_t> cores, gpus;
  std::optional<Memory> memory, gpu_memory;
  std::optional<base::Credits> price;
  std::optional<std::string> mechanism;
  std::map<std::string, std::string> params;
  std::optional<std::string> trial;
  std::map<std::string, std::string> trial_params;
  std::optional<base::Duration> slice;
  bool no_trial = false;
  bool retired = false;
  bool unretired = false;
};

void set_trial(const Set& o, std::optional<wire::Trial>& trial) {
  if (o.trial) trial = {*o.trial, {}, trial ? trial->slice : base::hours(1)};
  if (o.no_trial) trial.reset();
  if (!trial) return;
  for (const auto& [key, value] : o.trial_params) trial->params[key] = value;
  if (o.slice) trial->slice = *o.slice;
}

Result<> set(Context& c, const Set& o) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto page, parsed<wire::Page<wire::SlotClass>>(api->get("/v1/classes")));
  wire::SlotClassEdit edit;
  const auto it = std::ranges::find(page.items, o.name, &wire::SlotClass::name);
  if (it != page.items.end()) {
    edit = {it->cores,     it->memory_mib, it->gpus,    it->gpu_memory_mib, it->price,
            it->mechanism, it->params,     it->retired, it->trial};
  } else if (!o.cores || !o.memory || !o.price) {
    return usage(fmt::format("there is no class '{}' yet", printable(o.name)),
                 "a new one needs --cores, --memory and --price");
  }
  if (o.cores) edit.cores = *o.cores;
  if (o.memory) edit.memory_mib = o.memory->mib;
  if (o.gpus) edit.gpus = *o.gpus;
  if (o.gpu_memory) edit.gpu_memory_mib = o.gpu_memory->mib;
  if (o.price) edit.price = *o.price;
  if (o.mechanism && *o.mechanism != edit.mechanism) {
    edit.mechanism = *o.mechanism;
    edit.params.clear();  // They belong to the other mechanism.
  }
  for (const auto& [key, value] : o.params) edit.params[key] = value;
  set_trial(o, edit.trial);
  if ((o.slice || !o.trial_params.empty()) && !edit.trial)
    return usage("there is no trial whose slices or parameters these are", "give --trial NAME");
  if (o.retired) edit.retired = true;
  if (o.unretired) edit.retired = false;
  SOUK_ASSIGN(const auto body, api->put(path_of("/v1/classes", o.name), wire::to_json(edit)));
  return c.show<wire::SlotClass>(body, [&](const auto& k) { show_classes(c, {k}); });
}

Command set_class_command() {
  auto o = std::make_shared<Set>();
  Command out{
      .name = "set",
      .summary = "add or change a slot class (operators)",
      .examples = {"class set c4 --price 0.9 --mechanism posted",
                   "class set c4 --trial mcafee --slice 1h",
                   "class set c64 --cores 64 --memory 256G --price 12", "class set c32 --retired"}};
  out.options = {argument("NAME", "the class", o->name),
                 flag("--cores N", "of one slot", o->cores),
                 flag("--memory SIZE", "of one slot", o->memory),
                 flag("--gpus N", "of one slot", o->gpus),
                 flag("--gpu-memory SIZE", "of each GPU", o->gpu_memory),
                 flag("--price PRICE", "suggested before there is any history", o->price),
                 flag("--mechanism NAME", "how it is cleared (`souk mechanisms`)", o->mechanism),
                 flag("--param KEY=VALUE", "a parameter of the mechanism", o->params),
                 flag("--trial NAME", "another mechanism that takes turns with it", o->trial),
                 flag("--trial-param KEY=VALUE", "a parameter of that one", o->trial_params),
                 flag("--slice TIME", "how long a turn is, default 1h", o->slice),
                 flag("--no-trial", "end it", o->no_trial),
                 flag("--retired", "take no new offers and jobs", o->retired),
                 flag("--unretired", "take them again", o->unretired)};
  out.details =
      "Mechanisms and their parameters: " + live_mechanisms_text(lab::mechanism_choices()) +
      "; or external, a program of yours.";
  out.run = [o](Context& c) { return set(c, *o); };
  return out;
}

// Shares of fewer say more about the first jobs than about the market.
constexpr std::int64_t kEnoughJobs = 20;

void show_treatment(Context& c, const wire::Treatment& t) {
  if (t.borrowers == 0) return;
  if (t.ended < kEnoughJobs)
    return c.print(fmt::format("{} ended: too early to say how borrowers are treated\n",
                               plural(t.ended, "job")));
  std::vector<std::string> parts{plural(t.borrowers, "borrower")};
  if (t.completed) parts.push_back(percent(t.completed, 1) + " of the jobs that ended succeeded");
  if (t.defection)
    parts.push_back(percent(t.defection, 1) + " waited over 15 times what their jobs take");
  if (t.gini_access) parts.push_back(fmt::format("Gini of access {:.2f}", *t.gini_access));
  if (t.gini_credits) parts.push_back(fmt::format("of credits {:.2f}", *t.gini_credits));
  c.print(base::join(parts, ", ") + "\n");
}

Command compare_class_command() {
  auto name = std::make_shared<std::string>();
  Command out{.name = "compare",
              .summary = "what each mechanism did while it was in force",
              .examples = {"class compare c4", "class compare c4 --json"}};
  out.options = {argument("NAME", "the class", *name)};
  out.details =
      "Efficiency is the gain from trade, limits minus reserves as declared, as a share of the "
      "best "
      "possible: under a mechanism that is not incentive compatible people have reasons to declare "
      "less. Alpha is the distance of prices from the competitive ones, the lenders' share is of "
      "the "
      "gain.";
  out.run = [name](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get(path_of("/v1/classes", *name) + "/mechanisms"));
    return c.show<wire::MechanismRecords>(body, [&](const auto& records) {
      using enum Column::Align;
      Table table({{"rule"},
                   {"rounds", right},
                   {"slots", right},
                   {"price", right},
                   {"efficiency", right},
                   {"served", right, 0, 1},
                   {"in use", right, 0, 2},
                   {"lenders' share", right, 0, 3},
                   {"platform", right, 0, 4},
                   {"alpha", right, 0, 2},
                   {"volatility", right, 0, 1},
                   {"wait p50", right, 0, 1},
                   {"p95", right, 0, 1}});
      for (const auto& r : records.items)
        table.add({r.in_force ? Cell(r.mechanism + " (now)", Tone::strong) : Cell(r.mechanism),
                   std::to_string(r.rounds), std::to_string(r.traded),
                   r.price ? brief(*r.price) : "", percent(r.efficiency, 1), percent(r.served, 1),
                   percent(r.utilisation, 1), percent(r.lenders_share, 1), brief(r.platform),
                   percent(r.alpha, 1), r.volatility ? fmt::format("{:.3f}", *r.volatility) : "",
                   r.wait_p50 ? rough(*r.wait_p50) : "", r.wait_p95 ? rough(*r.wait_p95) : ""});
      c.print(table);
      show_treatment(c, records.treatment);
      if (records.items.empty()) c.note("no round of this class had supply and demand yet");
    });
  };
  return out;
}

}  // namespace

Command class_command() {
  Command out{.name = "class",
              .summary = "slot classes: what is traded",
              .examples = {"class list", "class set c4 --price 0.9"}};
  out.commands = {list_classes_command(), set_class_command(), compare_class_command()};
  out.run = out.commands.front().run;
  return out;
}

Command mechanisms_command() {
  Command out{.name = "mechanisms",
              .summary = "mechanisms an operator can choose from, and their parameters",
              .examples = {"mechanisms", "mechanisms list --json"}};
  out.run = [](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/mechanisms"));
    return c.show<wire::Mechanisms>(body, [&](const auto& m) { show_mechanisms(c, m); });
  };
  return with_list(std::move(out));
}

}  // namespace souk::cli
