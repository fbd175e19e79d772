#include "lab/files/scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "lab/worlds/external.h"

namespace souk::lab {

double Scenario::demand_at(double t) const {
  double out = 1;
  for (const auto& s : shocks)
    if (s.covers(t)) out *= s.demand;
  return out;
}

double Scenario::supply_at(double t) const {
  double out = 1;
  for (const auto& s : shocks)
    if (s.covers(t)) out *= s.supply;
  return out;
}

double Scenario::lowest_price() const {
  double out = lenders.empty() ? 0 : lenders[0].prices.low();
  for (const auto* side : {&lenders, &borrowers})
    for (const auto& p : *side) out = std::min(out, p.prices.low());
  return std::max(0.0, out);
}

double Scenario::highest_price() const {
  double out = 0;
  for (const auto* side : {&lenders, &borrowers})
    for (const auto& p : *side) out = std::max(out, p.prices.high());
  return out;
}

Result<MechanismChoice> parse_mechanism(std::string_view text, World world) {
  MechanismChoice out;
  const auto colon = text.find(':');
  out.name = base::trim(text.substr(0, colon));
  if (colon != std::string_view::npos) {
    for (const auto pair : base::split(text.substr(colon + 1), ';')) {
      const auto equals = pair.find('=');
      if (equals == std::string_view::npos)
        return base::fail(base::Code::invalid, fmt::format("'{}' is not key=value", pair),
                          "write for example k-double:kappa=0.25");
      out.params.emplace(base::trim(pair.substr(0, equals)), base::trim(pair.substr(equals + 1)));
    }
  }
  SOUK_ASSIGN(const auto rule, make_mechanism(out.name, out.params));
  if (world == World::market) SOUK_TRY(rule->fit_for_live());
  out.label = out.name;
  std::string params;
  for (const auto& [key, value] : out.params)
    params += fmt::format("{}{}={}", params.empty() ? "" : ", ", key, value);
  if (!params.empty()) out.label += "(" + params + ")";
  return out;
}

Result<> change(Scenario& s, const std::vector<std::string>& mechanisms,
                std::optional<std::uint64_t> seeds) {
  if (!mechanisms.empty()) s.mechanisms.clear();
  for (const auto& text : mechanisms) {
    SOUK_ASSIGN(auto choice, parse_mechanism(text, s.world));
    if (std::ranges::find(s.mechanisms, choice.label, &MechanismChoice::label) !=
        s.mechanisms.end())
      return base::fail(base::Code::invalid, fmt::format("{} is named twice", choice.label),
                        "name each once", "mechanisms");
    s.mechanisms.push_back(std::move(choice));
  }
  if (!seeds) return {};
  if (*seeds < 1 || *seeds > kMostSeeds)
    return base::fail(base::Code::invalid, fmt::format("{} seeds", *seeds),
                      fmt::format("use 1 to {}", kMostSeeds), "seeds");
  s.seeds.clear();
  for (std::uint64_t i = 1; i <= *seeds; ++i) s.seeds.push_back(i);
  return {};
}

}  // namespace souk::lab
