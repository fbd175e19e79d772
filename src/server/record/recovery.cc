#include "server/record/recovery.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "codec/events.h"
#include "codec/snapshot.h"
#include "journal/open.h"
#include "journal/read_ahead.h"
#include "journal/snapshot.h"

namespace souk::server {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

std::string journal_url(const Options& o) {
  return o.journal.empty() ? journal::url_in(o.data) : o.journal;
}

bool in_memory(const Options& o) {
  const auto reach = journal::reach_of(journal_url(o));
  return reach && *reach == journal::Reach::process;
}

std::string snapshot_path(const std::string& data) { return data + "/snapshot"; }

Result<market::State> nearest_state(const std::string& path, journal::Journal& journal) {
  if (auto loaded = journal::load_snapshot(path); loaded.snapshot) {
    const auto seq = loaded.snapshot->seq;
    if (seq >= journal.next())
      return fail(
          Code::damaged,
          fmt::format("the snapshot knows event {}, the journal only {}", seq, journal.next() - 1),
          "the journal was replaced by an older copy: bring the right one back, or delete "
          "the snapshot to go on from this one");
    if (seq + 1 < journal.first()) {
      spdlog::warn("the snapshot is from before event {}, with which the journal begins",
                   journal.first());
    } else {
      if (auto state = codec::decode_state(loaded.snapshot->bytes)) return *std::move(state);
      spdlog::warn("the snapshot is of another version: replaying the whole journal");
    }
  } else if (fs::exists(path)) {
    spdlog::warn("{}", loaded.note);
  }
  SOUK_ASSIGN(const auto base, journal.base());
  return codec::base_state(base);
}

Result<> apply_batch(market::State& state, const journal::Batch& batch) {
  auto number = batch.first;
  return codec::read_events(batch.bytes, batch.first,
                            [&](base::Time at, const market::Event& event) {
                              if (number++ > state.events) apply(state, at, event);
                            });
}

Result<> catch_up(market::State& state, journal::Journal& journal,
                  const std::function<Result<>()>& go_on) {
  const auto visit = [&](const journal::Batch& batch) -> Result<> {
    SOUK_TRY(apply_batch(state, batch));
    return go_on ? go_on() : Result<>();
  };
  return journal::replay_ahead(journal, state.events + 1, visit);
}

Result<Recovered> recover(const Options& o) {
  SOUK_ASSIGN(auto opened, journal::open(journal_url(o)));
  if (in_memory(o)) return Recovered{std::move(opened.journal), {}, 0};
  if (!opened.note.empty()) spdlog::warn("journal: {}", opened.note);
  Recovered out{std::move(opened.journal), {}, 0};
  SOUK_ASSIGN(out.state, nearest_state(snapshot_path(o.data), *out.journal));
  out.snapshot_events = out.state.events;
  SOUK_TRY(catch_up(out.state, *out.journal));
  spdlog::info("journal: {} events, {} replayed", out.state.events,
               out.state.events - out.snapshot_events);
  return out;
}

}  // namespace souk::server
