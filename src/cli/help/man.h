#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/shell/command.h"

namespace souk::cli {

// A page of the manual, section 1, for `man`.
struct ManPage {
  std::string file;  // "souk-lend.1"
  std::string text;  // With the man(7) macros.
};

// One page for the program and one for each command below it, with the commands of a group on the
// group's page: what --help says, so that the two cannot differ.
[[nodiscard]] std::vector<ManPage> man_pages(const Command& root,
                                             const std::vector<Option>& globals,
                                             std::string_view version);

}  // namespace souk::cli
