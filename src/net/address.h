#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Internet addresses as callers have them. Pure.

namespace souk::net {

// An IPv4 or IPv6 address. IPv4 is kept as the IPv6 address that stands for it (::ffff:a.b.c.d), so
// that one caller has one address whichever way the connection came.
struct Address {
  std::array<std::uint8_t, 16> bytes = {};

  // Without brackets, port or zone.
  [[nodiscard]] static std::optional<Address> parse(std::string_view text);
  [[nodiscard]] bool is_v4() const;
  bool operator==(const Address&) const = default;
};

// What limits of one address are counted by: an IPv4 address itself, and the /64 of an IPv6 one,
// which is what one customer of a provider has at least. A text that is no address stands for
// itself.
[[nodiscard]] std::string address_key(std::string_view address);

// The addresses that begin with the same bits: "10.0.0.0/8", "2001:db8::/32", "192.0.2.7".
class AddressRange {
 public:
  [[nodiscard]] static base::Result<AddressRange> parse(std::string_view text);
  [[nodiscard]] bool contains(const Address& address) const;

 private:
  Address first_;
  int bits_ = 128;  // Of the 16 bytes.
};
using AddressRanges = std::vector<AddressRange>;

[[nodiscard]] bool contains(const AddressRanges& ranges, std::string_view address);

// Who sent a request that came from `peer` with this X-Forwarded-For. Proxies append to that header
// the address that spoke to them, so it is read from the end: the last address that is not a
// trusted proxy. Who is not a trusted proxy itself is the sender, whatever the header says. Where a
// trusted proxy wrote something else than an address, the last proxy that could be read.
[[nodiscard]] std::string sender_of(std::string_view peer, std::string_view forwarded_for,
                                    const AddressRanges& trusted);

}  // namespace souk::net
