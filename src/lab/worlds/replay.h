#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "journal/journal.h"
#include "lab/files/scenario.h"
#include "lab/worlds/external.h"
#include "market/state.h"

// What would have been: a market's own history, each round cleared again under another mechanism.
//
// Events are applied as they happened. Before each round that the journal has, the very bids and
// offers of that moment are cleared by every mechanism asked for; then history goes on as it did.
// So each answer is about one round, not about how the market would have gone on from there.
//
// Bids and reserves are taken as they were logged. People say less than the truth under a mechanism
// that does not reward it, and would have said something else under another: gains by logged prices
// are a lower bound as long as nobody bids above its value or asks below its cost, and with a guess
// of how much everybody shaded there is an upper bound for the same trades. Rounds that the journal
// leaves out, because nothing traded in them, are left out here.

namespace souk::lab {

struct ReplayRow {
  std::string mechanism;    // "as it was" for the history itself.
  std::int64_t rounds = 0;  // Replayed.
  std::int64_t traded_in = 0;
  std::int64_t slots = 0;              // Granted in all.
  double price = 0;                    // Mean per slot-hour paid.
  double paid = 0, got = 0;            // Per hour of every slot granted, in credits.
  double gain_low = 0, gain_high = 0;  // Of the same, by logged prices, and if all had shaded.

  SOUK_FIELDS(ReplayRow, mechanism, rounds, traded_in, slots, price, paid, got, gain_low, gain_high)
};

struct Replayed {
  double shading = 0;
  std::vector<ReplayRow> items;

  SOUK_FIELDS(Replayed, shading, items)
};

// Which rounds are cleared again. Of the others there is nothing in the rows.
struct ReplayScope {
  std::optional<market::ClassId> slot_class;  // All, unless given.
  base::Time since;
};

class Replay {
 public:
  // `shading`: the share of its value that a trader is thought to hide, 0 to 0.9.
  Replay(std::vector<MechanismChoice> mechanisms, double shading, ReplayScope scope = {});

  // History begins with this state, in which some events have happened already.
  void begin(market::State state) { state_ = std::move(state); }
  // The next event of the journal.
  void next(base::Time at, const market::Event& event);
  // The history itself first, then the mechanisms in order.
  [[nodiscard]] std::vector<ReplayRow> rows() const;
  [[nodiscard]] Replayed result() const { return {shading_, rows()}; }

 private:
  [[nodiscard]] bool in_scope(base::Time at, const market::RoundCleared& round) const;
  void clear_again(base::Time at, const market::RoundCleared& round);
  void count(ReplayRow& row, std::span<const market::Event> events);
  void count(ReplayRow& row, const market::Lease& lease);

  const std::vector<MechanismChoice> mechanisms_;
  std::vector<std::unique_ptr<External>> programs_;  // Of each, where it is one.
  const double shading_;
  const ReplayScope scope_;
  market::State state_;
  std::vector<ReplayRow> rows_;
  bool in_round_ = false;  // The leases that follow are of the round just read.
  base::Time round_at_;
};

// Gives `replay` everything in `journal`, batch by batch, after the state that it begins with.
// After each `next` hears the number of its last event, and its error ends the reading.
[[nodiscard]] Result<> read_history(journal::Journal& journal, Replay& replay,
                                    const std::function<Result<>(std::uint64_t last)>& next);

}  // namespace souk::lab
