#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/credits.h"
#include "base/fields.h"
#include "base/time.h"
#include "wire/api/answer.h"
#include "wire/schema.h"

// The server itself, and what its operator sets and sees.

namespace souk::wire {

using base::Credits;
using base::Duration;
using base::Time;

struct Settings {
  double fee = 0;  // Share of what lenders get.
  Credits signup_bonus;
  bool signup_open = true;
  Duration term;
  Duration shortest_term;
  Duration drain;
  Duration settle_every;
  Duration silence;
  Duration setup;
  Duration low_escrow;
  Duration history;
  Duration retention;
  Duration pickup;
  double probes = 0;  // Share of batch leases that are followed by a probe.
  SOUK_FIELDS(Settings, fee, signup_bonus, signup_open, term, shortest_term, drain, settle_every,
              silence, setup, low_escrow, history, retention, pickup, probes)
};

// What is absent stays as it is.
struct SettingsEdit {
  std::optional<double> fee;
  std::optional<Credits> signup_bonus;
  std::optional<bool> signup_open;
  std::optional<Duration> term;
  std::optional<Duration> shortest_term;
  std::optional<Duration> drain;
  std::optional<Duration> settle_every;
  std::optional<Duration> silence;
  std::optional<Duration> setup;
  std::optional<Duration> low_escrow;
  std::optional<Duration> history;
  std::optional<Duration> retention;
  std::optional<Duration> pickup;
  std::optional<double> probes;
  SOUK_FIELDS(SettingsEdit, fee, signup_bonus, signup_open, term, shortest_term, drain,
              settle_every, silence, setup, low_escrow, history, retention, pickup, probes)
};

struct AuditEntry {
  Time at;
  std::string who;
  std::string action;
  std::string subject;
  std::string detail;
  SOUK_FIELDS(AuditEntry, at, who, action, subject, detail)
};

// ok: it answers. ready: it has read its journal and takes changes.
SOUK_ENUM(HealthStatus, ok, ready)

struct Health {
  HealthStatus status = HealthStatus::ok;
  std::string version;
  std::uint64_t events = 0;        // Committed so far.
  std::optional<bool> new_market;  // Nobody has an account: the first one runs it.
  SOUK_FIELDS(Health, status, version, events, new_market)
};

SOUK_JSON_ELSEWHERE(Settings);
SOUK_JSON_ELSEWHERE(SettingsEdit);
SOUK_JSON_ELSEWHERE(AuditEntry);
SOUK_JSON_ELSEWHERE(Health);
SOUK_JSON_ELSEWHERE(Page<AuditEntry>);

}  // namespace souk::wire
