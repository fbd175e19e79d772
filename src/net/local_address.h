#pragma once

#include <string_view>

namespace souk::net {

// Does an address mean something only on one computer or one wire: loopback, link-local, none at
// all, a group of receivers, or a text that is no address? Nobody connects to such an address
// because a stranger says so.
[[nodiscard]] bool is_local(std::string_view address);

}  // namespace souk::net
