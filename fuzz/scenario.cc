#include "lab/files/scenario.h"

#include "fuzz/target.h"

// A scenario for the lab, which members send to a market's server. Only read here, not run.

using namespace souk;

SOUK_FUZZ(scenario, .input_bytes = 4096, .malloc_mb = 8) {
  (void)lab::parse_scenario(input, "scenario.yaml", "/nowhere");
}
