#pragma once

#include <functional>
#include <map>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "market/commands.h"
#include "market/state.h"
#include "server/core/parsed_works.h"
#include "server/tunnels/service_desk.h"

namespace souk::server {

// How many workers a service should have, from what it has to do: so many that each is busy for
// about two thirds of what it may do at once. It grows when that was so for a few seconds, and
// shrinks when it was not for a minute, within the bounds of its job. Pure.
[[nodiscard]] std::int32_t workers_for(double busy, std::int32_t at_once, std::int32_t least,
                                       std::int32_t most);

// Tells the market, about every second, what services have answered, and resizes them. On the core
// thread.
class Scaler {
 public:
  using Execute = std::function<base::Result<>(market::Command)>;

  Scaler(ServiceDesk& desk, ParsedWorks& works) : desk_(desk), works_(works) {}
  void on_tick(const market::State& s, base::Time now, const Execute& execute);

 private:
  struct Known {
    double busy = 0;       // Smoothed.
    base::Time low_since;  // Fewer workers would do.
  };
  static constexpr base::Duration kPatience = base::minutes(1);

  ServiceDesk& desk_;
  ParsedWorks& works_;
  std::map<base::JobId, Known> known_;
};

}  // namespace souk::server
