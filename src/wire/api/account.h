#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "base/vocabulary.h"
#include "wire/api/answer.h"
#include "wire/schema.h"

// Accounts, and the tokens that act for them.

namespace souk::wire {

using base::Credits;
using base::Duration;
using base::Scope;
using base::Time;

struct Account {
  base::AccountId id;
  std::string name;
  bool operator_ = false;
  std::optional<std::string> frozen;  // Why.
  Credits available;
  Credits bonus;   // Pays for jobs only.
  Credits escrow;  // Promised to live jobs.
  Time created;
  SOUK_FIELDS(Account, id, name, operator_, frozen, available, bonus, escrow, created)
};

struct NewAccount {
  std::string name;
  std::string password;
  std::optional<std::string> bootstrap;  // Makes the market's first account, from elsewhere.
  SOUK_FIELDS(NewAccount, name, password, bootstrap)
};

struct Login {
  std::string name;
  std::string password;
  std::optional<std::string> label;
  std::optional<Duration> expires_in;
  SOUK_FIELDS(Login, name, password, label, expires_in)
};

struct Session {
  Account account;
  std::string token;  // Shown once; the server keeps only its hash.
  base::TokenId token_id;
  Time expires;
  SOUK_FIELDS(Session, account, token, token_id, expires)
};

struct NewPassword {
  std::string old_password;
  std::string password;
  SOUK_FIELDS(NewPassword, old_password, password)
};

struct Token {
  base::TokenId id;
  Scope scope = Scope::user;
  std::optional<base::MachineId> machine;
  std::string label;
  Time created;
  std::optional<Time> expires;
  // With scope spend: the most that its jobs may cost, what they have cost, and what is in escrow
  // for those that live.
  std::optional<Credits> limit;
  std::optional<Credits> spent;
  std::optional<Credits> reserved;
  SOUK_FIELDS(Token, id, scope, machine, label, created, expires, limit, spent, reserved)
};

struct NewToken {
  Scope scope = Scope::user;
  std::optional<base::MachineId> machine;
  std::string label;
  std::optional<Duration> expires_in;  // With scope spend: needed.
  std::optional<Credits> limit;        // With scope spend: the most that its jobs may cost.
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"scope", "label"};
  SOUK_FIELDS(NewToken, scope, machine, label, expires_in, limit)
};

struct IssuedToken {
  base::TokenId id;
  std::string token;  // Shown once.
  Scope scope = Scope::user;
  std::optional<base::MachineId> machine;
  std::optional<Time> expires;
  std::optional<Credits> limit;
  SOUK_FIELDS(IssuedToken, id, token, scope, machine, expires, limit)
};

struct Grant {
  Credits amount;
  std::string memo;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"memo"};
  SOUK_FIELDS(Grant, amount, memo)
};

// The last time an account asked the operator for credits. Open while it is not answered.
struct CreditRequest {
  std::string account;
  Credits amount;
  std::string why;
  Time at;
  std::optional<Time> answered;
  std::optional<Credits> granted;  // Absent, once answered: declined.
  std::optional<std::string> word;
  SOUK_FIELDS(CreditRequest, account, amount, why, at, answered, granted, word)
};

struct CreditRequests {
  std::vector<CreditRequest> items;
  SOUK_FIELDS(CreditRequests, items)
};

struct NewCreditRequest {
  Credits amount;
  std::string why;
  SOUK_FIELDS(NewCreditRequest, amount, why)
};

struct CreditAnswer {
  std::optional<Credits> amount;  // Absent: it is declined.
  std::string word;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"word"};
  SOUK_FIELDS(CreditAnswer, amount, word)
};

struct Freeze {
  std::string reason;
  SOUK_FIELDS(Freeze, reason)
};

SOUK_JSON_ELSEWHERE(Account);
SOUK_JSON_ELSEWHERE(NewAccount);
SOUK_JSON_ELSEWHERE(Login);
SOUK_JSON_ELSEWHERE(Session);
SOUK_JSON_ELSEWHERE(NewPassword);
SOUK_JSON_ELSEWHERE(Token);
SOUK_JSON_ELSEWHERE(NewToken);
SOUK_JSON_ELSEWHERE(IssuedToken);
SOUK_JSON_ELSEWHERE(Grant);
SOUK_JSON_ELSEWHERE(Freeze);
SOUK_JSON_ELSEWHERE(Page<Account>);
SOUK_JSON_ELSEWHERE(Page<Token>);
SOUK_JSON_ELSEWHERE(CreditRequest);
SOUK_JSON_ELSEWHERE(CreditRequests);
SOUK_JSON_ELSEWHERE(NewCreditRequest);
SOUK_JSON_ELSEWHERE(CreditAnswer);

}  // namespace souk::wire
