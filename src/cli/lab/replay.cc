#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/lab/lab.h"
#include "cli/shell/progress.h"
#include "journal/open.h"
#include "lab/worlds/replay.h"
#include "wire/json.h"

// `souk lab replay`: a market's own history under other mechanisms.

namespace souk::cli {
namespace {

struct ReplayFlags {
  std::string journal;
  Names mechanisms;
  double shading = .1;
};

Result<> replay(Context& c, const ReplayFlags& o) {
  if (o.shading < 0 || o.shading > .9)
    return usage(fmt::format("a shading of {}", o.shading), "use 0 to 0.9");
  std::vector<lab::MechanismChoice> choices;
  for (const auto& text : o.mechanisms.items) {
    SOUK_ASSIGN(auto choice, lab::parse_mechanism(text, lab::World::market));
    choices.push_back(std::move(choice));
  }
  auto opened = journal::open(o.journal, {.read_only = true});
  if (!opened) {
    auto error = std::move(opened).error();
    if (error.code == base::Code::not_found)
      error.hint = "--journal is the folder that `souk serve --data` keeps, or a journal's URL";
    return std::unexpected(Error(std::move(error), Exit::refused));
  }
  if (!opened->note.empty()) c.note("souk: " + opened->note);
  lab::Replay what_if(std::move(choices), o.shading);
  {
    Progress bar("replaying", "events", opened->journal->next() - 1, c.err());
    SOUK_TRY(lab::read_history(*opened->journal, what_if, [&](std::uint64_t last) {
      bar.update(last);
      return base::Result<>();
    }));
  }
  if (const auto first = opened->journal->first(); first > 1)
    c.note(fmt::format("souk: the journal begins with event {}: rounds before it are not there",
                       first));
  const auto result = what_if.result();
  if (c.json()) return c.print_json(wire::to_json(result));
  using enum Column::Align;
  Table table({{"mechanism"},
               {"rounds", right, 0, 1},
               {"with trades", right, 0, 2},
               {"slots", right},
               {"mean price", right},
               {"paid an hour", right},
               {"platform", right},
               {"gain an hour", right}});
  for (const auto& r : result.items)
    table.add({r.mechanism, std::to_string(r.rounds), std::to_string(r.traded_in),
               std::to_string(r.slots), fmt::format("{:.4f}", r.price),
               fmt::format("{:.4f}", r.paid), fmt::format("{:.4f}", r.paid - r.got),
               fmt::format("{:.4f} to {:.4f}", r.gain_low, r.gain_high)});
  c.print(table);
  c.print(fmt::format(
      "{}\n",
      wrapped(fmt::format(
                  "Bids and reserves are as they were logged. They need not be true values, and "
                  "under another mechanism people might have bid differently. The lower gain "
                  "takes them as true; the upper one is that of the same trades if everybody "
                  "had hidden {:.0f}% of their value. Each round is cleared by itself: history "
                  "goes on as it did.",
                  o.shading * 100),
              0, text_width(c.out()))));
  return {};
}

}  // namespace

Command lab_replay_command() {
  auto o = std::make_shared<ReplayFlags>();
  Command out{.name = "replay",
              .summary = "a market's own rounds under other mechanisms",
              .examples = {"lab replay --journal ./market --mechanisms posted,k-double:kappa=1"}};
  out.options = {
      required(flag("--journal FOLDER", "the market's folder, or its journal's URL", o->journal)),
      required(flag("--mechanisms NAMES", "to clear each round with", o->mechanisms)),
      flag("--shading SHARE", "that traders may have hidden, default 0.1", o->shading)};
  out.details = "Works beside a running server and never changes anything.";
  out.run = [o](Context& c) { return replay(c, *o); };
  return out;
}

}  // namespace souk::cli
