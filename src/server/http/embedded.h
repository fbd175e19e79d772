#pragma once

#include <span>
#include <string_view>

// What lies in this program as text, as it was when the program was built (embed.cmake).

namespace souk::server {

struct NamedText {
  std::string_view name;  // Of its file, without ".yaml".
  std::string_view text;
};

// In order of their names: the job files of examples/, and the scenarios of examples/lab/.
[[nodiscard]] std::span<const NamedText> example_jobs();
[[nodiscard]] std::span<const NamedText> example_scenarios();

}  // namespace souk::server
