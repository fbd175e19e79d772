#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/credits.h"
#include "base/id.h"
#include "base/id_map.h"
#include "base/result.h"
#include "base/time.h"

namespace souk::ledger {

using base::AccountId;
using base::Credits;
using base::HoldId;
using base::Time;

// The operator's own account: fees flow in, sign-up bonuses flow out.
inline constexpr AccountId kPlatform{};

struct Balance {
  Credits available;  // Free to use.
  Credits bonus;      // From a sign-up bonus: pays for jobs, goes nowhere else.
  Credits escrow;     // Promised to open holds.

  bool operator==(const Balance&) const = default;
  SOUK_FIELDS(Balance, available, bonus, escrow)
};

// Credits set aside by `owner` for one purpose. `left` is still in escrow; `bonus` of it came from
// the owner's bonus and is spent first. After `expires` anyone may return it to its owner.
struct Hold {
  AccountId owner;
  Credits left;
  Credits bonus;
  Time expires = base::kNever;

  bool operator==(const Hold&) const = default;
  SOUK_FIELDS(Hold, owner, left, bonus, expires)
};

// grant    the mint creates `amount` for `to` (which may be kPlatform)
// bonus    the platform gives `amount` to the bonus of `to`
// reserve  `from` puts `amount` into `hold`, bonus first; opens it, or adds to it if it is theirs
//          (the later of the two `expires` then counts)
// post     `hold` pays `amount` to `to`, of which `fee` goes to the platform; bonus credits that
//          would return to the hold's own owner stay bonus credits (the fee uses up bonus first)
// release  `amount` of `hold` goes back to its owner, ordinary credits first; the hold stays open
// close    (void) what is left of `hold` goes back to its owner, and the hold is gone
// expire   the same, allowed only once `now` has reached the hold's `expires`
// A kind looks only at the fields named here. Amounts are above zero and at most kMostCredits, as
// is all that is ever minted, so no balance can overflow.
SOUK_ENUM(Kind, grant, bonus, reserve, post, release, close, expire)

struct Transfer {
  Kind kind = Kind::grant;
  AccountId from = {};
  AccountId to = {};
  HoldId hold = {};
  Credits amount = {};
  Credits fee = {};
  Time expires = base::kNever;  // reserve: when the hold may be expired
  Time now = {};                // expire: the time of the attempt
};

// Double-entry credit ledger: every movement takes from one balance what it gives to another, and
// all balances, the mint's negative one among them, always sum to zero. No balance but the mint's
// is ever below zero. Pure and single-threaded: no clock, no I/O, no logging.
class Ledger {
 public:
  // Opens the next account, which must be `id`: accounts are numbered 1, 2, 3...
  void open(AccountId id);
  // Would `t` be accepted now? Changes nothing.
  [[nodiscard]] base::Result<> check(const Transfer& t) const;
  // Moves the credits. Requires check(t); a refusal here is our bug.
  void apply(const Transfer& t);

  [[nodiscard]] const Balance& balance(AccountId id) const;  // kPlatform too
  [[nodiscard]] const Hold* hold(HoldId id) const;           // nullptr once resolved
  [[nodiscard]] std::map<HoldId, Hold> holds() const;
  [[nodiscard]] std::size_t accounts() const { return balances_.size() - 1; }
  [[nodiscard]] Credits minted() const { return minted_; }  // The mint's balance is its negative.
  // All balances plus the mint's: zero, or we have a bug.
  [[nodiscard]] Credits sum() const;

  bool operator==(const Ledger&) const = default;
  SOUK_FIELDS(Ledger, minted_, balances_, holds_)

 private:
  // `hold` is this->hold(t.hold), searched once by the caller.
  base::Result<> check(const Transfer& t, const Hold* hold) const;
  void reserve(const Transfer& t, Hold& hold, bool opened);
  void post(const Transfer& t, Hold& hold);
  void give_back(Hold& hold, Credits amount);

  Credits minted_;
  std::vector<Balance> balances_{Balance{}};  // Indexed by account; [0] is the platform.
  base::IdMap<HoldId, Hold> holds_;
};

}  // namespace souk::ledger
