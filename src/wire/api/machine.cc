#include "wire/api/machine.h"

#include <fmt/format.h>

#include "base/clock_text.h"

namespace souk::wire {

std::string busy_text(const BusyCores& busy, Time now) {
  auto out = fmt::format("other programs use {:.1f} of {} core{} since {}", busy.cores, busy.of,
                         busy.of == 1 ? "" : "s", base::clock_text(busy.since, now));
  if (busy.again)
    out +=
        fmt::format("; tried again by {}, or when they stop", base::clock_text(*busy.again, now));
  return out;
}

SOUK_JSON_HERE(MachineSpec);
SOUK_JSON_HERE(BusyCores);
SOUK_JSON_HERE(Machine);
SOUK_JSON_HERE(NewMachine);
SOUK_JSON_HERE(MachineEdit);
SOUK_JSON_HERE(Page<Machine>);

}  // namespace souk::wire
