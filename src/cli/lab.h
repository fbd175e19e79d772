#pragma once

#include "cli/command.h"

namespace souk::cli {

Command lab_replay_command();  // Of `souk lab`.

}  // namespace souk::cli
