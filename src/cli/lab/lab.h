#pragma once

#include "cli/shell/command.h"

namespace souk::cli {

// Of `souk lab`.
Command lab_replay_command();
Command lab_trace_command();
Command lab_spot_command();

}  // namespace souk::cli
