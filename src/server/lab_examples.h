#pragma once

#include <span>
#include <string_view>

namespace souk::server {

// A scenario of examples/lab, as it lies in this program.
struct LabExample {
  std::string_view name;  // Of its file, without ".yaml".
  std::string_view text;
};

// In order of their names. Made when the program is built, by lab_examples.cmake.
[[nodiscard]] std::span<const LabExample> lab_examples();

}  // namespace souk::server
