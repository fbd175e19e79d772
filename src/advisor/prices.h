#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "advisor/catalog.h"
#include "advisor/machine_type.h"
#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"

// What a provider charged on a day, and plans at those prices: how fast a job runs on a type is
// measured once, what the type costs changes by the day. Pure.

namespace souk::advisor {

struct PricedType {
  std::string name;
  std::optional<Credits> on_demand, spot;      // An hour; absent where it is not sold that way.
  std::optional<double> revocations_per_hour;  // Of a machine bought on the spot market.
  std::optional<std::int32_t> quota;           // For each way of buying: clouds count them apart.
  std::optional<double> bandwidth_mbps;        // Of types that can be parameter servers.
};

struct PriceCatalog {
  std::string provider, region;
  base::Time date;  // Midnight of that day.
  std::vector<PricedType> types;
};

[[nodiscard]] std::string place_of(const PriceCatalog& catalog);  // "ec2 us-east-1".
[[nodiscard]] std::string date_of(const PriceCatalog& catalog);   // "2020-03-23".

SOUK_ENUM(Buy, spot, on_demand, both)

struct Priced {
  std::vector<MachineType> types;
  std::vector<std::string> remarks;  // What is left out or not known, a sentence each.
};

// The measured types as the catalog sells them, in their order. With Buy::both a type that is sold
// both ways is two: "p3.2xlarge (spot)", which can be taken back, then "p3.2xlarge (on demand)",
// which cannot. Price and quota are the catalog's; the quota and the revocations of spot machines
// are the measured type's where the catalog tells none. Types without a price or of which there are
// none are left out; nothing left is an error that names both sides.
[[nodiscard]] Result<Priced> priced(std::span<const MachineType> measured,
                                    const PriceCatalog& catalog, Buy buy);

// For clusters of one server and workers of one type: every type that is sold this way is a worker;
// those that tell a bandwidth are servers, bought on demand where they can be, because a training
// does not outlive its server. Requires that `buy` is one way.
[[nodiscard]] Catalog cluster_types(const PriceCatalog& catalog, Buy buy);

}  // namespace souk::advisor
