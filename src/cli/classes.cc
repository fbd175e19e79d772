#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/human.h"

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
               {"leased", right, 0, 3},
               {"wanted", right, 0, 3},
               {"rule", left, 6, 1}});
  for (const auto& k : classes)
    table.add({k.retired ? Cell(k.name + " (retired)", Tone::dim) : Cell(k.name),
               std::to_string(k.cores), to_string(Memory{k.memory_mib}),
               k.gpus > 0 ? std::to_string(k.gpus) : "",
               k.gpus > 0 ? to_string(Memory{k.gpu_memory_mib}) : "", brief(k.suggested),
               std::to_string(k.leased), std::to_string(k.wanted), k.mechanism});
  c.print(table);
}

Command list_command() {
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
  bool retired = false;
  bool unretired = false;
};

Result<> set(Context& c, const Set& o) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto page, parsed<wire::Page<wire::SlotClass>>(api->get("/v1/classes")));
  wire::SlotClassEdit edit;
  const auto it = std::ranges::find(page.items, o.name, &wire::SlotClass::name);
  if (it != page.items.end()) {
    edit = {it->cores, it->memory_mib, it->gpus,   it->gpu_memory_mib,
            it->price, it->mechanism,  it->params, it->retired};
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
    edit.params.clear();  // They belong to the other rule.
  }
  for (const auto& [key, value] : o.params) edit.params[key] = value;
  if (o.retired) edit.retired = true;
  if (o.unretired) edit.retired = false;
  SOUK_ASSIGN(const auto body, api->put(path_of("/v1/classes", o.name), wire::to_json(edit)));
  return c.show<wire::SlotClass>(body, [&](const auto& k) { show_classes(c, {k}); });
}

Command set_command() {
  auto o = std::make_shared<Set>();
  Command out{
      .name = "set",
      .summary = "add or change a slot class (operators)",
      .examples = {"class set c4 --price 0.9 --mechanism posted",
                   "class set c64 --cores 64 --memory 256G --price 12", "class set c32 --retired"}};
  out.options = {argument("NAME", "the class", o->name),
                 flag("--cores N", "of one slot", o->cores),
                 flag("--memory SIZE", "of one slot", o->memory),
                 flag("--gpus N", "of one slot", o->gpus),
                 flag("--gpu-memory SIZE", "of each GPU", o->gpu_memory),
                 flag("--price PRICE", "suggested before there is any history", o->price),
                 flag("--mechanism NAME", "the clearing rule (`souk mechanisms`)", o->mechanism),
                 flag("--param KEY=VALUE", "a parameter of the rule", o->params),
                 flag("--retired", "take no new offers and jobs", o->retired),
                 flag("--unretired", "take them again", o->unretired)};
  out.run = [o](Context& c) { return set(c, *o); };
  return out;
}

}  // namespace

Command class_command() {
  Command out{.name = "class",
              .summary = "slot classes: what is traded",
              .examples = {"class list", "class set c4 --price 0.9"}};
  out.commands = {list_command(), set_command()};
  out.run = out.commands.front().run;
  return out;
}

Command mechanisms_command() {
  Command out{.name = "mechanisms",
              .summary = "clearing rules an operator can choose from",
              .examples = {"mechanisms"}};
  out.run = [](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/mechanisms"));
    return c.show<wire::Mechanisms>(body, [&](const auto& m) {
      for (const auto& rule : m.items)
        c.print(fmt::format("{}\n  {}\n  {}\n", paint(printable(rule.name), Tone::strong, c.out()),
                            printable(rule.summary), printable(rule.properties)));
    });
  };
  return out;
}

}  // namespace souk::cli
