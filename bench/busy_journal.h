#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "bench/report.h"
#include "bench/world.h"
#include "codec/events.h"
#include "codec/snapshot.h"
#include "journal/journal.h"

// The journal that a busy market leaves behind, as group commit would write it.

namespace souk::bench {

// Gathers events and hands them to a journal, `batch` at a time.
class Recorder {
 public:
  Recorder(journal::Journal& journal, std::uint64_t batch) : journal_(journal), batch_(batch) {}

  void add(Time at, const market::Event& event) {
    writer_.add(at, event);
    if (writer_.count() >= batch_) flush();
  }
  void flush() {
    if (writer_.count() == 0) return;
    must(journal_.append({journal_.next(), writer_.count(), writer_.bytes()}));
    writer_.clear();
  }

 private:
  journal::Journal& journal_;
  const std::uint64_t batch_;
  codec::EventWriter writer_;
};

// What the server records for each change that came with an idempotency key.
inline market::Event answer_to(const Request& request, std::uint64_t number) {
  market::Answer a{.account = request.actor.account, .status = 200, .at = request.now};
  a.key_hash = number * 0x9e3779b97f4a7c15ULL + 1;  // Any will do: it is not looked up.
  a.made = fmt::format("o{}", number);
  a.fingerprint = number * 0x9e3779b97f4a7c15ULL;
  a.body = fmt::format(
      R"({{"id":"o{0}","machine":"m{0}","machine_name":"box-{0}","lender":"account-17","class":"c1",)"
      R"("slots":4,"free":3,"price":"0.204311","state":"open","weekly":[],)"
      R"("longest_lease":"1d","reliability":0.9,"region":"eu-west","provider":"community",)"
      R"("rtt_ms":20,"created":"2026-01-05T00:00:00Z"}})",
      number);
  return market::Answered{std::move(a)};
}

// Writes at least `events` events of a busy market; the market's hash afterwards.
inline base::Digest record(journal::Journal& journal, std::uint64_t batch, std::uint64_t events) {
  Recorder recorder(journal, batch);
  const auto on_event = [&](Time at, const market::Event& event) { recorder.add(at, event); };
  const auto machines = std::max<std::uint64_t>(100, std::min<std::uint64_t>(20'000, events / 100));
  World world({.machines = machines}, on_event);
  world.fill(machines / 2, 4);
  Traffic traffic(world, {});
  for (std::uint64_t n = 0; world.state.events < events;) {
    for (const auto& request : traffic.next(1'000)) {
      if (world.run(request).empty() || request.actor.system) continue;
      const auto answer = answer_to(request, ++n);
      apply(world.state, world.state.now, answer);
      recorder.add(world.state.now, answer);
    }
  }
  recorder.flush();
  return codec::state_hash(world.state);
}

}  // namespace souk::bench
