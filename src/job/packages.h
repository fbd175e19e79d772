#pragma once

#include <string>
#include <string_view>

namespace souk::job {

// What a machine offers beside its programs, spelled like packages so that matching, `why` and the
// cheapest relaxation treat it like any other demand.
inline constexpr std::string_view kInternet = "@internet";
inline constexpr std::string_view kContainers = "@containers";
inline constexpr std::string_view kTorch = "@torch";  // The native trainer.
inline constexpr std::string_view kUnsandboxed = "@no-sandbox";

// "@x86_64": what packages with machine code need.
[[nodiscard]] inline std::string architecture(std::string_view arch) {
  return "@" + std::string(arch);
}

}  // namespace souk::job
