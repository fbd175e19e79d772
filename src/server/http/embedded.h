#pragma once

#include <span>
#include <string_view>

// What lies in this program as text, as it was when the program was built (embed.cmake).

namespace souk::server {

struct NamedText {
  std::string_view name;  // Of its file, without the ending.
  std::string_view text;
};

// In order of their names: the job files of examples/, the scenarios of examples/lab/, and those of
// docs/ that `souk help NAME` prints.
[[nodiscard]] std::span<const NamedText> example_jobs();
[[nodiscard]] std::span<const NamedText> example_scenarios();
// dist/lend.sh and dist/lend-none.sh.
[[nodiscard]] std::span<const NamedText> lend_scripts();
[[nodiscard]] std::span<const NamedText> guides();

}  // namespace souk::server
