#include "relay/overlay/packet.h"

#include <gtest/gtest.h>

#include <vector>

#include "relay/overlay/addresses.h"

namespace souk::relay {
namespace {

std::vector<std::uint8_t> packet(std::uint8_t protocol, std::size_t payload,
                                 std::size_t options = 0) {
  std::vector<std::uint8_t> out(20 + options + payload);
  out[0] = static_cast<std::uint8_t>(0x45 + options / 4);
  out[2] = static_cast<std::uint8_t>(out.size() >> 8);
  out[3] = static_cast<std::uint8_t>(out.size());
  out[9] = protocol;
  const auto from = address_of(1), to = address_of(300);
  for (int i = 0; i < 4; ++i) {
    out[static_cast<std::size_t>(12 + i)] = static_cast<std::uint8_t>(from >> (24 - 8 * i));
    out[static_cast<std::size_t>(16 + i)] = static_cast<std::uint8_t>(to >> (24 - 8 * i));
  }
  return out;
}

TEST(Packet, SaysWhomItIsFromAndFor) {
  const auto ends = ends_of(packet(6, 40));
  ASSERT_TRUE(ends);
  EXPECT_EQ(worker_at(ends->from), 1);
  EXPECT_EQ(worker_at(ends->to), 300);
  EXPECT_EQ(text_of(ends->to), "10.64.1.45");
  EXPECT_FALSE(worker_at(0x7f000001));
  EXPECT_FALSE(worker_at(kNetwork));
}

TEST(Packet, WhatIsNoWholeIPv4PacketIsNone) {
  const auto good = packet(6, 40);
  auto bad = good;
  bad[0] = 0x65;
  EXPECT_FALSE(ends_of(bad)) << "IPv6";
  bad = good;
  bad[0] = 0x44;
  EXPECT_FALSE(ends_of(bad)) << "a header that is too short";
  bad[0] = 0x4f;
  bad.resize(30);
  EXPECT_FALSE(ends_of(bad)) << "a header that is longer than the packet";
  bad = good;
  bad.push_back(0);
  EXPECT_FALSE(ends_of(bad)) << "more than it says";
  EXPECT_FALSE(ends_of({}));
}

TEST(Packet, TheKernelIsToldNothingThatTheSenderWrote) {
  const auto tcp = header_for(packet(6, 40, 8));
  EXPECT_EQ(tcp.flags, 1);
  EXPECT_EQ(tcp.checksum_start, 28);
  EXPECT_EQ(tcp.checksum_offset, 16);
  EXPECT_EQ(tcp.gso_type, 0);
  EXPECT_EQ(header_for(packet(17, 8)).checksum_offset, 6);
  EXPECT_EQ(header_for(packet(1, 40)).flags, 0) << "of others nothing is known";
  EXPECT_EQ(header_for(packet(6, 19)).flags, 0) << "no room for a checksum";
  auto fragment = packet(17, 40);
  fragment[6] = 0x20;
  EXPECT_EQ(header_for(fragment).flags, 0);
}

}  // namespace
}  // namespace souk::relay
