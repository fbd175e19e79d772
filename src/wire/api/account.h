#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "base/vocabulary.h"

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
  SOUK_FIELDS(Token, id, scope, machine, label, created, expires)
};

struct NewToken {
  Scope scope = Scope::user;
  std::optional<base::MachineId> machine;
  std::string label;
  std::optional<Duration> expires_in;
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"scope", "label"};
  SOUK_FIELDS(NewToken, scope, machine, label, expires_in)
};

struct IssuedToken {
  base::TokenId id;
  std::string token;  // Shown once.
  Scope scope = Scope::user;
  std::optional<base::MachineId> machine;
  std::optional<Time> expires;
  SOUK_FIELDS(IssuedToken, id, token, scope, machine, expires)
};

struct Grant {
  Credits amount;
  std::string memo;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"memo"};
  SOUK_FIELDS(Grant, amount, memo)
};

struct Freeze {
  std::string reason;
  SOUK_FIELDS(Freeze, reason)
};

}  // namespace souk::wire
