#include "server/record/retention.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/kill_point.h"
#include "codec/events.h"
#include "codec/snapshot.h"
#include "journal/open.h"
#include "market/invariants.h"
#include "server/record/recovery.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;
using base::Result;
using base::Time;

constexpr int kPieces = 16;  // Of options.keep, one of which is dropped at a time.

// Visits batches until `visit` returns false.
Result<> read_some(journal::Journal& journal, std::uint64_t from,
                   const std::function<Result<bool>(const journal::Batch&)>& visit) {
  bool enough = false;
  auto done = journal.replay(from, [&](const journal::Batch& batch) -> Result<> {
    SOUK_ASSIGN(const bool more, visit(batch));
    enough = !more;
    return more ? Result<>() : fail(Code::conflict, "enough");
  });
  return enough ? Result<>() : done;
}

// When the oldest batch happened; nothing if there is none.
Result<std::optional<Time>> oldest(journal::Journal& journal) {
  std::optional<Time> out;
  SOUK_TRY(read_some(journal, journal.first(), [&](const journal::Batch& batch) -> Result<bool> {
    SOUK_ASSIGN(out, codec::last_time(batch.bytes, batch.first));
    return false;
  }));
  return out;
}

// A base cannot be made anew, so nothing is dropped for one that is not sound.
Result<std::string> sound_bytes(const market::State& state) {
  if (const auto broken = market::broken_invariants(state); !broken.empty())
    return fail(Code::damaged, fmt::format("after event {}: {}", state.events, broken.front()),
                "see what `souk journal verify` says");
  auto bytes = codec::encode_state(state);
  SOUK_ASSIGN(const auto again, codec::base_state(bytes));
  if (codec::encode_state(again) != bytes)
    return fail(Code::internal,
                fmt::format("the state after event {} is another when it is read", state.events));
  return bytes;
}

}  // namespace

Result<> Retention::drop_old(Time now, const GoOn& go_on) {
  if (first_ > 1 && !trimmed_) SOUK_TRY(trim(go_on));
  if (options_.keep.us <= 0) return {};
  SOUK_ASSIGN(auto opened, journal::open(options_.journal, {.read_only = true}));
  auto& journal = *opened.journal;
  SOUK_ASSIGN(const auto since, oldest(journal));
  if (!since || now - *since < options_.keep + options_.keep / kPieces) return {};
  SOUK_ASSIGN(const auto base, make_base(journal, now - options_.keep, go_on));
  if (!base) return {};
  const auto from = journal.first();
  SOUK_TRY(put_aside(journal, *base, go_on));
  opened.journal.reset();  // While it is open, SQLite's log cannot be used anew.
  SOUK_TRY(cut(*base));
  SOUK_TRY(trim(go_on));
  spdlog::info("journal: events {} to {} were {}", from, base->first - 1,
               options_.archive.empty() ? "dropped" : "moved to " + options_.archive);
  return {};
}

// The state after the last batch that happened before that time; nothing if it is the old base.
Result<std::optional<Retention::Base>> Retention::make_base(journal::Journal& journal, Time before,
                                                            const GoOn& go_on) {
  SOUK_ASSIGN(const auto old, journal.base());
  SOUK_ASSIGN(auto state, codec::base_state(old));
  const auto had = state.events;
  SOUK_TRY(read_some(journal, had + 1, [&](const journal::Batch& batch) -> Result<bool> {
    SOUK_TRY(go_on());
    SOUK_ASSIGN(const auto last, codec::last_time(batch.bytes, batch.first));
    if (last >= before) return false;
    SOUK_TRY(apply_batch(state, batch));
    return true;
  }));
  if (state.events == had) return std::nullopt;
  SOUK_ASSIGN(auto bytes, sound_bytes(state));
  return Base{state.events + 1, std::move(bytes)};
}

Result<> Retention::put_aside(journal::Journal& journal, const Base& base, const GoOn& go_on) {
  SOUK_TRY(journal.save_base(base.first, base.bytes));
  base::kill_point("base-saved");
  if (options_.archive.empty()) return {};
  SOUK_TRY(journal.archive(options_.archive, base.first,
                           [&](const journal::Batch&) { return go_on(); }));
  base::kill_point("events-archived");
  return {};
}

Result<> Retention::cut(const Base& base) {
  const auto digest = base::blake2b(base.bytes);
  SOUK_TRY(core_.upkeep([&](journal::Journal& journal) -> Result<bool> {
    SOUK_TRY(journal.cut(base.first, digest));
    return false;
  }));
  base::kill_point("journal-cut");
  first_ = base.first;
  trimmed_ = false;
  return {};
}

Result<> Retention::trim(const GoOn& go_on) {
  SOUK_TRY(core_.upkeep([&](journal::Journal& journal) -> Result<bool> {
    if (!go_on()) return false;
    SOUK_ASSIGN(const bool more, journal.trim());
    base::kill_point("journal-trimmed");
    trimmed_ = !more;
    return more;
  }));
  return go_on();
}

}  // namespace souk::server
