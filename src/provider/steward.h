#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "provider/intents.h"
#include "provider/provider.h"
#include "provider/reconcile.h"

namespace souk::provider {

// What the steward asks of the market, as the owner of the pool.
class Market {
 public:
  virtual ~Market() = default;
  // How many machines are wanted. `fleet` says which of the market's machines are ours.
  virtual Result<Need> need(const Fleet& fleet, Time now) = 0;
  // Makes the market know a machine that is about to start, and how it joins.
  virtual Result<Join> admit(const std::string& intent, const MachineKind& kind) = 0;
  // Removes the machines of intents that have ended or were never recorded, and so revokes their
  // tokens.
  virtual Result<> dismiss(const Fleet& fleet) = 0;
};

// Keeps a pool at what the market needs: lists, reconciles, records, calls. Holds nothing that the
// journal of intents does not say, so that it may be killed between any two steps. One thread.
class Steward {
 public:
  struct Parts {
    Provider& provider;
    Market& market;
    IntentLog& log;
    const base::Clock& clock;
    std::function<std::string()> fresh_intent;  // A new name for each call.
    std::function<void(const std::string&)> say = [](const std::string&) {};
  };
  Steward(Parts parts, MachineName pool, Rules rules, Fleet& fleet)
      : parts_(parts), pool_(std::move(pool)), rules_(rules), fleet_(fleet) {}

  // From now on nothing is started and everything is stopped.
  void stop_all() { stop_all_ = true; }
  // One round. Fails only when the journal does; the rest is said and tried again in the next.
  Result<> pass();
  // Is nothing left that could run? Only after a pass in which the provider answered.
  [[nodiscard]] bool empty() const { return clear_ && alive(fleet_) == 0; }

 private:
  Result<> record(Record record);
  Result<> stop(const StopCall& call);
  Result<> start(const MachineKind& kind);
  Need current_need();
  void back_off(const std::string& why);
  void note_early_end(const Intent& intent);
  void say_once(const std::string& line);

  Parts parts_;
  const MachineName pool_;
  const Rules rules_;
  Fleet& fleet_;
  bool stop_all_ = false;
  bool clear_ = false;
  Time no_start_before_;
  Duration pause_;
  bool ended_early_ = false;  // The last machine that ended did so before it was of use.
  std::string said_;
};

}  // namespace souk::provider
