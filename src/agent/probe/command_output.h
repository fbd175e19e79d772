#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace souk::agent {

// What a program did within the bounds it was given.
struct CommandOutput {
  int status = 0;  // Its exit status, or 128 + the signal that ended it.
  std::string out;
  std::string err;
  bool timed_out = false;  // It was killed at the deadline; `out` is what came until then.
  bool truncated = false;  // It wrote more than it may, and was killed.

  [[nodiscard]] bool good() const { return status == 0 && !timed_out && !truncated; }
};

// Runs argv[0] (looked up on PATH when it has no slash) without a shell, with nothing on its stdin
// and none of our files open, and waits for it: at most `timeout`, reading at most `max_output`
// bytes of stdout and as many of stderr. It runs in a process group of its own, all of which is
// killed at the end, so that no child of it lives on or keeps us waiting; only a child that leaves
// the group by itself escapes, and is not waited for.
//
// A program that is not there or may not be run is Error{not_found}. Whatever it does after that is
// a CommandOutput. For questions to trusted programs, not a sandbox. Any thread.
base::Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                        base::Duration timeout, std::size_t max_output);

}  // namespace souk::agent
