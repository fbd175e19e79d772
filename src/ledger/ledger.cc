#include "ledger/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace souk::ledger {
namespace {

using base::Code;
using base::fail;
using base::Failure;
using base::Result;

// Errors are built out of line, so that the accepted path makes no strings.

[[gnu::cold]] Failure bad_amount(Kind kind, Credits amount) {
  return fail(Code::invalid,
              fmt::format("the amount to {} is {} credits", to_string(kind), to_string(amount)),
              fmt::format("give more than 0 and at most {}", to_string(base::kMostCredits)),
              "amount");
}

[[gnu::cold]] Failure bad_fee(Credits fee, Credits amount) {
  return fail(
      Code::invalid,
      fmt::format("the fee is {} credits of a payment of {}", to_string(fee), to_string(amount)),
      fmt::format("give a fee from 0 to {}", to_string(amount)), "fee");
}

[[gnu::cold]] Failure no_account(AccountId id, std::size_t accounts, std::string_view field) {
  return fail(Code::not_found, fmt::format("there is no account {}", to_string(id)),
              accounts == 0 ? std::string("no account is open yet")
                            : fmt::format("accounts are a1 to a{}", accounts),
              std::string(field));
}

[[gnu::cold]] Failure no_hold(HoldId id) {
  return fail(Code::not_found, fmt::format("there is no open hold {}", to_string(id)),
              "it was never opened, or it has been closed or expired and paid out once already",
              "hold");
}

[[gnu::cold]] Failure over_mint(Credits amount, Credits minted) {
  return fail(Code::conflict,
              fmt::format("a grant of {} credits is too much: {} have been granted so far",
                          to_string(amount), to_string(minted)),
              fmt::format("at most {} more can be", to_string(base::kMostCredits - minted)),
              "amount");
}

[[gnu::cold]] Failure short_of(AccountId id, Credits amount, const Balance& b) {
  const auto who = id == kPlatform ? std::string("the platform") : "account " + to_string(id);
  return fail(
      Code::conflict,
      fmt::format(
          "{} needs {} credits but has {} available{}{}", who, to_string(amount),
          to_string(b.available), b.bonus.micro > 0 ? " and a bonus of " + to_string(b.bonus) : "",
          b.escrow.micro > 0 ? fmt::format(" ({} more are reserved)", to_string(b.escrow)) : ""),
      "ask for less, earn or be granted more, or close a hold that is not needed", "amount");
}

[[gnu::cold]] Failure hold_short_of(HoldId id, Credits amount, const Hold& hold) {
  return fail(
      Code::conflict,
      fmt::format("hold {} of account {} is asked for {} credits but has {} left", to_string(id),
                  to_string(hold.owner), to_string(amount), to_string(hold.left)),
      "ask for at most what is left, or reserve more into it first", "amount");
}

[[gnu::cold]] Failure not_theirs(HoldId id, AccountId asker, AccountId owner, Credits amount) {
  return fail(Code::forbidden,
              fmt::format("account {} cannot reserve {} credits into hold {}, which belongs to "
                          "account {}",
                          to_string(asker), to_string(amount), to_string(id), to_string(owner)),
              "use a hold of its own or a new one", "hold");
}

[[gnu::cold]] Failure not_yet(HoldId id, const Hold& hold, Time now) {
  const bool never = hold.expires == base::kNever;
  return fail(
      Code::conflict,
      fmt::format("hold {} with {} credits does not expire {}; it is {} now", to_string(id),
                  to_string(hold.left), never ? "by itself" : "before " + to_string(hold.expires),
                  to_string(now)),
      never ? "close it instead" : "close it instead, or wait", "hold");
}

bool in_range(Credits c) { return c.micro > 0 && c <= base::kMostCredits; }

}  // namespace

void Ledger::open(AccountId id) {
  CHECK(id.value == balances_.size());
  balances_.emplace_back();
}

Result<> Ledger::check(const Transfer& t) const { return check(t, hold(t.hold)); }

