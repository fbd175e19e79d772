#include "market/near.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/packages.h"

namespace souk::market {
namespace {

constexpr std::string_view kPython = "python";
constexpr std::string_view kInstead = " (it has ";

// "torch>=2.4 (it has 1.13.1)", of what is there under that name.
std::string lacking(const std::vector<std::string>& installed, const std::string& demand) {
  for (const auto& p : installed)
    if (base::same_package(base::package_name(p), base::package_name(demand))) {
      const auto version = base::package_version(p);
      return fmt::format("{}{}{})", demand, kInstead, version.empty() ? "another" : version);
    }
  return demand;
}

std::vector<std::string> missing_in(const std::vector<std::string>& installed,
                                    const std::vector<std::string>& demands) {
  std::vector<std::string> out;
  for (const auto& demand : demands)
    if (!base::is_feature(demand) && !base::has_package(installed, demand))
      out.push_back(lacking(installed, demand));
  return out;
}

bool has_python(const std::vector<std::string>& installed) {
  return base::has_package(installed, kPython);
}

}  // namespace

std::pair<std::size_t, std::size_t> NearMachine::distance() const {
  const auto absent =
      std::ranges::count_if(lacks, [](const std::string& l) { return !l.contains(kInstead); });
  return {lacks.size(), static_cast<std::size_t>(absent)};
}

NearMachine nearest(const MachineSpec& spec, const std::vector<std::string>& demands) {
  NearMachine out{.lacks = missing_in(spec.packages, demands)};
  for (const auto& e : spec.environments)
    if (NearMachine here{.environment = e.name, .lacks = missing_in(e.packages, demands)};
        here.distance() < out.distance())
      out = std::move(here);
  for (const auto& demand : demands)
    if (base::is_feature(demand) && !base::has_feature(spec.packages, demand))
      out.lacks.push_back(demand);
  return out;
}

bool takes_environments(const MachineSpec& spec, const std::vector<std::string>& demands) {
  const bool python = has_python(spec.packages) ||
                      std::ranges::any_of(spec.environments, [](const MachineEnvironment& e) {
                        return has_python(e.packages);
                      });
  return python && std::ranges::all_of(demands, [&](const std::string& demand) {
           return !base::is_feature(demand) || base::has_feature(spec.packages, demand);
         });
}

}  // namespace souk::market
