#include "server/core/recovery.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "codec/events.h"
#include "codec/snapshot.h"
#include "journal/memory.h"
#include "journal/snapshot.h"
#include "journal/sqlite.h"

namespace souk::server {

namespace fs = std::filesystem;
using base::Code;
using base::fail;
using base::Result;

std::string journal_path(const std::string& data) { return data + "/journal.db"; }
std::string snapshot_path(const std::string& data) { return data + "/snapshot"; }

namespace {

Result<market::State> start_from_snapshot(const Options& o, std::uint64_t next) {
  auto loaded = journal::load_snapshot(snapshot_path(o.data));
  if (!loaded.snapshot) {
    if (fs::exists(snapshot_path(o.data))) spdlog::warn("{}", loaded.note);
    return market::State{};
  }
  if (loaded.snapshot->seq >= next)
    return fail(Code::damaged,
                fmt::format("the snapshot knows event {}, the journal only {}",
                            loaded.snapshot->seq, next - 1),
                "the journal was replaced by an older copy: bring the right one back, or delete "
                "the snapshot to go on from this one");
  auto state = codec::decode_state(loaded.snapshot->bytes);
  if (!state) {
    spdlog::warn("the snapshot is of another version: replaying the whole journal");
    return market::State{};
  }
  return *std::move(state);
}

}  // namespace

Result<Recovered> recover(const Options& o) {
  if (o.memory) return Recovered{std::make_unique<journal::MemoryJournal>(), {}, 0};
  SOUK_ASSIGN(auto opened, journal::SqliteJournal::open(journal_path(o.data)));
  if (!opened.note.empty()) spdlog::warn("journal: {}", opened.note);
  Recovered out{std::move(opened.journal), {}, 0};
  SOUK_ASSIGN(out.state, start_from_snapshot(o, out.journal->next()));
  out.snapshot_events = out.state.events;
  const auto from = out.state.events + 1;
  SOUK_TRY(out.journal->replay(from, [&](const journal::Batch& batch) -> Result<> {
    auto number = batch.first;
    return codec::read_events(batch.bytes, batch.first,
                              [&](base::Time at, const market::Event& event) {
                                if (number++ > out.state.events) apply(out.state, at, event);
                              });
  }));
  spdlog::info("journal: {} events, {} replayed", out.state.events, out.state.events + 1 - from);
  return out;
}

}  // namespace souk::server
