#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "provider/steward.h"

// A provider, a market and a journal in memory, all of which fail as the real ones do. For tests.

namespace souk::provider::testing {

// Thrown where a process would be killed.
struct Killed {};

// What goes wrong, one time in so many; 0: never.
struct Faults {
  std::uint64_t kill = 0;         // Between any two steps.
  std::uint64_t lost_reply = 0;   // A start happened, or did not, and nobody says.
  std::uint64_t doubled = 0;      // A request is delivered twice.
  std::uint64_t throttle = 0;     // Refused, to be tried later.
  std::uint64_t empty_list = 0;   // Succeeds and shows nothing.
  std::uint64_t stale_list = 0;   // Shows what was true a while ago.
  std::uint64_t failed_list = 0;  // Does not succeed.
  std::uint64_t lost_stop = 0;    // A stop that never arrived.
  std::uint64_t taken_back = 0;   // A machine ends by itself.
  std::uint64_t market_away = 0;
};

struct FakeMachine {
  std::string intent;
  Time end;  // It ends itself then: a time limit, a timer on the machine.
  bool alive = true;
  Time ended = {};
};

// The world outside, which survives kills.
class Cloud final : public Provider, public Market, public IntentLog {
 public:
  Cloud(std::uint64_t seed, Faults faults, base::FakeClock& clock)
      : faults(faults), random_(seed), clock_(clock) {}

  Result<std::vector<MachineKind>> kinds() override {
    step();
    return std::vector<MachineKind>{kind};
  }

  Result<std::string> start(const StartRequest& request) override {
    step();
    if (hit(faults.throttle)) return base::fail(base::Code::exhausted, "too many requests");
    const bool lost = hit(faults.lost_reply);
    if (lost && random_.chance(2)) return base::fail(base::Code::unavailable, "no answer");
    auto handle = make(request);
    if (hit(faults.doubled)) make(request);
    step();
    if (lost) return base::fail(base::Code::unavailable, "no answer");
    return handle;
  }

  Result<std::vector<ListedMachine>> list(const std::vector<std::string>&) override {
    step();
    for (auto& [handle, m] : machines)
      if (m.alive && (clock_.now() >= m.end || hit(faults.taken_back))) end(m);
    if (hit(faults.failed_list)) return base::fail(base::Code::unavailable, "no answer");
    std::vector<ListedMachine> out;
    // A provider that lies for longer than its Delays say is beyond help.
    const bool may_lie = clock_.now() - lies_since_.value_or(clock_.now()) < base::minutes(1);
    const bool empty = may_lie && hit(faults.empty_list);
    if (empty || (may_lie && hit(faults.stale_list))) {
      if (!lies_since_) lies_since_ = clock_.now();
      return empty ? out : last_list_;
    }
    lies_since_.reset();
    for (const auto& [handle, m] : machines) {
      if (!m.alive && clock_.now() - m.ended > base::minutes(5)) continue;
      out.push_back({m.intent, handle, m.alive ? MachineState::running : MachineState::ended, ""});
    }
    last_list_ = out;
    return out;
  }

  Result<> stop(const std::string& handle, bool hard) override {
    step();
    if (hit(faults.throttle)) return base::fail(base::Code::exhausted, "too many requests");
    if (hit(faults.lost_stop)) return base::fail(base::Code::unavailable, "no answer");
    auto& m = machines.at(handle);
    if (m.alive && (hard || random_.chance(2))) end(m);  // A polite stop may take its time.
    step();
    return {};
  }

  [[nodiscard]] Delays delays() const override { return {base::minutes(2), base::minutes(4)}; }

  Result<Need> need(const Fleet&, Time) override {
    step();
    if (hit(faults.market_away)) return base::fail(base::Code::unavailable, "no market");
    Need out{.machines = wanted};
    return out;
  }
  Result<Join> admit(const std::string&, const MachineKind&) override {
    step();
    if (hit(faults.market_away)) return base::fail(base::Code::unavailable, "no market");
    return Join{};
  }
  Result<> dismiss(const Fleet&) override {
    step();
    return {};
  }

  Result<> append(const Record& record) override {
    step();
    records.push_back(record);
    step();
    return {};
  }

  [[nodiscard]] std::int64_t alive() const {
    std::int64_t n = 0;
    for (const auto& [handle, m] : machines) n += m.alive ? 1 : 0;
    return n;
  }
  [[nodiscard]] std::map<std::string, int> alive_by_intent() const {
    std::map<std::string, int> out;
    for (const auto& [handle, m] : machines)
      if (m.alive) ++out[m.intent];
    return out;
  }

  Faults faults;
  MachineKind kind{.hourly = Credits(1'000'000)};
  std::int64_t wanted = 0;
  std::map<std::string, FakeMachine> machines;
  std::vector<Record> records;
  std::int64_t doubled_requests = 0;
  std::int64_t injected = 0;  // Faults in all.

 private:
  bool hit(std::uint64_t one_in) {
    const bool out = one_in > 0 && random_.chance(one_in);
    injected += out ? 1 : 0;
    return out;
  }
  void step() {
    if (hit(faults.kill)) throw Killed{};
  }
  void end(FakeMachine& m) {
    m.alive = false;
    m.ended = clock_.now();
  }
  std::string make(const StartRequest& request) {
    const auto& intent = request.name.intent;
    auto handle = "m" + std::to_string(machines.size() + 1);
    for (const auto& [other, m] : machines) doubled_requests += m.intent == intent ? 1 : 0;
    machines[handle] = {.intent = intent, .end = request.end};
    return handle;
  }

  base::Random random_;
  base::FakeClock& clock_;
  std::vector<ListedMachine> last_list_;
  std::optional<Time> lies_since_;
};

}  // namespace souk::provider::testing
