#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

// What a gang's network carries: IPv4 packets between two of its workers, and nothing else. Pure.

namespace souk::relay {

// The virtio header of a TUN device, as the kernel wants it (10 bytes, this computer's order).
struct VirtioHeader {
  std::uint8_t flags = 0;
  std::uint8_t gso_type = 0;
  std::uint16_t header_length = 0, gso_size = 0, checksum_start = 0, checksum_offset = 0;
};
static_assert(sizeof(VirtioHeader) == 10);

struct Ends {
  std::uint32_t from = 0, to = 0;  // In this computer's order.
};
// Of a whole IPv4 packet; nothing: it is none.
[[nodiscard]] std::optional<Ends> ends_of(std::span<const std::uint8_t> packet);

// How the packet is given to the kernel of the machine that it is for. Nothing of it comes from the
// sender: a lender's kernel should not read what a stranger wrote there. The checksums of TCP and
// UDP are as good as right, since the packet was authenticated.
[[nodiscard]] VirtioHeader header_for(std::span<const std::uint8_t> packet);

}  // namespace souk::relay
