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
#include "base/random.h"
#include "base/result.h"

namespace souk::mechanism {

using base::Credits;

// A borrower's wish for slots of one class. Takes at most `units`, and unless it can have at least
// `gang` of them in this round, none.
struct Bid {
  std::uint64_t id = 0;
  Credits limit;  // The most it pays per slot-hour.
  std::int32_t units = 1;
  std::int32_t gang = 1;
};

// A lender's free slots of one class.
struct Ask {
  std::uint64_t id = 0;
  Credits reserve;  // The least it takes per slot-hour; zero for "market".
  std::int32_t units = 1;
  std::int32_t rank = 0;  // Among equal reserves the lower rank trades first.
};

// Everything one clearing of one slot class may look at. Ties in price go to the bid that stands
// earlier in the vector, and to the ask with the lower (rank, position).
struct Book {
  std::vector<Bid> bids;
  std::vector<Ask> asks;
  Credits reference;  // The class's suggested price now.
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

struct Outcome {
  std::vector<Trade> trades;     // In order of bid, then ask.
  std::optional<Credits> price;  // The uniform price, where the rule has one and something traded.
};

// A rule that decides who gets which slots at what price. Pure: the outcome depends on the book and
// the draws from `random` alone. Implementations are one file each, listed in table.cc.
class Mechanism {
 public:
  virtual ~Mechanism() = default;
  [[nodiscard]] virtual Outcome clear(const Book& book, base::Random& random) const = 0;
};

using Params = std::map<std::string, std::string, std::less<>>;

// One row of the table of mechanisms.
struct Entry {
  std::string_view name;
  std::string_view summary;     // One plain sentence.
  std::string_view properties;  // IR, IC, budget balance, efficiency, Sybil-proofness.
  base::Result<std::unique_ptr<Mechanism>> (*make)(const Params& params);
};

[[nodiscard]] std::span<const Entry> all();

// The mechanism called `name`. Unknown names and parameters are errors that suggest the nearest.
[[nodiscard]] base::Result<std::unique_ptr<Mechanism>> make(std::string_view name,
                                                            const Params& params = {});

// The rules no outcome may break, whoever computed it: indices exist, no bid or ask exceeds its
// units, gangs are whole, nobody pays above its limit or gets below its reserve, in every trade the
// buyer pays at least what the seller gets (settlement cannot pay a negative fee), trades are in
// order.
[[nodiscard]] base::Result<> verify(const Book& book, const Outcome& outcome);

}  // namespace souk::mechanism
