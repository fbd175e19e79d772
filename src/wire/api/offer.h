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
#include "wire/api/machine.h"
#include "wire/schema.h"

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
  bool sandboxed = true;    // False: programs run there as their lender.
  std::int64_t leases = 0;  // Behind the reliability; 0: the machine is new, and nobody knows.
  std::int32_t cores = 0;   // These five: of the machine. Memory in GiB, vram of each GPU.
  double memory = 0;
  std::int32_t gpus = 0;
  std::string gpu;
  double vram = 0;
  // Of one slot, in cores of ten years ago, as the last challenge measured it; absent: none did.
  std::optional<double> speed;
  Credits asks;                       // Its price, or the one suggested for its class now.
  std::optional<Credits> per_speed;   // What it asks for one unit of speed.
  std::vector<std::string> packages;  // A list shows the first few only.
  std::int32_t package_count = 0;
  std::optional<BusyCores> busy;  // When doubted: what keeps its machine from a proof.
  static constexpr auto searched_fields = std::array<std::string_view, 2>{"gpu", "packages"};
  SOUK_FIELDS(Offer, id, machine, machine_name, lender, class_, slots, free, price, state, weekly,
              from, until, opens, closes, paused_until, longest_lease, reliability, region,
              provider, rtt_ms, created, sandboxed, leases, cores, memory, gpus, gpu, vram, speed,
              asks, per_speed, packages, package_count, busy)
};

// One condition of a filter, and what it leaves out.
struct LeftOut {
  std::string condition;
  std::int64_t offers = 0;  // That do not meet it,
  std::int64_t only = 0;    // and those of them that meet all the others.
  SOUK_FIELDS(LeftOut, condition, offers, only)
};

struct OfferPage {
  std::optional<std::string> query;  // The `where` as it was understood.
  std::vector<Offer> items;
  std::optional<std::string> next;
  std::int64_t looked_at = 0;     // Offers, for this page.
  std::vector<LeftOut> left_out;  // Of those, by the conditions that `and` joins.
  SOUK_FIELDS(OfferPage, query, items, next, looked_at, left_out)
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

SOUK_JSON_ELSEWHERE(Offer);
SOUK_JSON_ELSEWHERE(OfferPage);
SOUK_JSON_ELSEWHERE(NewOffer);
SOUK_JSON_ELSEWHERE(OfferEdit);
SOUK_JSON_ELSEWHERE(Pause);

}  // namespace souk::wire
