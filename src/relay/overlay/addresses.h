#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

// Who is where in a gang's network. Each gang has the same addresses in namespaces of its own.

namespace souk::relay {

inline constexpr std::uint32_t kNetwork = 10U << 24 | 64U << 16;  // 10.64.0.0
inline constexpr int kNetworkBits = 16;
inline constexpr int kMtu = 65'520;
inline constexpr const char* kInterface = "souk0";
inline constexpr std::int32_t kMostWorkers = 4'096;

// In the order of this computer.
constexpr std::uint32_t address_of(std::int32_t worker) {
  return kNetwork + 1 + static_cast<std::uint32_t>(worker);
}
constexpr std::optional<std::int32_t> worker_at(std::uint32_t address) {
  const auto worker = static_cast<std::int64_t>(address) - kNetwork - 1;
  if (worker < 0 || worker >= kMostWorkers) return std::nullopt;
  return static_cast<std::int32_t>(worker);
}

inline std::string name_of(std::int32_t worker) { return fmt::format("worker-{}", worker); }
inline std::string text_of(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                     address & 255);
}

}  // namespace souk::relay
