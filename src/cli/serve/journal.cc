#include "cli/serve/journal.h"

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

Error no_journal(base::Error error) {
  if (error.code == base::Code::not_found && error.hint.empty())
    error.hint = "--data is the folder that `souk serve --data` keeps, or a journal's URL";
  return Error(std::move(error), Exit::refused);
}

Result<journal::Opened> open_journal(const std::string& where) {
  auto opened = journal::open(where, {.read_only = true});
  if (!opened) return std::unexpected(no_journal(std::move(opened).error()));
  return *std::move(opened);
}

// With its archives, if a folder is given.
Result<journal::OpenedHistory> open_history(const std::string& where, const std::string& archive) {
  if (archive.empty()) {
    SOUK_ASSIGN(auto opened, open_journal(where));
    return journal::OpenedHistory{std::move(opened.journal), std::move(opened.note), opened.damage,
                                  std::move(opened.name)};
  }
  auto opened = journal::open_archived(where, archive);
  if (!opened) return std::unexpected(no_journal(std::move(opened).error()));
  return *std::move(opened);
}

// Calls `visit` for each event from `from` on, until it returns false.
using VisitEvent = std::function<bool(std::uint64_t number, base::Time at, const market::Event&)>;
base::Result<> for_each_event(journal::History& journal, std::uint64_t from,
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
  auto out = fmt::format(R"({{"events":{},"first":{},"state_hash":"{}","ok":{})", v.events, v.first,
                         v.state_hash, v.ok);
  if (!v.problems.empty()) out += ",\"problems\":" + wire::to_json(v.problems);
  if (!v.note.empty()) out += ",\"note\":" + wire::to_json(v.note);
  return out + "}";
}

// What one command is asked to read, and of it to write.
struct Dump {
  std::string data, archive;
  std::optional<std::uint64_t> from, limit;
  std::string file;
};

Result<> verify(Context& c, const Dump& o) {
  std::optional<Progress> bar;
  const auto progress = [&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace("verifying", "events", total, c.err());
    bar->update(done);
  };
  auto verdict = verify_journal(o.data, progress, o.archive);
  bar.reset();
  if (!verdict) return std::unexpected(std::move(verdict).error());
  if (c.json()) SOUK_TRY(c.print_json(verdict_json(*verdict)));
  if (!verdict->note.empty()) c.note("souk: " + verdict->note);
  if (verdict->ok) {
    const auto dropped = verdict->first == 1 ? ""
                                             : fmt::format(", the first {} of them only as a state",
                                                           verdict->first - 1);
    if (!c.json())
      c.print(fmt::format("{}: {} events{}, all well\nstate {}\n", verdict->name, verdict->events,
                          dropped, verdict->state_hash));
    return {};
  }
  return failed(fmt::format("the journal is damaged: {}", verdict->problems.front()),
                fmt::format("{} events before it are good; restore the folder from a backup",
                            verdict->events));
}

Result<> dump(Context& c, const Dump& o) {
  SOUK_ASSIGN(const auto opened, open_history(o.data, o.archive));
  if (!opened.note.empty()) c.note("souk: " + opened.note);
  std::uint64_t left = o.limit.value_or(opened.journal->next());
  if (left == 0) return {};
  SOUK_TRY(for_each_event(*opened.journal, o.from.value_or(opened.journal->first()),
                          [&](std::uint64_t number, base::Time at, const market::Event& e) {
                            c.print(c.json()
                                        ? event_json(number, at, e) + "\n"
                                        : fmt::format("{}  {}  {}  {}\n", number, to_string(at),
                                                      market::kind_of(e), event_fields_json(e)));
                            return --left > 0;
                          }));
  return {};
}

Result<> export_to(Context& c, const Dump& o) {
  SOUK_ASSIGN(const auto opened, open_history(o.data, o.archive));
  if (!opened.note.empty()) c.note("souk: " + opened.note);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(o.file.c_str(), "wxe"),
                                                             &std::fclose);
  if (!file)
    return failed(fmt::format("cannot make {}", o.file), "it must not exist, its folder must");
  const auto first = opened.journal->first();
  const auto total = opened.journal->next() - first;
  std::uint64_t written = 0;
  bool full = false;
  {
    Progress bar("exporting", "events", total, c.err());
    SOUK_TRY(for_each_event(
        *opened.journal, first, [&](std::uint64_t number, base::Time at, const market::Event& e) {
          const auto line = event_json(number, at, e) + "\n";
          full = std::fwrite(line.data(), 1, line.size(), file.get()) != line.size();
          bar.update(++written);
          return !full;
        }));
  }
  if (full || std::fflush(file.get()) != 0) return failed("cannot write all of " + o.file);
  return c.done(fmt::format(R"({{"events":{},"file":{}}})", written, wire::to_json(o.file)),
                fmt::format("{} events written to {}{}", written, o.file,
                            first == 1 ? "" : fmt::format(", from event {} on", first)));
}

std::vector<Option> where_options(Dump& o) {
  return {
      required(flag("--data FOLDER", "the market's folder, or its journal's URL", o.data)),
      flag("--archive FOLDER", "of `souk serve --archive`: read what was dropped too", o.archive)};
}

Command verify_command() {
  auto o = std::make_shared<Dump>();
  Command out{
      .name = "verify",
      .summary = "replay a journal and check everything about it",
      .examples = {"journal verify --data ./market", "journal verify --data ./market --json",
                   "journal verify --data ./market --archive /backup/market"}};
  out.options = where_options(*o);
  out.run = [o](Context& c) { return verify(c, *o); };
  return out;
}

