#include "journal/migrate.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/serve/journal.h"
#include "cli/shell/progress.h"
#include "codec/events.h"
#include "codec/snapshot.h"
#include "journal/open.h"
#include "journal/read_ahead.h"
#include "market/invariants.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

struct Migrate {
  std::string from, to;
};

// The hash of the state that the journal leads to at its event `events`.
base::Result<std::string> state_hash(journal::Journal& journal, std::uint64_t events,
                                     const std::string& which, Context& c) {
  SOUK_ASSIGN(const auto base, journal.base());
  SOUK_ASSIGN(auto state, codec::base_state(base));
  Progress bar("checking " + which, "events", events, c.err());
  SOUK_TRY(journal::replay_ahead(
      journal, state.events + 1, [&](const journal::Batch& batch) -> base::Result<> {
        if (batch.first > events) return {};
        SOUK_TRY(codec::read_events(
            batch.bytes, batch.first,
            [&](base::Time at, const market::Event& event) { market::apply(state, at, event); }));
        bar.update(state.events);
        return {};
      }));
  if (const auto broken = market::broken_invariants(state); !broken.empty())
    return base::fail(base::Code::damaged, fmt::format("{}: {}", which, broken.front()));
  return to_string(codec::state_hash(state));
}

Result<> migrate(Context& c, const Migrate& o) {
  SOUK_ASSIGN(const auto from, journal::open_chained(o.from, {.read_only = true}));
  SOUK_ASSIGN(const auto to, journal::open_chained(o.to));
  std::optional<Progress> bar;
  const auto copied = journal::migrate(*from, *to, [&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace("copying", "events", total, c.err());
    bar->update(done);
  });
  bar.reset();
  if (!copied) return std::unexpected(Error(copied.error(), Exit::refused));
  SOUK_ASSIGN(const auto source, state_hash(*from, copied->events, "the source", c));
  SOUK_ASSIGN(const auto target, state_hash(*to, copied->events, "the target", c));
  if (source != target)
    return failed(fmt::format("the copy leads to another state: {} instead of {}", target, source),
                  "do not use it; see what `souk journal verify` says about both");
  return c.done(fmt::format(R"({{"events":{},"copied":{},"state_hash":"{}"}})", copied->events,
                            copied->copied, target),
                fmt::format("{} events copied, {} in all; both lead to state {}", copied->copied,
                            copied->events, target));
}

}  // namespace

Command migrate_command() {
  auto o = std::make_shared<Migrate>();
  Command out{.name = "migrate",
              .summary = "copy a journal to another place, and check the copy",
              .examples = {"journal migrate --from sqlite:./market --to postgres://souk@db/market",
                           "journal migrate --from postgres://souk@db/market --to "
                           "sqlite:./market/journal.db"}};
  out.options = {required(flag("--from URL", "a market's folder, or a journal's URL", o->from)),
                 required(flag("--to URL", "of an empty one, or of a copy to go on with", o->to))};
  out.common = Common::local;
  out.details =
      "A copy that was interrupted goes on where it stopped. While a server writes to the source, "
      "what it wrote before the copy began is copied: stop the server and run the same command "
      "again for the rest. A target that holds anything else is refused.";
  out.run = [o](Context& c) { return migrate(c, *o); };
  return out;
}

}  // namespace souk::cli
