#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "lab/report/metrics.h"
#include "lab/worlds/population.h"
#include "market/state.h"

namespace souk::lab {

// A job as its user sees it. A user with several names may submit one draw as several jobs.
struct SimJob {
  std::uint32_t draw = 0;  // Of Draws::jobs.
  std::int32_t workers = 1;
  double submitted = 0;
  double started = -1;  // First worker running; -1: not yet.
  double ended = -1;
  bool done = false;          // Ended well.
  std::vector<double> saved;  // Seconds of work kept, by part; empty: nothing.
};

struct SimLease {
  std::uint32_t job = 0;      // Of `jobs`.
  std::uint32_t machine = 0;  // Of `machines`.
  std::int32_t part = 0;
  double started = -1;
};

// A machine as the market sees it: all of a draw, or the part of it under one of its owner's names.
// Machine n of the market is number n - 1 here, and so is its only offer.
struct SimMachine {
  std::uint32_t draw = 0;  // Of Draws::machines.
  std::int32_t slots = 1;
  bool present = true;
  bool beating = false;  // A heartbeat is due.
  bool traded = false;   // Since its price was last reconsidered.
  double quoted = 0;
  std::size_t away = 0;  // Absences begun so far.
};

// Writes down what the events of a run mean to people: who gained what, who waited how long. Sees
// every event once, in order; changes nothing.
class MarketRecord {
 public:
  MarketRecord(const Scenario& scenario, const Draws& draws, const market::State& state);

  // After it was applied, at `now` seconds.
  void observe(double now, const market::Event& event);
  // Work in progress counts as far as it got.
  Record finish(double now);

  // Of a class, oldest first; only the latest are kept.
  [[nodiscard]] const std::vector<double>& prices(market::ClassId c) const {
    return prices_[c.value - 1];
  }

  std::vector<SimJob> jobs;          // By job id - 1.
  std::vector<SimMachine> machines;  // By machine id - 1.
  std::deque<SimLease> leases;       // By lease id - 1.
  std::vector<bool> defected;        // By user.

 private:
  void granted(double now, const market::Lease& lease);
  void closed(double now, const market::LeaseClosed& event);
  void end_of(double now, const SimLease& lease, std::int32_t slots);
  [[nodiscard]] const JobDraw& draw_of(const SimJob& job) const { return draws_.jobs[job.draw]; }

  const Draws& draws_;
  const market::State& state_;
  std::vector<Bound> bounds_;  // By class id - 1.
  std::vector<std::vector<double>> prices_;
  Record record_;
  double value_ = 0, cost_ = 0, paid_ = 0, earned_ = 0, fees_ = 0;
  std::vector<double> had_, wanted_;  // Slot-hours, by user.
};

}  // namespace souk::lab
