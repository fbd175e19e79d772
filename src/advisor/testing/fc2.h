#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "advisor/catalog.h"

// Tables 1 and 2 of FC2 (Duong 2019), and the lists of types its sections 8.1 to 8.4 choose from.

namespace souk::advisor::testing {

inline const std::vector<std::string> kCpuTypes{"m4.xlarge", "t2.xlarge", "c4.xlarge"};
inline const std::vector<std::string> kMixedTypes{"m4.xlarge", "t2.xlarge", "c4.xlarge",
                                                  "p2.xlarge"};
inline const std::vector<std::string> kFastTypes{"c4.8xlarge", "p2.xlarge", "g3.4xlarge"};

inline Catalog fc2_catalog() {
  using namespace base::literals;
  return {.servers = {{"m4.large", 0.125_cr, 450},
                      {"m4.2xlarge", 0.5_cr, 1'000},
                      {"m4.10xlarge", 2.5_cr, 10'000}},
          .workers = {{"m4.xlarge", 0.25_cr},
                      {"t2.xlarge", 0.2336_cr},
                      {"c4.xlarge", 0.231_cr},
                      {"c4.8xlarge", 1.848_cr},
                      {"p2.xlarge", 1.718_cr},
                      {"g3.4xlarge", 1.67_cr}}};
}

// What a recommender takes with at most six workers and no budget.
struct Baseline {
  std::string server;
  std::vector<std::string> types;
  std::string type;
  Credits per_hour;
};

inline void expect_baseline(const Result<ClusterChoice>& out, const Baseline& known) {
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->size.type.name, known.type);
  EXPECT_EQ(out->size.workers(), 6);
  EXPECT_EQ(out->per_hour(), known.per_hour);
  EXPECT_EQ(out->size.binding(), Binding::max_workers);
}

}  // namespace souk::advisor::testing