Command dump_command() {
  auto o = std::make_shared<Dump>();
  Command out{.name = "dump",
              .summary = "print events, one a line; secrets are left out",
              .examples = {"journal dump --data ./market --from 100 --limit 20",
                           "journal dump --data ./market --json"}};
  out.options = where_options(*o);
  out.options.push_back(flag("--from NUMBER", "default: the oldest event there is", o->from));
  out.options.push_back(flag("--limit N", "at most this many rows", o->limit));
  out.run = [o](Context& c) { return dump(c, *o); };
  return out;
}

Command export_command() {
  auto o = std::make_shared<Dump>();
  Command out{.name = "export",
              .summary = "write all events to a file as JSON lines; secrets are left out",
              .examples = {"journal export --data ./market -o events.jsonl"}};
  out.options = where_options(*o);
  out.options.push_back(
      required(with_letter('o', flag("--output FILE", "the file to make", o->file))));
  out.run = [o](Context& c) { return export_to(c, *o); };
  return out;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// Reads events one after the other and makes the state of them.
class Verification {
 public:
  using OnProgress = std::function<void(std::uint64_t, std::uint64_t)>;
  Verification(Verdict& verdict, const OnProgress& progress)
      : verdict_(verdict), progress_(progress) {}

  // What was dropped, from its archives. They need not go back to the beginning: then nothing can
  // be made of them, and they are only read.
  base::Result<> read_archives(journal::History& all, std::uint64_t until) {
    verdict_.first = all.first();
    return for_each_event(all, all.first(),
                          [&](std::uint64_t number, base::Time at, const market::Event& event) {
                            if (number >= until) return false;
                            if (all.first() == 1) market::apply(state_, at, event);
                            verdict_.events = number;
                            if (number % 1'024 == 0) tell(all.next());
                            return true;
                          });
  }

  // The state that the journal begins with. What the archives led to must be the same.
  base::Result<> begin(std::string_view base) {
    SOUK_ASSIGN(auto state, codec::base_state(base));
    verdict_.events = state.events;
    const auto made = codec::encode_state(state_);
    // Bytes of other fields, of another version, are of another format.
    const bool comparable =
        state_.events == state.events && first_line(base) == first_line(made) && !base.empty();
    if (comparable && base != made)
      verdict_.problems.push_back(
          fmt::format("after event {} the archives lead to another state than the one that the "
                      "journal begins with",
                      state.events));
    state_ = std::move(state);
    return {};
  }

  base::Result<> read_journal(journal::Journal& journal) {
    return for_each_event(journal, state_.events + 1,
                          [&](std::uint64_t number, base::Time at, const market::Event& event) {
                            market::apply(state_, at, event);
                            verdict_.events = number;
                            if (number % 1'024 == 0) tell(journal.next());
                            return true;
                          });
  }

  void judge() {
    for (auto& broken : market::broken_invariants(state_))
      verdict_.problems.push_back(fmt::format("after event {}: {}", verdict_.events, broken));
    verdict_.state_hash = to_string(codec::state_hash(state_));
    verdict_.ok = verdict_.problems.empty();
  }

 private:
  void tell(std::uint64_t next) const {
    if (progress_) progress_(verdict_.events, next - 1);
  }

  Verdict& verdict_;
  const OnProgress& progress_;
  market::State state_;
};

// The archives are opened after the base was read: so they hold all that came before it, also when
// a server cuts meanwhile.
Result<> verify_all(Verification& verification, journal::Journal& journal, const std::string& where,
                    const std::string& archive, Verdict& verdict) {
  SOUK_ASSIGN(const auto base, journal.base());
  verdict.first = journal.first();
  if (!archive.empty()) {
    SOUK_ASSIGN(const auto all, open_history(where, archive));
    SOUK_TRY(verification.read_archives(*all.journal, journal.first()));
  }
  SOUK_TRY(verification.begin(base));
  SOUK_TRY(verification.read_journal(journal));
  return {};
}

}  // namespace

Result<Verdict> verify_journal(const std::string& where,
                               const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                               const std::string& archive) {
  Verdict out;
  auto opened = open_journal(where);
  if (!opened) {
    if (opened.error().code != base::Code::damaged)
      return std::unexpected(std::move(opened).error());
    out.problems.push_back(opened.error().message);
    return out;
  }
  out.note = opened->note;
  out.name = opened->name;
  if (opened->damage) out.problems.push_back(out.note);
  Verification verification(out, progress);
  if (auto read = verify_all(verification, *opened->journal, where, archive, out); !read) {
    // A reader that a server came in between of, or that cannot find what it was told to read.
    if (read.error().code != base::Code::damaged)
      return std::unexpected(Error(std::move(read).error(), Exit::refused));
    out.problems.push_back(read.error().message);
  }
  verification.judge();
  return out;
}

Command journal_command() {
  Command out{.name = "journal",
              .summary = "look into a market's journal, or move it, without a server",
              .examples = {"journal verify --data ./market", "journal dump --data ./market"}};
  out.commands = {verify_command(), dump_command(), export_command()};
  for (auto& command : out.commands) {
    command.common = Common::local;
    command.details = "Works beside a running server and never changes anything.";
  }
  out.commands.push_back(migrate_command());
  return out;
}

}  // namespace souk::cli
