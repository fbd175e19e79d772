#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "market/commands.h"
#include "market/state.h"

namespace souk::server {

// Which machines get one of the operator's probes: batch jobs whose result is known. After each
// batch lease that a machine completed it is drawn whether a probe follows, more often where little
// is known of the machine; then a probe that its owner has not had is aimed at it, and the market
// finds a price as for any other job.
//
// In memory only: after a restart little is known of anybody. Core thread only.
class Probes {
 public:
  static constexpr std::int32_t kNewLeases = 20;        // Up to so many, a machine is new,
  static constexpr std::int32_t kNewFactor = 10;        // and probed so many times as often.
  static constexpr auto kPatience = base::minutes(10);  // Then the probe goes to another.
  static constexpr std::size_t kMostDue = 10'000, kMostPerTick = 16;

  // `secret`: nobody can foretell who is drawn.
  explicit Probes(std::uint64_t secret) : secret_(secret) {}

  // The probes of a market that was there before.
  void recall(const market::State& s);
  void on_applied(const market::State& s, const market::Event& event);
  // Executes AimProbe for those that are due and can get one.
  void on_tick(const market::State& s, base::Time now,
               const std::function<base::Result<>(market::Command)>& execute);

  [[nodiscard]] std::size_t due() const { return due_.size(); }

 private:
  std::uint64_t draw();
  void count(const market::State& s, const market::Lease& lease);
  struct Choice {
    base::JobId probe;   // None: nothing now,
    bool later = false;  // but one is only under way to somebody else.
  };
  Choice choose(const market::State& s, const market::Machine& machine, base::Time now);

  const std::uint64_t secret_;
  std::uint64_t draws_ = 0;
  std::map<base::MachineId, std::int32_t> leases_;  // That each completed, up to kNewLeases.
  std::set<base::MachineId> due_;
  std::map<base::JobId, base::Time> probes_;  // Live ones, and until when they are aimed.
};

}  // namespace souk::server
