#include "server/core/snapshots.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "codec/snapshot.h"
#include "journal/snapshot.h"

namespace souk::server {

void Snapshots::save(std::uint64_t events, std::string_view bytes) const {
  const auto saved = journal::save_snapshot(options_.path, events, bytes);
  if (!saved) spdlog::warn("snapshot: {}", saved.error().message);
}

void Snapshots::on_tick(Core::Turn& turn) {
  if (options_.path.empty() || turn.now() < next_) return;
  next_ = turn.now() + options_.every;
  if (turn.state().events == saved_) return;
  saved_ = turn.state().events;
  // Saved only once the journal has everything in it.
  turn.after([this, events = saved_, bytes = codec::encode_state(turn.state())]() mutable {
    writer_->post([this, events, bytes = std::move(bytes)] { save(events, bytes); });
  });
}

void Snapshots::save_last(const market::State& s) {
  writer_.reset();  // It may be writing the same file.
  if (!options_.path.empty() && s.events != saved_) save(s.events, codec::encode_state(s));
}

}  // namespace souk::server
