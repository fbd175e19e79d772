#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "advisor/catalog.h"
#include "advisor/forecast.h"
#include "advisor/prices.h"
#include "base/result.h"

// The files that `souk plan --algorithm` reads, JSON. A key that does not exist is an error that
// names the nearest; errors begin with `name`, the file's.

namespace souk::lab {

using base::Result;

// Parameter servers and worker types with their prices per hour:
//
//   {"ps": {"m4.large": {"cost": 0.125, "bw_mbps": 450}}, "workers": {"t2.xlarge": {"cost":
//   0.2336}},
//    "p": 0.95, "max_workers": 6}
//
// Types may also tell "ecu", "mem", "gpu" and "net", which nothing here uses.
//
// Or a provider's prices (price_file.h), bought one way: on demand unless `buy` says otherwise.
struct CatalogFile {
  advisor::Catalog catalog;  // Types in the order of their names, or of the provider's file.
  std::optional<double> share;
  std::optional<std::int32_t> max_workers;
  std::optional<advisor::PriceCatalog> prices;  // Where they are a provider's.
};
[[nodiscard]] Result<CatalogFile> parse_catalog(std::string_view json, std::string_view name,
                                                std::optional<advisor::Buy> buy = {});

// {"t2.xlarge": 180}: Mbps of one worker, by type.
[[nodiscard]] Result<std::map<std::string, double>> parse_bandwidth(std::string_view json);

// A job profiled on types of machines, without the work to be done:
//
//   {"types": [{"name": "c4", "quota": 8, "price": 0.4, "batch": 64, "step_s": 0.8, "gpus": 0,
//               "revocations_per_hour": 0.1, "residuals": [0.02, -0.01]}],
//    "model_mb": 11.5, "request_mb_s": 142, "pcie_mb_s": 10000,
//    "hub": {"bandwidth_mb_s": 1200, "alpha1": 0.8, "beta1": -1.92, "folds_per_s": 900, "price":
//    0.1}, "loss": {"gamma1": 876.5, "gamma2": -0.2, "gamma3": 2507.6, "gamma4": 0.3, "gamma5":
//    0.5}, "recovery": {"interval_s": 60, "checkpoint_s": 0, "restart_s": 30}}
//
// Of a type, name, quota, price and step_s are needed: the seconds of a step with one worker, its
// exchange included, which is taken out again. Of the rest, only types. Where prices come from
// elsewhere, price and quota may be missing (and are 0). "fit", which `souk plan --fit` writes, is
// for people.
//
// Or columns, as spotDNN's parameters are published, at the top or in a block of a larger file:
// types, gpus, quota, spot_price, speed_samples_per_s, batch_per_gpu (a list each), S_parm_MB,
// B_req_MBps, B_ps_MBps, B_pcie_MBps, alpha1, beta1, gamma1, gamma2, gamma3, gamma4 (or a text:
// absent), gamma5. There the step that speeds tell of includes the network and not PCIe, which is
// added, as their code does.
struct ProfileFile {
  advisor::Problem problem;  // `work` is not set.
  std::optional<advisor::Convergence> curve;
};
enum class Prices : std::uint8_t { inside, elsewhere };
[[nodiscard]] Result<ProfileFile> parse_profile(std::string_view json, std::string_view name,
                                                Prices prices = Prices::inside);

}  // namespace souk::lab
