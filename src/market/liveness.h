#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "market/state.h"

namespace souk::market {

// Who has been heard lately. Heartbeats that change nothing do not go through the journal, so the
// last word of each lease and machine is kept here, beside the state: after a restart everybody is
// taken as just heard, which gives agents time to come back. The owner turns silence into
// ExpireLease commands, and tells rounds whom not to count on. Pure: time is passed in.
class Liveness {
 public:
  // Every open lease and every machine of the state counts as heard at `now`. For a start or a
  // restart.
  void reset(const State& s, Time now) {
    leases_.clear();
    machines_.clear();
    s.leases.for_each([&](const Lease& l) {
      if (l.state != LeaseState::closed) leases_[l.id] = {now, l.state != LeaseState::granted};
    });
    s.machines.for_each([&](const Machine& m) { heard(m.id, now); });
  }

  void observe(const Event& event, Time at) {
    if (const auto* granted = std::get_if<LeaseGranted>(&event))
      leases_[granted->lease.id] = {at, false};
    if (const auto* closed = std::get_if<LeaseClosed>(&event)) leases_.erase(closed->lease);
  }

  // The machine's agent said something.
  void heard(MachineId machine, Time at) {
    if (machines_.size() <= machine.value) machines_.resize(machine.value + 1);
    machines_[machine.value] = at;
  }
  // The machine's agent has the lease.
  void heard(LeaseId lease, Time at) {
    if (const auto it = leases_.find(lease); it != leases_.end()) {
      it->second.heard = at;
      it->second.taken = true;
    }
  }
  // The machine's agent asked for a piece of the files that the lease needs.
  void fetched(LeaseId lease, Time at) {
    if (const auto it = leases_.find(lease); it != leases_.end()) it->second.fetched = at;
  }

  // Nobody listened for `gap` before `now`: that is not counted as anybody's silence.
  void forgive(Duration gap, Time now) {
    for (auto& [id, lease] : leases_) lease.heard = std::min(now, lease.heard + gap);
    for (auto& at : machines_)
      if (at > Time()) at = std::min(now, at + gap);
  }

  [[nodiscard]] Time last(LeaseId lease) const {
    const auto it = leases_.find(lease);
    return it == leases_.end() ? Time() : it->second.heard;
  }

  // Running leases that have been silent for longer than the market allows. One that has not
  // started yet is under the set-up limit instead (Tick).
  [[nodiscard]] std::vector<LeaseId> silent(const State& s, Time now) const {
    std::vector<LeaseId> out;
    for (const auto& [id, lease] : leases_) {
      const auto* l = s.leases.find(id);
      if (l != nullptr && l->state != LeaseState::granted && now - lease.heard > s.settings.silence)
        out.push_back(id);
    }
    return out;
  }

  // Leases for which files were fetched within the set-up limit, in order: as long as they come,
  // setting up may take longer.
  [[nodiscard]] std::vector<LeaseId> fetching(const State& s, Time now) const {
    std::vector<LeaseId> out;
    for (const auto& [id, lease] : leases_)
      if (lease.fetched > Time() && now - lease.fetched < s.settings.setup) out.push_back(id);
    return out;
  }

  // Granted leases that their machines have not taken up in time, or took up and then fell silent.
  [[nodiscard]] std::vector<LeaseId> untaken(const State& s, Time now) const {
    std::vector<LeaseId> out;
    for (const auto& [id, lease] : leases_) {
      const auto* l = s.leases.find(id);
      const auto limit = lease.taken ? s.settings.silence : s.settings.pickup;
      if (l != nullptr && l->state == LeaseState::granted && now - lease.heard > limit)
        out.push_back(id);
    }
    return out;
  }

  // Machines with offers that have not been heard for longer than the market allows, in order.
  [[nodiscard]] std::vector<MachineId> unheard(const State& s, Time now) const {
    return silent_machines(s, now, true);
  }
  // Of them those that were heard before.
  [[nodiscard]] std::vector<MachineId> gone_silent(const State& s, Time now) const {
    return silent_machines(s, now, false);
  }

 private:
  struct HeardLease {
    Time heard;
    bool taken = false;
    Time fetched = {};
  };
  [[nodiscard]] std::vector<MachineId> silent_machines(const State& s, Time now,
                                                       bool never_heard) const {
    std::vector<MachineId> out;
    const auto& offers = s.index.offers_of;
    for (std::size_t i = 0; i < offers.size(); ++i) {
      if (offers[i].empty()) continue;
      const auto at = i < machines_.size() ? machines_[i] : Time();
      if (now - at > s.settings.silence && (never_heard || at > Time()))
        out.push_back(MachineId(i));
    }
    return out;
  }

  std::map<LeaseId, HeardLease> leases_;
  std::vector<Time> machines_;  // By machine id; 0: never.
};

}  // namespace souk::market
