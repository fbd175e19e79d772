#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "wire/schema.h"

// The stream of events.

namespace souk::wire {

using base::Credits;
using base::Time;

// One event as /v1/events shows it: what concerns everybody, or this account.
struct Notice {
  std::uint64_t number = 0;
  Time at;
  std::string kind;  // The name of the event: LeaseGranted, RoundCleared... New ones come.
  std::optional<base::JobId> job;
  std::optional<base::LeaseId> lease;
  std::optional<base::OfferId> offer;
  std::optional<base::MachineId> machine;
  std::optional<std::string> class_;
  std::optional<Credits> price;
  std::optional<Credits> amount;
  std::optional<std::string> text;
  SOUK_FIELDS(Notice, number, at, kind, job, lease, offer, machine, class_, price, amount, text)
};

struct Notices {
  std::vector<Notice> items;
  std::uint64_t next = 0;  // Goes back as ?after=.
  SOUK_FIELDS(Notices, items, next)
};

SOUK_JSON_ELSEWHERE(Notice);
SOUK_JSON_ELSEWHERE(Notices);

}  // namespace souk::wire
