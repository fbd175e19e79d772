#pragma once

#include <vector>

#include "advisor/forecast.h"

// ResNet-110 on five types of spot instances, as profiled by the authors of spotDNN (parameters as
// published with their code, MIT). Their measured step includes the network and not PCIe, which
// their code adds to it.

namespace souk::advisor::testing {

inline Problem resnet110(double loss) {
  using namespace base::literals;
  Problem out{.traffic = {.model_mb = 11.5, .request_mb_s = 142, .pcie_mb_s = 10'000},
              .hub = {.bandwidth_mb_s = 1'200, .contention_slope = 0.8, .contention_base = -1.92},
              .work = TargetLoss{loss, {.g1 = 876.5, .g2 = -0.2, .g3 = 2'507.6, .g5 = 0.5}}};
  const auto add = [&](std::string name, std::int32_t quota, Credits price, std::int32_t gpus,
                       double batch_per_gpu, double samples_per_s) {
    const auto batch = gpus * batch_per_gpu;
    const Traffic network{out.traffic.model_mb, out.traffic.request_mb_s, 0};
    out.types.push_back({.name = std::move(name),
                         .quota = quota,
                         .price = price,
                         .batch = batch,
                         .compute_s = compute_seconds(batch / samples_per_s, network, gpus),
                         .gpus = gpus});
  };
  add("p3.2xlarge", 2, 0.918_cr, 1, 1'024, 1'885);
  add("g4dn.4xlarge", 5, 0.3612_cr, 1, 1'024, 750);
  add("g3.8xlarge", 5, 0.684_cr, 2, 512, 1'018);
  add("g3.16xlarge", 8, 1.5676_cr, 4, 512, 1'995);
  add("p2.8xlarge", 5, 2.16_cr, 8, 1'024, 2'115);
  return out;
}

struct KnownPlan {
  double loss, deadline_s;
  Mix mix;
  double time_s, cost, iterations;
};

// planning.md: recomputed from those parameters, R absent as in the published code.
inline const std::vector<KnownPlan> kKnownPlans{
    {0.9, 1'900, {2, 0, 2, 0, 0}, 1'884.21, 1.6769, 10'637},
    {0.8, 2'400, {2, 0, 4, 0, 0}, 2'351.08, 2.9859, 17'926},
    {0.7, 3'700, {2, 0, 4, 0, 0}, 3'584.07, 4.5518, 27'327}};

}  // namespace souk::advisor::testing
