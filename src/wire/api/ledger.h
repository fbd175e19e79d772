#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "base/vocabulary.h"
#include "wire/schema.h"

// Everybody's credits, and one account's statement.

namespace souk::wire {

using base::Credits;
using base::LineKind;
using base::Time;

struct Balance {
  std::optional<base::AccountId> id;
  std::string name;
  Credits available;
  Credits bonus;
  Credits escrow;
  SOUK_FIELDS(Balance, id, name, available, bonus, escrow)
};

// Everybody an operator may see; for others themselves and everyone else in one row. Always the
// platform and the mint too, so that the sum can be checked: it is zero.
struct Ledger {
  std::vector<Balance> accounts;
  Credits sum;
  SOUK_FIELDS(Ledger, accounts, sum)
};

struct StatementLine {
  Time at;
  LineKind kind = LineKind::grant;
  Credits amount;
  std::optional<base::JobId> job;
  std::optional<base::LeaseId> lease;
  std::string memo;
  SOUK_FIELDS(StatementLine, at, kind, amount, job, lease, memo)
};

struct Statement {
  std::string account;
  std::vector<StatementLine> lines;  // Newest first.
  SOUK_FIELDS(Statement, account, lines)
};

SOUK_JSON_ELSEWHERE(Balance);
SOUK_JSON_ELSEWHERE(Ledger);
SOUK_JSON_ELSEWHERE(StatementLine);
SOUK_JSON_ELSEWHERE(Statement);

}  // namespace souk::wire
