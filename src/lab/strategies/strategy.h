#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/random.h"
#include "base/result.h"

// How agents make their prices. An agent knows its own value (of a buyer) or cost (of a seller),
// what its kind of strategy may see of the market, and its own luck. One policy, one file
// in this folder, listed in table.cc.

namespace souk::lab {

// What an agent sees when it names a price, per slot-hour.
struct Situation {
  bool buys = true;
  double value = 0;                  // Its own: what it gains or gives up.
  double lowest = 0, highest = 0;    // Prices that anybody could think of.
  std::optional<double> last_price;  // Of the last clearing that traded.
  std::span<const double> history;   // Prices of recent clearings, oldest first.
  double run_time = 0;               // Of a job, in seconds; 0 in a book.
  double slot = 0;                   // How long a price holds, in seconds; 0 in a book.
};

// What it hears after a clearing.
struct Lesson {
  bool buys = true;
  double value = 0;
  double quoted = 0;
  bool traded = false;
  std::optional<double> price;  // Of this clearing, if anything traded.
};

// A price that somebody names, as the market takes it: none is below zero.
[[nodiscard]] inline base::Credits as_price(double quote) {
  return base::as_credits(std::max(0.0, quote));
}

// One agent's way to make prices. Its state is the agent's own; its draws come from the agent's
// stream.
class Strategy {
 public:
  virtual ~Strategy() = default;
  [[nodiscard]] virtual double quote(const Situation& now, base::Random& random) = 0;
  virtual void learn(const Lesson&) {}
  // The identities it appears under, and what each of them says instead of `quoted`.
  [[nodiscard]] virtual std::int32_t names() const { return 1; }
  [[nodiscard]] virtual double quote_of(std::int32_t /*name*/, const Situation&,
                                        double quoted) const {
    return quoted;
  }
};

struct StrategyParam {
  std::string_view name;
  double otherwise;
  double least, most;
};

using StrategyParams = std::map<std::string, double, std::less<>>;  // Every one of the table's.

struct StrategyEntry {
  std::string_view name;
  std::string_view summary;
  std::vector<StrategyParam> params;
  std::unique_ptr<Strategy> (*make)(const StrategyParams& params);
};

[[nodiscard]] std::span<const StrategyEntry> strategies();

struct StrategyChoice {
  std::string name = "truthful";
  StrategyParams params;
};

// Fills in what is missing. Unknown names and params are errors that suggest the nearest; the
// error's field is "" for the name, or the param's.
[[nodiscard]] base::Result<StrategyChoice> check_strategy(StrategyChoice choice);
// Requires a checked choice.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(const StrategyChoice& choice);

std::unique_ptr<Strategy> make_truthful(const StrategyParams&);
std::unique_ptr<Strategy> make_zero_intelligence(const StrategyParams&);
std::unique_ptr<Strategy> make_shading(const StrategyParams&);
std::unique_ptr<Strategy> make_linear(const StrategyParams&);
std::unique_ptr<Strategy> make_adaptive(const StrategyParams&);
std::unique_ptr<Strategy> make_best_response(const StrategyParams&);
std::unique_ptr<Strategy> make_false_names(const StrategyParams&);
std::unique_ptr<Strategy> make_spot_bidder(const StrategyParams&);

}  // namespace souk::lab
