#pragma once

#include <cstdint>

namespace souk::agent {

// The device of a gang's network in a program's namespace.
struct NetworkDevice {
  const char* interface = "souk0";
  std::uint32_t address = 0;  // In this computer's order.
  int bits = 16;
  int mtu = 1'500;
};

}  // namespace souk::agent
