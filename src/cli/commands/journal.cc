#include "cli/commands/journal.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/shell/event_json.h"
#include "cli/shell/progress.h"
#include "codec/events.h"
#include "codec/snapshot.h"
#include "journal/open.h"
#include "market/invariants.h"
#include "market/state.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

Result<journal::Opened> open_journal(const std::string& where) {
  auto opened = journal::open(where, {.read_only = true});
  if (opened) return *std::move(opened);
  auto error = std::move(opened).error();
  if (error.code == base::Code::not_found)
    error.hint = "--data is the folder that `souk serve --data` keeps, or a journal's URL";
  return std::unexpected(Error(std::move(error), Exit::refused));
}

// Calls `visit` for each event from `from` on, until it returns false.
using VisitEvent = std::function<bool(std::uint64_t number, base::Time at, const market::Event&)>;
base::Result<> for_each_event(journal::Journal& journal, std::uint64_t from,
                              const VisitEvent& visit) {
  bool more = true;
  const auto result = journal.replay(from, [&](const journal::Batch& batch) -> base::Result<> {
    auto number = batch.first;
    SOUK_TRY(codec::read_events(batch.bytes, batch.first,
                                [&](base::Time at, const market::Event& event) {
                                  if (more && number >= from) more = visit(number, at, event);
                                  ++number;
                                }));
    if (number != batch.end())
      return base::fail(base::Code::damaged,
                        fmt::format("event {}: its batch holds {} events, not {}", batch.first,
                                    number - batch.first, batch.count));
    // Ends the replay; seen below and not an error.
    return more ? base::Result<>{} : base::fail(base::Code::conflict, "enough");
  });
  return more ? result : base::Result<>{};
}

std::string verdict_json(const Verdict& v) {
  auto out =
      fmt::format(R"({{"events":{},"state_hash":"{}","ok":{})", v.events, v.state_hash, v.ok);
  if (!v.problems.empty()) out += ",\"problems\":" + wire::to_json(v.problems);
  if (!v.note.empty()) out += ",\"note\":" + wire::to_json(v.note);
  return out + "}";
}

Result<> verify(Context& c, const std::string& where) {
  std::optional<Progress> bar;
  auto verdict = verify_journal(where, [&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace("verifying", "events", total, c.err());
    bar->update(done);
  });
  bar.reset();
  if (!verdict) return std::unexpected(std::move(verdict).error());
  if (c.json()) SOUK_TRY(c.print_json(verdict_json(*verdict)));
  if (!verdict->note.empty()) c.note("souk: " + verdict->note);
  if (verdict->ok) {
    if (!c.json())
      c.print(fmt::format("{}: {} events, all well\nstate {}\n", verdict->name, verdict->events,
                          verdict->state_hash));
    return {};
  }
  return failed(fmt::format("the journal is damaged: {}", verdict->problems.front()),
                fmt::format("{} events before it are good; restore the folder from a backup",
                            verdict->events));
}

struct Dump {
  std::string data;
  std::uint64_t from = 1;
  std::optional<std::uint64_t> limit;
  std::string file;
};

Result<> dump(Context& c, const Dump& o) {
  SOUK_ASSIGN(const auto opened, open_journal(o.data));
  if (!opened.note.empty()) c.note("souk: " + opened.note);
  std::uint64_t left = o.limit.value_or(opened.journal->next());
  if (left == 0) return {};
  SOUK_TRY(for_each_event(
      *opened.journal, o.from, [&](std::uint64_t number, base::Time at, const market::Event& e) {
        c.print(c.json() ? event_json(number, at, e) + "\n"
                         : fmt::format("{}  {}  {}  {}\n", number, to_string(at),
                                       market::kind_of(e), event_fields_json(e)));
        return --left > 0;
      }));
  return {};
}

