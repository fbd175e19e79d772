#include "net/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/text.h"

namespace souk::net {
namespace {

constexpr std::array<std::uint8_t, 12> kV4Prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int kV4Bits = 96;  // Of that prefix.

// "[2001:db8::1]:443" and "192.0.2.7:1234" without brackets and port: some proxies add them.
std::string_view without_port(std::string_view text) {
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    return end == text.npos ? text : text.substr(1, end - 1);
  }
  const auto colon = text.find(':');
  const bool one = colon != text.npos && text.find(':', colon + 1) == text.npos;
  return one ? text.substr(0, colon) : text;
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) {
  const std::string terminated(text.substr(0, INET6_ADDRSTRLEN));
  if (terminated.size() != text.size()) return std::nullopt;
  Address out;
  if (::inet_pton(AF_INET6, terminated.c_str(), out.bytes.data()) == 1) return out;
  std::ranges::copy(kV4Prefix, out.bytes.begin());
  if (::inet_pton(AF_INET, terminated.c_str(), out.bytes.data() + kV4Prefix.size()) == 1)
    return out;
  return std::nullopt;
}

bool Address::is_v4() const { return std::ranges::equal(kV4Prefix, std::span(bytes).first(12)); }

std::string address_key(std::string_view address) {
  auto parsed = Address::parse(address);
  if (!parsed) return std::string(address);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (parsed->is_v4()) {
    ::inet_ntop(AF_INET, parsed->bytes.data() + kV4Prefix.size(), text.data(), text.size());
    return text.data();
  }
  std::fill(parsed->bytes.begin() + 8, parsed->bytes.end(), 0);
  ::inet_ntop(AF_INET6, parsed->bytes.data(), text.data(), text.size());
  return std::string(text.data()) + "/64";
}

base::Result<AddressRange> AddressRange::parse(std::string_view text) {
  const auto bad = [&] {
    return base::fail(base::Code::invalid, fmt::format("'{}' is not a range of addresses", text),
                      "write an IP address, or ADDRESS/BITS such as 10.0.0.0/8");
  };
  const auto slash = text.find('/');
  const auto address = Address::parse(text.substr(0, slash));
  if (!address) return bad();
  AddressRange out;
  out.first_ = *address;
  if (slash == text.npos) return out;
  const auto bits = text.substr(slash + 1);
  const int least = address->is_v4() ? kV4Bits : 0;
  const auto read = std::from_chars(bits.data(), bits.data() + bits.size(), out.bits_);
  if (read.ec != std::errc{} || read.ptr != bits.data() + bits.size()) return bad();
  out.bits_ += least;
  if (out.bits_ < least || out.bits_ > 128) return bad();
  return out;
}

bool AddressRange::contains(const Address& address) const {
  const auto whole = static_cast<std::size_t>(bits_ / 8);
  if (!std::equal(first_.bytes.begin(), first_.bytes.begin() + bits_ / 8, address.bytes.begin()))
    return false;
  if (bits_ % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits_ % 8));
  return ((first_.bytes[whole] ^ address.bytes[whole]) & mask) == 0;
}

bool contains(const AddressRanges& ranges, std::string_view address) {
  if (ranges.empty()) return false;
  const auto parsed = Address::parse(address);
  return parsed &&
         std::ranges::any_of(ranges, [&](const auto& range) { return range.contains(*parsed); });
}

std::string sender_of(std::string_view peer, std::string_view forwarded_for,
                      const AddressRanges& trusted) {
  std::string_view sender = peer;
  auto hops = base::split(forwarded_for, ',');
  while (contains(trusted, sender) && !hops.empty()) {
    const auto hop = without_port(base::trim(hops.back()));
    hops.pop_back();
    if (!Address::parse(hop)) break;
    sender = hop;
  }
  return std::string(sender);
}

}  // namespace souk::net
