#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advisor/prices.h"
#include "base/fields.h"
#include "cli/shell/context.h"
#include "cli/shell/error.h"
#include "cli/shell/values.h"

// `souk plan FILE`: a job's plan on the live market (plan_job.h).
// `souk plan --algorithm NAME`: plans from files, by any of the advisor's algorithms. The flags are
// one struct, because one command has them all; what an algorithm does not take is refused.
// `souk plan --fit FILE`: the parameters of a profile, from measurements.

namespace souk::cli {

// A length of time, as "1900" (seconds) or "31m40s".
struct Seconds {
  double s = 0;
};
base::Result<> read_value(std::string_view text, Seconds& out);

// "spot", "on-demand" or "both".
struct BuyFlag {
  advisor::Buy way{};
};
base::Result<> read_value(std::string_view text, BuyFlag& out);

struct PlanFlags {
  std::string job;  // A job file.
  bool measure = false;

  std::string algorithm;
  bool list = false;
  std::optional<base::Credits> budget;
  std::optional<BuyFlag> buy;
  std::vector<std::string> fit;

  // Of recommenders for a parameter server with workers of one type (plan_cluster.cc).
  std::string catalog, ps, bandwidth, type;
  Names types;
  std::optional<std::int32_t> max_workers;
  std::optional<double> share;

  // Of planners of mixes (plan_mix.cc).
  std::string profile, prices;
  std::optional<double> loss, samples, iterations, confidence;
  std::optional<Seconds> time;
  std::optional<base::Credits> server_price;
  std::optional<std::size_t> most;
};

// Each requires that flags.algorithm is one of its own.
Result<> plan_cluster(Context& c, const PlanFlags& flags);
Result<> plan_mix(Context& c, const PlanFlags& flags);

// Requires flags.fit (plan_fit.cc).
Result<> plan_fit(Context& c, const PlanFlags& flags);

// Whose prices a plan used, and of which day.
struct PricesUsed {
  std::string provider, region, date;
  SOUK_FIELDS(PricesUsed, provider, region, date)
};
PricesUsed prices_used(const advisor::PriceCatalog& catalog);
// "Prices of ec2 us-east-1 on 2020-03-23.": the last line of a plan.
std::string prices_line(const advisor::PriceCatalog& catalog);
// Says on stderr how old they are, once they are a month old.
void note_age(const Context& c, const advisor::PriceCatalog& catalog);

}  // namespace souk::cli
