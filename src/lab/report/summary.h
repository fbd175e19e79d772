#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "lab/report/statistics.h"
#include "lab/worlds/experiment.h"

// What an experiment came to, as its files have it. Everything here depends on the scenario and the
// program's version alone: the same file gives the same bytes.

namespace souk::lab {

struct MechanismSummary {
  std::string name;
  std::map<std::string, Estimate> metrics;  // By field of Metrics; those the world has.
  std::vector<double> waits;                // In seconds: every twentieth, from 0% to 100%.

  SOUK_FIELDS(MechanismSummary, name, metrics, waits)
};

struct Summary {
  std::string scenario, description;
  World world = World::book;
  std::vector<std::uint64_t> seeds;
  std::vector<MechanismSummary> mechanisms;
  std::string hash;       // Of the scenario file.
  std::string version;    // Of the program.
  std::string reproduce;  // The command that makes this again.

  SOUK_FIELDS(Summary, scenario, description, world, seeds, mechanisms, hash, version, reproduce)
};

[[nodiscard]] Summary summarise(const Scenario& scenario, std::span<const Run> runs,
                                std::string_view version);

// The difference of two mechanisms in each metric, over the same seeds: `b` minus `a`.
struct Difference {
  std::string metric;
  Estimate a, b, difference;
  bool significant = false;  // The interval of the difference does not contain 0.

  SOUK_FIELDS(Difference, metric, a, b, difference, significant)
};
[[nodiscard]] std::vector<Difference> compare(const Scenario& scenario, std::span<const Run> runs,
                                              std::size_t a, std::size_t b);

// Two mechanisms by their names.
struct Comparison {
  std::string a, b;
  std::vector<Difference> metrics;

  SOUK_FIELDS(Comparison, a, b, metrics)
};
// The first mechanism with each of the others.
[[nodiscard]] std::vector<Comparison> comparisons(const Scenario& scenario,
                                                  std::span<const Run> runs);

// "mechanism,seed,time,bid,ask,units,pays,gets,limit,reserve,value,cost" and a line for each trade.
[[nodiscard]] std::string trades_csv(const Scenario& scenario, std::span<const Run> runs);

}  // namespace souk::lab
