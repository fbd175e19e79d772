#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/parameter.h"
#include "base/random.h"
#include "base/result.h"
#include "mechanism/properties.h"

namespace souk::mechanism {

using base::Credits;

// A borrower's wish for slots of one class. Takes at most `units`, and unless it can have at least
// `gang` of them in this round, none.
struct Bid {
  std::uint64_t id = 0;
  Credits limit;  // The most it pays per slot-hour.
  std::int32_t units = 1;
  std::int32_t gang = 1;
  // Whose it is, for mechanisms that share among people or charge them. 0: unknown.
  std::uint64_t owner = 0;
};

// A lender's free slots of one class.
struct Ask {
  std::uint64_t id = 0;
  Credits reserve;  // The least it takes per slot-hour; zero for "market".
  std::int32_t units = 1;
  std::int32_t rank = 0;  // Among equal reserves the lower rank trades first.
};

enum class Half : std::uint8_t { left, right };

// How far a bid's job is, and what is left; 0: unknown.
struct JobProgress {
  double steps = 0;      // Left to do.
  double done = 0;       // Steps behind it.
  double elapsed_s = 0;  // Since it came.
  double slo_s = 0;      // The time in which the steps left must be done.

  bool operator==(const JobProgress&) const = default;
};

// What mechanisms with a memory (Karma) know of each owner, from one clearing to the next.
using Standing = std::map<std::uint64_t, std::int64_t>;

// Everything one clearing of one slot class may look at. Ties in price go to the bid that stands
// earlier in the vector, and to the ask with the lower (rank, position). What follows `reference`
// is empty but for the mechanisms that take it (Mechanism::accepts).
struct Book {
  std::vector<Bid> bids;
  std::vector<Ask> asks;
  Credits reference;  // The class's suggested price now.

  // What the market measured, for mechanisms that want it (Mechanism::wants_rates). Steps a second
  // that one slot of each ask does for each bid's job, bid after bid; 0: it cannot run there. And
  // how far each bid's job is.
  std::vector<double> rates;
  std::vector<JobProgress> works;
  // A combinatorial book has single-copy goods and no asks. For each bid the goods it wants, all
  // or none, by position in `items`, ascending; its limit is for all of them.
  std::vector<std::string> items;
  std::vector<std::vector<std::uint32_t>> bundles;
  // A split that is given rather than drawn: for each bid and for each ask.
  std::vector<Half> bid_halves, ask_halves;
  Standing standing;
};

// `units` slots of asks[ask] go to bids[bid]. The buyer pays, the seller gets, per slot-hour.
struct Trade {
  std::uint32_t bid = 0;
  std::uint32_t ask = 0;
  std::int32_t units = 0;
  Credits pays;
  Credits gets;

  bool operator==(const Trade&) const = default;
};

enum class Side : std::uint8_t { buyers, sellers };

// bids[bid] gets its bundle and pays for all of it.
struct Award {
  std::uint32_t bid = 0;
  Credits pays;

  bool operator==(const Award&) const = default;
};

// A lump sum that a trader pays to the platform on top of its trades.
struct Fee {
  Side side = Side::buyers;
  std::uint32_t index = 0;  // Of the bid or ask.
  Credits amount;

  bool operator==(const Fee&) const = default;
};

// A draw that decided who trades: `units` of what `from` (bids or asks, ascending) wanted to trade.
struct Lottery {
  Side side = Side::buyers;
  std::vector<std::uint32_t> from;
  std::int64_t units = 0;

  bool operator==(const Lottery&) const = default;
};

// What the book would come to if everybody traded who gains by it.
struct Benchmark {
  Credits gain;
  std::optional<Credits> equilibrium;  // The middle of the prices that suit everybody, if any.
};

struct Outcome {
  std::vector<Trade> trades;     // In order of bid, then ask, then what is paid.
  std::optional<Credits> price;  // The uniform price, if there is one and something traded.
  std::vector<Award> awards;     // Of a combinatorial book, in order of bid.
  std::vector<Fee> fees;         // In order of (side, index).
  std::vector<Lottery> lotteries;
  Standing standing;                        // What the next book of the class begins with.
  std::optional<Benchmark> benchmark = {};  // Of the book, where the mechanism had it at hand.
};

// Decides who gets which slots at what price. Pure: the outcome depends on the book and the draws
// from `random` alone. Implementations are one file each, listed in table.cc.
class Mechanism {
 public:
  virtual ~Mechanism() = default;
  // Requires accepts(book).
  [[nodiscard]] virtual Outcome clear(const Book& book, base::Random& random) const = 0;
  // Whether it can take such a book, and if not why. Any mechanism takes bids and asks alone,
  // unless it says otherwise.
  [[nodiscard]] virtual base::Result<> accepts(const Book& book) const;
  // Whether it looks at Book::rates and Book::works: a market then fills them in.
  [[nodiscard]] virtual bool wants_rates() const { return false; }
  // What an ask without a reserve ("market") stands for, given the class's suggested price.
  [[nodiscard]] virtual Credits market_ask(Credits /*reference*/) const { return {}; }
  // Whether a market can run on it: its outcomes are then fit_to_settle().
  [[nodiscard]] virtual base::Result<> fit_for_live() const { return {}; }
};

using Params = base::Arguments::Texts;

// How many orders a book must have at least before anything can be traded: a mechanism in which
// some order sets the price for others does nothing in smaller books.
struct LeastOrders {
  std::int32_t bids = 1;
  std::int32_t asks = 1;
  std::int32_t together = 2;

  [[nodiscard]] constexpr bool met(std::int64_t bids_there, std::int64_t asks_there) const {
    return bids_there >= bids && asks_there >= asks && bids_there + asks_there >= together;
  }
};

// One row of the table of mechanisms.
struct MechanismInfo {
  std::string_view name;
  std::string_view summary;  // One plain sentence.
  Properties properties;
  LeastOrders least = {};
  std::string_view note = {};  // What the properties cannot say, in sentences.
  base::ParameterList parameters = {};
  base::Result<std::unique_ptr<Mechanism>> (*make)(const base::Arguments& given);
};

[[nodiscard]] std::span<const MechanismInfo> all();
[[nodiscard]] base::Result<const MechanismInfo*> find(std::string_view name);

// The mechanism called `name`. Unknown names and parameters are errors that suggest the nearest;
// other values than a parameter's row allows are errors that name what is accepted.
[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make(std::string_view name,
                                                            const Params& params = {});

// The rules no outcome may break, whoever computed it: indices exist, no bid or ask exceeds its
// units, gangs are whole, no good is sold twice, nobody pays above its limit or gets below its
// reserve, fees included, trades are in order.
[[nodiscard]] base::Result<> verify(const Book& book, const Outcome& outcome);

// What a market can settle: in every trade the buyer pays at least what the seller gets (nobody
// pays a negative fee), and there are no lump sums and no bundles.
[[nodiscard]] base::Result<> fit_to_settle(const Outcome& outcome);

// The money of an outcome, for one hour of every slot traded.
struct Totals {
  std::int64_t units = 0;
  Credits buyers_pay, sellers_get;  // Fees included.
  Credits gain;                     // Limits of the buyers minus reserves of the sellers.

  [[nodiscard]] Credits platform() const { return buyers_pay - sellers_get; }
};
[[nodiscard]] Totals totals(const Book& book, const Outcome& outcome);

// A sum of credits, or the most there are.
[[nodiscard]] Credits in_all(__int128 micro);

}  // namespace souk::mechanism
