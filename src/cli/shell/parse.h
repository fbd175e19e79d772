#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/shell/command.h"
#include "cli/shell/config.h"
#include "cli/shell/error.h"

namespace souk::cli {

// What a command line asks for.
struct Parsed {
  const Command* command = nullptr;  // Part of the tree that was given; nullptr with help.
  Globals globals;
  std::string help;                // When help was asked for: the text to print.
  std::vector<std::string> notes;  // On spellings that have a better one.
};

// The flags that commands share (takes() says which command takes which). They write into `g`.
std::vector<Option> global_options(Globals& g);

// What `souk help PATH` prints, which is what `souk PATH --help` does: of the command that the
// words lead to.
Result<std::string> help_of(const Command& root, std::span<const std::string> path,
                            const Terminal& terminal);

// Reads `arguments` (without the program's name) against the tree under `root`. Values go into the
// structs the options are bound to. Unknown commands and flags are usage errors that suggest the
// nearest.
Result<Parsed> parse_arguments(const Command& root, std::span<const std::string> arguments,
                               const Terminal& terminal);

}  // namespace souk::cli
