#include "provider/steward.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/kill_point.h"
#include "wire/json.h"

namespace souk::provider {
namespace {

using base::Code;

constexpr auto kFirstPause = base::seconds(5);
constexpr auto kLongestPause = base::minutes(10);
// A machine that ends sooner than this, and was not told to, could not work.
constexpr auto kEarly = base::minutes(1);

}  // namespace

Result<> Steward::record(Record record) {
  record.at = parts_.clock.now();
  SOUK_TRY(parts_.log.append(record));
  apply(fleet_, record);
  return {};
}

void Steward::say_once(const std::string& line) {
  if (line != said_ && !line.empty()) parts_.say(line);
  said_ = line;
}

void Steward::back_off(const std::string& why) {
  pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  no_start_before_ = parts_.clock.now() + pause_;
  parts_.say(fmt::format("nothing is started for {}: {}", to_string(pause_), why));
}

// Machines that cannot work would be started again and again.
void Steward::note_early_end(const Intent& intent) {
  const bool told = intent.phase == Phase::stopping || intent.handle.empty();
  if (told) return;
  ended_early_ = parts_.clock.now() - intent.intended < kEarly;
  if (ended_early_) back_off("the last one ended at once");
}

// A market that does not answer changes nothing: what runs goes on, and ends itself if it must.
Need Steward::current_need() {
  if (stop_all_) return {.all_stop = true};
  auto need = parts_.market.need(fleet_, parts_.clock.now());
  if (need) return *std::move(need);
  say_once("the market did not answer: " + wire::one_line(need.error()));
  return {.machines = active(fleet_)};
}

Result<> Steward::stop(const StopCall& call) {
  if (!call.intent.empty() && fleet_.intents.at(call.intent).phase != Phase::stopping) {
    parts_.say(fmt::format("stopping {} {}", call.intent, call.handle));
    SOUK_TRY(record({.kind = RecordKind::stopping, .intent = call.intent}));
    base::kill_point("provide-stopping");
  }
  if (call.intent.empty())
    parts_.say(fmt::format("stopping {}, which nobody wants any more", call.handle));
  if (call.handle.empty()) return {};  // Until a listing says what it is called.
  if (const auto done = parts_.provider.stop(call.handle, call.hard); !done)
    parts_.say(fmt::format("stopping {}: {}", call.handle, wire::one_line(done.error())));
  return {};
}

Result<> Steward::start(const MachineKind& kind) {
  const auto intent = parts_.fresh_intent();
  // What is left on the market if we are killed here costs nothing, and dismiss() finds it.
  auto join = parts_.market.admit(intent, kind);
  if (!join) {
    back_off(wire::one_line(join.error()));
    return {};
  }
  base::kill_point("provide-admitted");
  const auto end = parts_.clock.now() + rules_.lifetime;
  SOUK_TRY(record({.kind = RecordKind::intended, .intent = intent, .machine = kind, .end = end}));
  base::kill_point("provide-intended");
  const StartRequest request{.name = {pool_.owner, pool_.pool, intent},
                             .kind = kind,
                             .end = end,
                             .join = *std::move(join)};
  const auto handle = parts_.provider.start(request);
  base::kill_point("provide-called");
  if (handle) {
    if (!ended_early_) pause_ = Duration();
    parts_.say(fmt::format("started {} as {}: {}", intent, *handle, to_string(kind)));
    return record({.kind = RecordKind::started, .intent = intent, .handle = *handle});
  }
  back_off(wire::one_line(handle.error()));
  if (handle.error().code == Code::unavailable) return {};  // A listing will tell.
  return record({.kind = RecordKind::refused, .intent = intent, .text = handle.error().message});
}

Result<> Steward::pass() {
  std::optional<std::vector<ListedMachine>> listed;
  clear_ = false;
  std::vector<std::string> known;
  for (const auto& [id, i] : fleet_.intents)
    if (i.phase != Phase::ended && !i.handle.empty()) known.push_back(i.handle);
  if (auto answer = parts_.provider.list(known); answer) {
    clear_ =
        std::ranges::all_of(*answer, [](const auto& m) { return m.state == MachineState::ended; });
    listed = *std::move(answer);
  } else {
    parts_.say("cannot list machines: " + wire::one_line(answer.error()));
  }
  auto need = current_need();
  MachineKind next;
  if (!need.all_stop && need.machines > active(fleet_)) {
    auto kinds = parts_.provider.kinds();
    if (!kinds) parts_.say("cannot see what could be started: " + wire::one_line(kinds.error()));
    if (!kinds || kinds->empty())
      need.machines = active(fleet_);
    else
      next = kinds->front();
  }
  const auto now = parts_.clock.now();
  const auto actions = reconcile(fleet_, listed, need, next, rules_, now);
  for (const auto& fact : actions.facts) {
    if (fact.kind == RecordKind::ended) {
      parts_.say(fmt::format("{} ended: {}", fact.intent, fact.text));
      note_early_end(fleet_.intents.at(fact.intent));
    }
    SOUK_TRY(record(fact));
  }
  for (const auto& call : actions.stops) SOUK_TRY(stop(call));
  if (!actions.held_back.empty()) say_once("no more are started: " + actions.held_back);
  for (std::int64_t i = 0; i < actions.starts && parts_.clock.now() >= no_start_before_; ++i)
    SOUK_TRY(start(next));
  if (const auto done = parts_.market.dismiss(fleet_); !done)
    say_once("cannot remove machines that ended from the market: " + wire::one_line(done.error()));
  return {};
}

}  // namespace souk::provider
