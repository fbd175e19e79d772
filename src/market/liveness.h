#pragma once

#include <map>
#include <vector>

#include "market/state.h"

namespace souk::market {

// Who has been heard lately. Heartbeats that change nothing do not go through the journal, so the
// last word of each lease is kept here, beside the state: after a restart everybody is taken as
// just heard, which gives agents time to come back. The owner turns silence into ExpireLease
// commands. Pure: time is passed in.
class Liveness {
 public:
  // Every open lease of the state counts as heard at `now`. For a start or a restart.
  void reset(const State& s, Time now) {
    heard_.clear();
    s.leases.for_each([&](const Lease& l) {
      if (l.state != LeaseState::closed) heard_[l.id] = now;
    });
  }

  void observe(const Event& event, Time at) {
    if (const auto* granted = std::get_if<LeaseGranted>(&event)) heard_[granted->lease.id] = at;
    if (const auto* closed = std::get_if<LeaseClosed>(&event)) heard_.erase(closed->lease);
  }

  void heard(LeaseId lease, Time at) {
    if (const auto it = heard_.find(lease); it != heard_.end()) it->second = at;
  }

  [[nodiscard]] Time last(LeaseId lease) const {
    const auto it = heard_.find(lease);
    return it == heard_.end() ? Time() : it->second;
  }

  // Running leases that have been silent for longer than the market allows. A lease that has not
  // started yet is under the set-up limit instead (Tick).
  [[nodiscard]] std::vector<LeaseId> silent(const State& s, Time now) const {
    std::vector<LeaseId> out;
    for (const auto& [lease, at] : heard_) {
      const auto* l = s.leases.find(lease);
      if (l != nullptr && l->state != LeaseState::granted && now - at > s.settings.silence)
        out.push_back(lease);
    }
    return out;
  }

 private:
  std::map<LeaseId, Time> heard_;
};

}  // namespace souk::market