Result<> export_to(Context& c, const Dump& o) {
  SOUK_ASSIGN(const auto opened, open_journal(o.data));
  if (!opened.note.empty()) c.note("souk: " + opened.note);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(o.file.c_str(), "wxe"),
                                                             &std::fclose);
  if (!file)
    return failed(fmt::format("cannot make {}", o.file), "it must not exist, its folder must");
  const auto total = opened.journal->next() - 1;
  std::uint64_t written = 0;
  bool full = false;
  {
    Progress bar("exporting", "events", total, c.err());
    SOUK_TRY(for_each_event(
        *opened.journal, 1, [&](std::uint64_t number, base::Time at, const market::Event& e) {
          const auto line = event_json(number, at, e) + "\n";
          full = std::fwrite(line.data(), 1, line.size(), file.get()) != line.size();
          bar.update(++written);
          return !full;
        }));
  }
  if (full || std::fflush(file.get()) != 0) return failed("cannot write all of " + o.file);
  return c.done(fmt::format(R"({{"events":{},"file":{}}})", written, wire::to_json(o.file)),
                fmt::format("{} events written to {}", written, o.file));
}

Command verify_command() {
  auto data = std::make_shared<std::string>();
  Command out{
      .name = "verify",
      .summary = "replay a journal and check everything about it",
      .examples = {"journal verify --data ./market", "journal verify --data ./market --json"}};
  out.options = {
      required(flag("--data FOLDER", "the market's folder, or its journal's URL", *data))};
  out.run = [data](Context& c) { return verify(c, *data); };
  return out;
}

Command dump_command() {
  auto o = std::make_shared<Dump>();
  Command out{.name = "dump",
              .summary = "print events, one a line; secrets are left out",
              .examples = {"journal dump --data ./market --from 100 --limit 20",
                           "journal dump --data ./market --json"}};
  out.options = {
      required(flag("--data FOLDER", "the market's folder, or its journal's URL", o->data)),
      flag("--from NUMBER", "the first event, default 1", o->from),
      flag("--limit N", "at most so many", o->limit)};
  out.run = [o](Context& c) { return dump(c, *o); };
  return out;
}

Command export_command() {
  auto o = std::make_shared<Dump>();
  Command out{.name = "export",
              .summary = "write all events to a file as JSON lines; secrets are left out",
              .examples = {"journal export --data ./market -o events.jsonl"}};
  out.options = {
      required(flag("--data FOLDER", "the market's folder, or its journal's URL", o->data)),
      required(with_letter('o', flag("--output FILE", "the file to make", o->file)))};
  out.run = [o](Context& c) { return export_to(c, *o); };
  return out;
}

}  // namespace

Result<Verdict> verify_journal(const std::string& where,
                               const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  auto opened = open_journal(where);
  Verdict out;
  if (!opened) {
    if (opened.error().code != base::Code::damaged)
      return std::unexpected(std::move(opened).error());
    out.problems.push_back(opened.error().message);
    return out;
  }
  out.note = opened->note;
  out.name = opened->name;
  if (opened->damage) out.problems.push_back(out.note);
  market::State state;
  const auto total = opened->journal->next() - 1;
  const auto replayed = for_each_event(
      *opened->journal, 1, [&](std::uint64_t number, base::Time at, const market::Event& event) {
        market::apply(state, at, event);
        out.events = number;
        if (progress && number % 1'024 == 0) progress(number, total);
        return true;
      });
  if (!replayed) {
    if (replayed.error().code == base::Code::unavailable)
      return std::unexpected(Error(replayed.error(), Exit::refused));
    out.problems.push_back(replayed.error().message);
  }
  for (auto& broken : market::broken_invariants(state))
    out.problems.push_back(fmt::format("after event {}: {}", out.events, broken));
  out.state_hash = to_string(codec::state_hash(state));
  out.ok = out.problems.empty();
  return out;
}

Command journal_command() {
  Command out{.name = "journal",
              .summary = "look into a market's journal, without a server",
              .examples = {"journal verify --data ./market", "journal dump --data ./market"}};
  out.commands = {verify_command(), dump_command(), export_command()};
  for (auto& command : out.commands) {
    command.common = Common::local;
    command.details = "Works beside a running server and never changes anything.";
  }
  return out;
}

}  // namespace souk::cli
