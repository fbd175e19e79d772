#pragma once

#include <string_view>

namespace souk::base {

// A named place where a test may have this process die as by `kill -9`: with SOUK_KILL_AT=NAME:N in
// the environment it ends when it passes the place for the Nth time. Else it costs a comparison.
// The names, in the order in which a unit's report passes them:
//
//   update-staged     a hub has the update, nobody was told
//   update-folded     a hub has folded it, and has not said so
//   unit-accepted     the wage is owed, nothing is saved or journaled
//   wage-decided      the market has decided to pay, on the core thread
//   journal-append    before the events are written
//   journal-appended  they are durable, and nobody was told
//   wage-settled      the wage was struck off what is owed
//   training-saved    parameters and what is owed are in a snapshot
//
// And those that a journal passes when it loses its beginning:
//
//   base-saved        the state before the cut is durable, nothing else
//   events-archived   and so is the copy of what will be dropped
//   journal-cut       the journal begins at the cut; all rows are still there
//   journal-trimmed   some rows are gone
//
// And those of a provider that starts and stops a machine:
//
//   provide-admitted  the market knows the machine, the journal of intents does not
//   provide-intended  the intent is durable, nobody was called
//   provide-called    the provider was called, its answer is not recorded
//   provide-stopping  it is durable that the machine is to stop, nobody was called
void kill_point(std::string_view name);

}  // namespace souk::base
