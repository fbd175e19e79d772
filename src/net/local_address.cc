#include "net/local_address.h"

#include "net/address.h"

namespace souk::net {

bool is_local(std::string_view address) {
  static const auto ranges = [] {
    AddressRanges out;
    for (const auto* text : {"127.0.0.0/8", "0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3", "::/127",
                             "fe80::/10", "ff00::/8"})
      out.push_back(*AddressRange::parse(text));
    return out;
  }();
  return !Address::parse(address) || contains(ranges, address);
}

bool is_reachable(std::string_view from, std::string_view to) {
  return !is_local(to) || is_local(from);
}

}  // namespace souk::net
