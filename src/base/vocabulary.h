#pragma once

#include "base/fields.h"

// The closed lists of words that both the core and the API speak, as base/id.h has the ids that
// both use: what is decided in market, train and advisor is the same value in a request, an answer,
// the OpenAPI document and the console. A word that only the API has is in the header of its
// subject (wire/api/). The order of most lists is part of the journal's format: append, never
// reorder.

namespace souk::base {

// What a token may do: everything its account may, only what one machine's agent needs, also what
// an operator may, or run jobs of its own up to a limit of credits.
SOUK_ENUM(Scope, user, machine, operator_, spend)

// queued: wants its first workers. running: holds at least one. paused: by its owner or for lack of
// budget; keeps its escrow. The others are final.
SOUK_ENUM(JobState, queued, running, paused, succeeded, failed, cancelled, expired)

constexpr bool is_final(JobState s) { return s >= JobState::succeeded; }

// granted: the machine prepares, unbilled. running: billed. draining: billed, told to finish before
// its term ends. closed: see its outcome.
SOUK_ENUM(LeaseState, granted, running, draining, closed)

// completed/failed: the program ended by itself, well or not. released: the lender took the slots
// back. term: the term ended and was not renewed. lost: silent. unstarted: never ran. job: the job
// ended, paused or moved to another class. none: it is still open.
SOUK_ENUM(LeaseOutcome, none, completed, failed, released, term, lost, unstarted, job)

// Somebody is to blame, and the work is still to be done.
constexpr bool came_to_nothing(LeaseOutcome o) {
  return o == LeaseOutcome::failed || o == LeaseOutcome::lost || o == LeaseOutcome::unstarted;
}

// Of a gang. forming: it wants all its workers, or has them and they prepare. running: they were
// started together. regrouping: one has left, so the others leave too, and then it forms anew.
// ending: worker 0 is done, and the others are told to end.
SOUK_ENUM(GangPhase, forming, running, regrouping, ending)

// What keeps a job from an offer. One spelling for rounds and `why`.
SOUK_ENUM(Obstacle, price, window, full, paused, draining, offline, frozen, packages, region, rtt,
          reliability, lender, provider, avoided, unproved)

// A change that would let a job start. price: pay more. workers: start with fewer. slot_class: take
// another class. wait: until windows open, slots come free or a pause ends. budget: add credits.
// environment: bring the packages with the job. The others: drop that constraint.
SOUK_ENUM(RelaxKind, wait, workers, packages, region, rtt, reliability, lender, provider, price,
          slot_class, budget, environment)

// Why credits moved on an account's statement.
SOUK_ENUM(LineKind, grant, bonus, reserve, refund, spend, earn)

SOUK_ENUM(FeedbackCategory, question, problem, idea, praise)

// init: make the first parameters. train, evaluate: as in docs/worker-protocol.md. wait: ask again
// later. finish: there is no more.
SOUK_ENUM(UnitKind, wait, init, train, evaluate, finish)

// What workers send: the change of the parameters (new - base), or the new parameters themselves.
SOUK_ENUM(Sends, delta, weights)

// What more workers would run into.
SOUK_ENUM(Bottleneck, compute, network, hub)

}  // namespace souk::base
