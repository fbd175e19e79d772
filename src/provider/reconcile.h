#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "provider/provider.h"

// From what was intended, what is listed and what is needed to what is to be done. Pure: no clock,
// no I/O. docs/decisions/0058 argues why it cannot forget a machine.

namespace souk::provider {

// What happened to an intent, as the journal keeps it. Written before the call that it allows.
SOUK_ENUM(RecordKind, opened, intended, started, refused, stopping, ended)

struct Record {
  RecordKind kind = RecordKind::opened;
  Time at;
  std::string intent = {};
  std::optional<MachineKind> machine = {};  // intended
  std::optional<Time> end = {};             // intended: when it ends at the latest.
  std::string handle = {};                  // started
  std::string text = {};                    // refused, ended: why. opened: the settings, as JSON.
  std::optional<Credits> carried = {};      // opened: the cost of intents that are left out.
  SOUK_FIELDS(Record, kind, at, intent, machine, end, handle, text, carried)
};

SOUK_ENUM(Phase, starting, running, stopping, ended)

struct Intent {
  Phase phase = Phase::starting;
  MachineKind machine;
  Time intended;
  Time end;
  std::string handle;  // Empty: nobody has said yet.
  Time stopping;       // Since when, in that phase.
  Time ended;
  std::string why;       // It ended.
  bool refused = false;  // It never ran, and costs nothing.
  // Since which listing it is absent from all of them. Not in the journal: who begins, begins to
  // wait.
  std::optional<Time> missing = {};
};

// All intents of a pool. Changed by records, and by what listings show.
struct Fleet {
  std::string settings;  // The last that were recorded.
  Credits carried;       // What machines cost that are no longer among the intents.
  std::map<std::string, Intent> intents;
};
// A record that does not fit, as of an intent that is not known, changes nothing.
void apply(Fleet& fleet, const Record& record);

// The fewest records that make the same fleet, less the intents that have ended.
[[nodiscard]] std::vector<Record> shortened(const Fleet& fleet, Time now);

[[nodiscard]] std::int64_t alive(const Fleet& fleet);   // Not known to have ended.
[[nodiscard]] std::int64_t active(const Fleet& fleet);  // Of those, the ones not told to stop.
// What all machines may cost: those that ended until then, the others until their latest end.
[[nodiscard]] Credits committed(const Fleet& fleet);
// What they have cost until `now`.
[[nodiscard]] Credits spent(const Fleet& fleet, Time now);

struct Rules {
  std::int64_t max_machines = 1;          // At any time, those that are ending included.
  std::optional<Credits> max_spend = {};  // Of all machines of the pool, ever.
  Duration lifetime = base::hours(1);     // Of one machine.
  Duration drain = base::seconds(90);     // From a polite stop to a hard one.
  std::int64_t starts_per_pass = 4;       // Controllers refuse bursts.
  Delays delays = {base::minutes(1), base::minutes(2)};
};

// What the market wants of the pool at the moment.
struct Need {
  std::int64_t machines = 0;         // As many should be active,
  std::vector<std::string> surplus;  // and these intents can go.
  bool all_stop = false;             // Nothing is to be left.
};

struct StopCall {
  std::string intent;  // Empty: of no intent that is alive.
  std::string handle;
  bool hard = false;
};

struct Actions {
  std::vector<Record> facts;    // What the listing shows, to be recorded.
  std::vector<StopCall> stops;  // Calls, each to be recorded as `stopping` first if it is not.
  std::int64_t starts = 0;
  std::string held_back;  // Why fewer are started than are needed.
};

// `listed` is absent when the provider did not answer: then nothing is started, and nothing is
// believed to have ended. Notes in `fleet` what it sees; `facts` are not applied yet.
Actions reconcile(Fleet& fleet, const std::optional<std::vector<ListedMachine>>& listed,
                  const Need& need, const MachineKind& next, const Rules& rules, Time now);

}  // namespace souk::provider