Result<> Ledger::check(const Transfer& t, const Hold* hold) const {
  const auto known = [&](AccountId id) { return id.value < balances_.size(); };
  const bool whole_hold = t.kind == Kind::close || t.kind == Kind::expire;
  if (!whole_hold && !in_range(t.amount)) return bad_amount(t.kind, t.amount);
  switch (t.kind) {
    case Kind::grant:
      if (!known(t.to)) return no_account(t.to, accounts(), "to");
      if (t.amount > base::kMostCredits - minted_) return over_mint(t.amount, minted_);
      return {};
    case Kind::bonus:
      if (!known(t.to) || t.to == kPlatform) return no_account(t.to, accounts(), "to");
      if (t.amount > balances_[0].available) return short_of(kPlatform, t.amount, balances_[0]);
      return {};
    case Kind::reserve: {
      if (!known(t.from)) return no_account(t.from, accounts(), "from");
      if (!t.hold) return fail(Code::invalid, "hold h0 names nothing", "holds start at h1", "hold");
      if (hold && hold->owner != t.from) return not_theirs(t.hold, t.from, hold->owner, t.amount);
      const auto& b = balances_[t.from.value];
      if (t.amount > b.available + b.bonus) return short_of(t.from, t.amount, b);
      return {};
    }
    case Kind::post:
      if (!hold) return no_hold(t.hold);
      if (!known(t.to)) return no_account(t.to, accounts(), "to");
      if (t.fee.micro < 0 || t.fee > t.amount) return bad_fee(t.fee, t.amount);
      if (t.amount > hold->left) return hold_short_of(t.hold, t.amount, *hold);
      return {};
    case Kind::release:
      if (!hold) return no_hold(t.hold);
      if (t.amount > hold->left) return hold_short_of(t.hold, t.amount, *hold);
      return {};
    case Kind::close:
    case Kind::expire:
      if (!hold) return no_hold(t.hold);
      if (t.kind == Kind::expire && t.now < hold->expires) return not_yet(t.hold, *hold, t.now);
      return {};
  }
  return fail(Code::invalid, fmt::format("transfer kind {} is unknown", static_cast<int>(t.kind)));
}

void Ledger::apply(const Transfer& t) {
  // One search serves the check and the change.
  auto* const found = holds_.find(t.hold);
  CHECK(check(t, found));
  switch (t.kind) {
    case Kind::grant:
      minted_ += t.amount;
      balances_[t.to.value].available += t.amount;
      return;
    case Kind::bonus:
      balances_[0].available -= t.amount;
      balances_[t.to.value].bonus += t.amount;
      return;
    case Kind::reserve:
      return reserve(t, found ? *found : holds_[t.hold], !found);
    case Kind::post:
      return post(t, *found);
    case Kind::release:
      return give_back(*found, t.amount);
    case Kind::close:
    case Kind::expire:
      give_back(*found, found->left);
      holds_.erase(t.hold);
      return;
  }
}

void Ledger::reserve(const Transfer& t, Hold& hold, bool opened) {
  auto& owner = balances_[t.from.value];
  const auto bonus = std::min(t.amount, owner.bonus);
  owner.bonus -= bonus;
  owner.available -= t.amount - bonus;
  owner.escrow += t.amount;
  hold.owner = t.from;
  hold.left += t.amount;
  hold.bonus += bonus;
  // Adding to a hold never shortens it, or a borrower could take back what a lender counts on.
  hold.expires = opened ? t.expires : std::max(hold.expires, t.expires);
}

void Ledger::post(const Transfer& t, Hold& hold) {
  const auto bonus = std::min(t.amount, hold.bonus);
  hold.left -= t.amount;
  hold.bonus -= bonus;
  balances_[hold.owner.value].escrow -= t.amount;
  balances_[0].available += t.fee;
  auto& to = balances_[t.to.value];
  // The fee is the first credit spent, so it uses up bonus before the payee does. What a borrower
  // pays to itself keeps its colour: a bonus cannot be washed by renting one's own machine.
  const auto returned = t.to == hold.owner ? bonus - std::min(bonus, t.fee) : Credits();
  to.bonus += returned;
  to.available += t.amount - t.fee - returned;
}

void Ledger::give_back(Hold& hold, Credits amount) {
  const auto ordinary = std::min(amount, hold.left - hold.bonus);
  const auto bonus = amount - ordinary;
  auto& owner = balances_[hold.owner.value];
  owner.escrow -= amount;
  owner.available += ordinary;
  owner.bonus += bonus;
  hold.left -= amount;
  hold.bonus -= bonus;
}

const Balance& Ledger::balance(AccountId id) const {
  CHECK(id.value < balances_.size());
  return balances_[id.value];
}

const Hold* Ledger::hold(HoldId id) const { return holds_.find(id); }

std::map<HoldId, Hold> Ledger::holds() const {
  const auto all = holds_.sorted();
  return {all.begin(), all.end()};
}

Credits Ledger::sum() const {
  Credits total = -minted_;
  for (const auto& b : balances_) total += b.available + b.bonus + b.escrow;
  return total;
}

}  // namespace souk::ledger
