#pragma once

#include <string>

#include "base/id.h"
#include "market/state.h"
#include "server/core/core.h"
#include "server/core/feed.h"
#include "server/core/pool.h"
#include "server/core/services.h"

namespace souk::server {

// What a server does beside the journal when an event has been applied: it tells people and agents,
// keeps the files of live jobs, ends trainings, and forgets logs.
//
// on_applied() is for the core thread and never waits: what reads a disk or a store goes to a pool.
class EventEffects {
 public:
  EventEffects(Core& core, Feed& feed, Services& services, Pool& files);

  void on_applied(const market::State& s, const Committed& c);
  // Keeps the files of all jobs of a recovered state. Before the core starts.
  void recall(const market::State& s);

 private:
  void tell(const market::State& s, const Committed& c);
  void count_jobs(const market::State& s, const market::Event& event);
  void keep_files(const market::State& s, const market::Event& event);
  // What the lease's machine uploaded of it is the borrower's from now on.
  void hand_over(const market::Lease& l, const std::string& folder);
  // What was foretold of a job that has ended, beside what came of it.
  void note_forecast(const market::State& s, const market::Event& event);
  void end_trainings(const market::State& s, const market::Event& event);
  // What a training that the market ended has come to is its result all the same.
  void end_training(base::JobId job, const std::string& reason);
  // The most bytes that a worker of it used, as far as agents told.
  [[nodiscard]] std::int64_t memory_of(const wire::Training& training) const;

  Core& core_;
  Feed& feed_;
  Services& services_;
  Pool& files_;
  Pool pinner_;  // Keeps files of live jobs, in the order of events.
};

}  // namespace souk::server
