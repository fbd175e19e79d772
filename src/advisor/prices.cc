#include "advisor/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/text.h"

namespace souk::advisor {
namespace {

using base::Code;
using base::fail;

std::string_view spoken(Buy way) { return way == Buy::spot ? "spot" : "on demand"; }

const std::optional<Credits>& price_of(const PricedType& type, Buy way) {
  CHECK(way != Buy::both);
  return way == Buy::spot ? type.spot : type.on_demand;
}

// The names that a person reads in one go.
template <class Types>
std::string names_of(const Types& types) {
  constexpr std::size_t most = 10;
  std::vector<std::string> names;
  for (const auto& type : types)
    if (names.size() < most) names.push_back(type.name);
  const auto more = std::size(types) - names.size();
  return names.empty()
             ? "no types"
             : base::join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

class Pricing {
 public:
  Pricing(const PriceCatalog& catalog, Buy buy) : catalog_(catalog), buy_(buy) {}

  void add(const MachineType& measured) {
    const auto at = std::ranges::find(catalog_.types, measured.name, &PricedType::name);
    if (at == catalog_.types.end())
      return leave_out(measured, fmt::format("{} has no such type", place_of(catalog_)));
    const auto quota = at->quota.value_or(measured.quota);
    if (quota == 0) return leave_out(measured, "its quota is 0, or nobody told one");
    const auto before = out_.types.size();
    for (const auto way : {Buy::spot, Buy::on_demand}) add(measured, *at, way, quota);
    if (out_.types.size() == before)
      leave_out(measured, fmt::format("{} has no {} price of it", place_of(catalog_),
                                      buy_ == Buy::both ? "" : spoken(buy_)));
  }

  Priced take() && { return std::move(out_); }

 private:
  void add(const MachineType& measured, const PricedType& sold, Buy way, std::int32_t quota) {
    const auto& price = price_of(sold, way);
    if (!price || (buy_ != Buy::both && buy_ != way)) return;
    auto type = measured;
    type.quota = quota;
    type.price = *price;
    if (buy_ == Buy::both) type.name += fmt::format(" ({})", spoken(way));
    type.revocations_per_hour =
        way == Buy::spot ? sold.revocations_per_hour.value_or(measured.revocations_per_hour) : 0;
    if (way == Buy::spot && !sold.revocations_per_hour && measured.revocations_per_hour == 0)
      out_.remarks.push_back(fmt::format(
          "nobody told how often a spot {} is taken back: it counts as if that never happened",
          sold.name));
    out_.types.push_back(std::move(type));
  }

  void leave_out(const MachineType& type, std::string_view why) {
    out_.remarks.push_back(fmt::format("{} is left out: {}", type.name, why));
  }

  const PriceCatalog& catalog_;
  Buy buy_;
  Priced out_;
};

}  // namespace

std::string place_of(const PriceCatalog& catalog) {
  return catalog.region.empty() ? catalog.provider
                                : fmt::format("{} {}", catalog.provider, catalog.region);
}

std::string date_of(const PriceCatalog& catalog) {
  return base::to_string(catalog.date).substr(0, std::string_view("2020-03-23").size());
}

Result<Priced> priced(std::span<const MachineType> measured, const PriceCatalog& catalog, Buy buy) {
  Pricing pricing(catalog, buy);
  for (const auto& type : measured) pricing.add(type);
  auto out = std::move(pricing).take();
  if (!out.types.empty()) return out;
  return fail(Code::invalid,
              fmt::format("of the measured types none can be bought: measured are {}; {} sells {}",
                          names_of(measured), place_of(catalog), names_of(catalog.types)),
              out.remarks.empty() ? "" : out.remarks.front());
}

Catalog cluster_types(const PriceCatalog& catalog, Buy buy) {
  Catalog out;
  for (const auto& type : catalog.types) {
    if (const auto& price = price_of(type, buy)) out.workers.push_back({type.name, *price});
    const auto& price = type.on_demand ? type.on_demand : type.spot;
    if (type.bandwidth_mbps && price)
      out.servers.push_back({type.name, *price, *type.bandwidth_mbps});
  }
  return out;
}

}  // namespace souk::advisor
