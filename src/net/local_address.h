#pragma once

#include <string_view>

namespace souk::net {

// Does an address mean something only on one computer or one wire: loopback, link-local, none at
// all, a group of receivers, or a text that is no address? Nobody connects to such an address
// because a stranger says so.
[[nodiscard]] bool is_local(std::string_view address);

// May a computer at `from` reach one at `to`? Local addresses see only each other.
[[nodiscard]] bool is_reachable(std::string_view from, std::string_view to);

}  // namespace souk::net
