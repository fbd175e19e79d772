#include "net/address.h"

#include <gtest/gtest.h>

namespace souk::net {
namespace {

AddressRanges ranges(std::initializer_list<std::string_view> texts) {
  AddressRanges out;
  for (const auto text : texts) out.push_back(*AddressRange::parse(text));
  return out;
}

TEST(AddressKey, AnIpv6CustomerHasOneKeyHoweverManyAddressesItUses) {
  EXPECT_EQ(address_key("203.0.113.9"), "203.0.113.9");
  EXPECT_EQ(address_key("::ffff:203.0.113.9"), "203.0.113.9");
  EXPECT_EQ(address_key("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(address_key("2001:db8:1:2::1"), "2001:db8:1:2::/64");
  EXPECT_NE(address_key("2001:db8:1:3::1"), address_key("2001:db8:1:2::1"));
  EXPECT_EQ(address_key("?"), "?");
}

TEST(AddressRange, HoldsWhatBeginsWithItsBits) {
  const auto ten = ranges({"10.0.0.0/8"});
  EXPECT_TRUE(contains(ten, "10.255.0.1"));
  EXPECT_TRUE(contains(ten, "::ffff:10.1.2.3"));
  EXPECT_FALSE(contains(ten, "11.0.0.1"));
  EXPECT_FALSE(contains(ten, "nonsense"));
  const auto odd = ranges({"192.0.2.128/25", "2001:db8::/33", "::1"});
  EXPECT_TRUE(contains(odd, "192.0.2.129"));
  EXPECT_FALSE(contains(odd, "192.0.2.127"));
  EXPECT_TRUE(contains(odd, "2001:db8:7fff::1"));
  EXPECT_FALSE(contains(odd, "2001:db8:8000::1"));
  EXPECT_TRUE(contains(odd, "::1"));
  EXPECT_TRUE(contains(ranges({"0.0.0.0/0"}), "203.0.113.9"));
  EXPECT_FALSE(contains(ranges({"0.0.0.0/0"}), "2001:db8::1"));
  EXPECT_FALSE(contains({}, "127.0.0.1"));
}

TEST(AddressRange, WhatIsNoRangeIsRefused) {
  for (const auto* text : {"", "proxy", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8x",
                           "2001:db8::/129", "10.0.0/8"})
    EXPECT_FALSE(AddressRange::parse(text)) << text;
}

struct Case {
  std::string_view peer, header, sender;
};

TEST(SenderOf, IsTheLastHopThatNoTrustedProxyIs) {
  const auto trusted = ranges({"10.0.0.0/8", "127.0.0.1"});
  for (const auto& [peer, header, sender] : std::initializer_list<Case>{
           {"203.0.113.9", "", "203.0.113.9"},
           {"203.0.113.9", "198.51.100.1",
            "203.0.113.9"},  // No proxy of ours: it may say anything.
           {"10.0.0.1", "198.51.100.1", "198.51.100.1"},
           {"127.0.0.1", "198.51.100.1, 10.0.0.2", "198.51.100.1"},
           {"10.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"},  // The first was made up.
           {"10.0.0.1", "198.51.100.1:4711", "198.51.100.1"},
           {"10.0.0.1", "[2001:db8::1]:443", "2001:db8::1"},
           {"10.0.0.1", "2001:db8::1", "2001:db8::1"},
           {"10.0.0.1", "unknown", "10.0.0.1"},
           {"10.0.0.1", "198.51.100.1, unknown", "10.0.0.1"},
           {"10.0.0.1", "", "10.0.0.1"},
           {"10.0.0.1", "10.0.0.3", "10.0.0.3"}})
    EXPECT_EQ(sender_of(peer, header, trusted), sender) << peer << " " << header;
}

}  // namespace
}  // namespace souk::net
