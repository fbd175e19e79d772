#include "base/packages.h"

#include "fuzz/target.h"

// "installed\ndemand": what a machine lists, and what a job demands of it. Versions have an order,
// a package meets a demand for itself, and one of another name never does.

using namespace souk;

SOUK_FUZZ(packages, .input_bytes = 512, .malloc_mb = 1) {
  const std::string_view bytes = input;
  const auto line = std::min(bytes.find('\n'), bytes.size());
  const auto installed = bytes.substr(0, line);
  const auto demand = bytes.substr(std::min(line + 1, bytes.size()));
  CHECK(base::compare_versions(installed, installed) == 0);
  CHECK((base::compare_versions(installed, demand) < 0) ==
        (base::compare_versions(demand, installed) > 0));
  CHECK(base::same_package(installed, demand) ==
        (base::normal_name(installed) == base::normal_name(demand)));
  const std::string list[] = {std::string(installed)};
  CHECK(base::has_package(list, installed));
  if (installed != demand && base::has_package(list, demand))
    CHECK(base::same_package(base::package_name(installed), base::package_name(demand)));
  (void)base::check_demand(demand, "packages");
}
