#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/command.h"

namespace souk::cli {

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

// A script that completes commands and flags of the tree below `root` in one of kShells; "" for
// another shell. It is made from what parses command lines, so the two cannot differ.
[[nodiscard]] std::string completion_script(std::string_view shell, const Command& root,
                                            const std::vector<Option>& globals);

}  // namespace souk::cli
