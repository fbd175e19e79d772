#pragma once

#include <functional>
#include <span>
#include <string>

#include "cli/shell/command.h"

// A YAML file in place of the flags of a command: for each flag a key, "--keep-journal" is
// keep_journal, with the value that the flag takes; a list for those that may be repeated, true or
// false for switches. A key that is no flag is an error with its line and the nearest one.

namespace souk::cli {

// Sets what the file says of options for which given(option) is false: flags come first.
[[nodiscard]] base::Result<> read_config_file(const std::string& path,
                                              std::span<const Option> options,
                                              const std::function<bool(const Option&)>& given);

// A file with every key, what it is, and its value now; commented out where it has none.
[[nodiscard]] std::string config_text(std::span<const Option> options);

}  // namespace souk::cli
