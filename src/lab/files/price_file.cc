#include "lab/files/price_file.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fields.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using base::Code;
using base::Credits;
using base::fail;
using base::Result;

struct TypeRow {
  std::string name;
  std::optional<Credits> on_demand, spot;
  std::optional<double> revocations_per_hour;
  std::optional<std::int32_t> quota;
  std::optional<double> bw_mbps, vcpus, memory_gib, gpus;
  std::optional<std::string> gpu;

  SOUK_FIELDS(TypeRow, name, on_demand, spot, revocations_per_hour, quota, bw_mbps, vcpus,
              memory_gib, gpus, gpu)
};

struct PriceRows {
  std::string provider;
  std::optional<std::string> region;
  std::string date;
  std::optional<std::string> source;
  std::vector<TypeRow> types;

  SOUK_FIELDS(PriceRows, provider, region, date, source, types)
};

Result<> check(const TypeRow& t) {
  const auto bad = [&](std::string_view what, std::string_view want) {
    return fail(Code::invalid, fmt::format("{} {}", t.name, what), std::string(want));
  };
  if (t.name.empty()) return fail(Code::invalid, "a type has no name", "name it");
  if (!t.on_demand && !t.spot) return bad("has no price", "give on_demand, spot or both");
  for (const auto& price : {t.on_demand, t.spot})
    if (price && *price < Credits())
      return bad(fmt::format("costs {}", base::to_string(*price)), "0 or more");
  if (t.revocations_per_hour &&
      !(*t.revocations_per_hour >= 0 && std::isfinite(*t.revocations_per_hour)))
    return bad(fmt::format("has {} revocations per hour", *t.revocations_per_hour), "0 or more");
  if (t.quota && *t.quota < 0) return bad(fmt::format("has a quota of {}", *t.quota), "0 or more");
  if (t.bw_mbps && !(*t.bw_mbps > 0 && std::isfinite(*t.bw_mbps)))
    return bad(fmt::format("has {} Mbps", *t.bw_mbps), "a bandwidth above 0");
  return {};
}

Result<base::Time> day_of(const std::string& date) {
  constexpr std::size_t length = std::string_view("2020-03-23").size();
  const auto out = base::parse_time(date + "T00:00:00Z");
  if (out && date.size() == length) return *out;
  return fail(Code::invalid, fmt::format("date is '{}'", date),
              "the day of the prices, as 2020-03-23");
}

Result<advisor::PriceCatalog> catalog_of(const PriceRows& rows) {
  if (rows.provider.empty())
    return fail(Code::invalid, "provider is empty", "whose prices are they?");
  advisor::PriceCatalog out{.provider = rows.provider, .region = rows.region.value_or("")};
  SOUK_ASSIGN(out.date, day_of(rows.date));
  std::set<std::string_view> names;
  for (const auto& t : rows.types) {
    SOUK_TRY(check(t));
    if (!names.insert(t.name).second)
      return fail(Code::invalid, fmt::format("{} is there twice", t.name), "one row for each type");
    out.types.push_back({.name = t.name,
                         .on_demand = t.on_demand,
                         .spot = t.spot,
                         .revocations_per_hour = t.revocations_per_hour,
                         .quota = t.quota,
                         .bandwidth_mbps = t.bw_mbps});
  }
  if (out.types.empty())
    return fail(Code::invalid, "there are no types", "add one under \"types\"");
  return out;
}

}  // namespace

Result<advisor::PriceCatalog> parse_prices(std::string_view json, std::string_view name) {
  SOUK_ASSIGN(const auto rows, base::located(wire::from_json<PriceRows>(json), name));
  return base::located(catalog_of(rows), name);
}

}  // namespace souk::lab
