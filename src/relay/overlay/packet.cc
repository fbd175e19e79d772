#include "relay/overlay/packet.h"

namespace souk::relay {
namespace {

constexpr std::uint8_t kTcp = 6, kUdp = 17;
constexpr std::uint8_t kNeedsChecksum = 1;
constexpr std::size_t kLeast = 20;

std::uint32_t word(std::span<const std::uint8_t> p, std::size_t at) {
  return std::uint32_t{p[at]} << 24 | std::uint32_t{p[at + 1]} << 16 |
         std::uint32_t{p[at + 2]} << 8 | p[at + 3];
}
std::uint16_t half(std::span<const std::uint8_t> p, std::size_t at) {
  return static_cast<std::uint16_t>(p[at] << 8 | p[at + 1]);
}
std::size_t header_bytes(std::span<const std::uint8_t> p) { return (p[0] & 15U) * 4U; }

}  // namespace

std::optional<Ends> ends_of(std::span<const std::uint8_t> packet) {
  if (packet.size() < kLeast || packet[0] >> 4 != 4 || header_bytes(packet) < kLeast ||
      header_bytes(packet) > packet.size() || half(packet, 2) != packet.size())
    return std::nullopt;
  return Ends{word(packet, 12), word(packet, 16)};
}

VirtioHeader header_for(std::span<const std::uint8_t> packet) {
  const bool fragment = (half(packet, 6) & 0x3fff) != 0;
  const auto start = header_bytes(packet);
  const auto protocol = packet[9];
  const std::size_t offset = protocol == kTcp ? 16 : 6;
  const bool checked = (protocol == kTcp && packet.size() >= start + 20) ||
                       (protocol == kUdp && packet.size() >= start + 8);
  if (fragment || !checked) return {};
  return {.flags = kNeedsChecksum,
          .checksum_start = static_cast<std::uint16_t>(start),
          .checksum_offset = static_cast<std::uint16_t>(offset)};
}

}  // namespace souk::relay
