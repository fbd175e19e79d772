#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"

// Offers: slots of a machine, when they can be had and for how much.

namespace souk::wire {

using base::Credits;
using base::Duration;
using base::Time;

// Whether its slots can be had now, and if not, what keeps them. Where several would do, the last
// of this list that holds.
SOUK_ENUM(OfferState, open, full, closed, doubted, offline, paused, draining, frozen)

struct Offer {
  base::OfferId id;
  base::MachineId machine;
  std::string machine_name;
  std::string lender;
  std::string class_;
  std::int32_t slots = 1;
  std::int32_t free = 0;
  std::optional<Credits> price;  // Absent: market.
  OfferState state = OfferState::open;
  std::vector<std::string> weekly;
  std::optional<Time> from;
  std::optional<Time> until;
  std::optional<Time> opens;   // When closed: the next time it opens.
  std::optional<Time> closes;  // When open: the time it closes.
  std::optional<Time> paused_until;
  Duration longest_lease;
  double reliability = 0;
  std::string region;
  std::string provider;
  std::int32_t rtt_ms = 0;
  Time created;
  bool sandboxed = true;  // False: programs run there as their lender.
  SOUK_FIELDS(Offer, id, machine, machine_name, lender, class_, slots, free, price, state, weekly,
              from, until, opens, closes, paused_until, longest_lease, reliability, region,
              provider, rtt_ms, created, sandboxed)
};

struct OfferPage {
  std::optional<std::string> query;  // The `where` as it was understood.
  std::vector<Offer> items;
  std::optional<std::string> next;
  SOUK_FIELDS(OfferPage, query, items, next)
};

struct NewOffer {
  base::MachineId machine;
  std::string class_;
  std::int32_t slots = 1;
  std::optional<Credits> price;     // Absent: market.
  std::vector<std::string> weekly;  // "Mon,Wed 22:00-05:00 America/Los_Angeles"
  std::optional<Time> from;
  std::optional<Time> until;
  std::optional<Duration> longest_lease;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"slots"};
  SOUK_FIELDS(NewOffer, machine, class_, slots, price, weekly, from, until, longest_lease)
};

// What is absent stays as it is.
struct OfferEdit {
  std::optional<std::int32_t> slots;
  std::optional<Credits> price;
  bool market = false;  // Takes the price away: whatever the market pays.
  std::optional<std::vector<std::string>> weekly;
  std::optional<Time> from;
  std::optional<Time> until;
  bool always = false;  // Takes windows, start and end away.
  std::optional<Duration> longest_lease;
  SOUK_FIELDS(OfferEdit, slots, price, market, weekly, from, until, always, longest_lease)
};

struct Pause {
  std::optional<Duration> for_;  // Absent: until resumed.
  SOUK_FIELDS(Pause, for_)
};

}  // namespace souk::wire
