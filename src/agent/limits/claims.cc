#include "agent/limits/claims.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "agent/sandbox/sandbox_text.h"
#include "base/text.h"

namespace souk::agent {
namespace {

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};

// A name that begins with a zero byte is in no file system. 107 bytes follow it.
Address address_of(const std::string& name, const std::string& scope) {
  constexpr std::size_t most = 48;
  const auto text =
      fmt::format("souk/{}/{}", scope.substr(scope.size() - std::min(scope.size(), most)), name);
  Address out;
  out.name.sun_family = AF_UNIX;
  const auto length = std::min(text.size(), sizeof out.name.sun_path - 1);
  std::memcpy(out.name.sun_path + 1, text.data(), length);
  out.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return out;
}

base::Fd stream_socket() {
  return base::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool is_named(const Address& address) {
  const std::string_view name(address.name.sun_path + 1,
                              address.size - offsetof(sockaddr_un, sun_path) - 1);
  const auto text = read_text("/proc/net/unix");
  return std::ranges::any_of(base::split(text, '\n'), [&](std::string_view line) {
    return line.ends_with(fmt::format(" @{}", name));
  });
}

}  // namespace

std::string claim_scope() {
  const char* named = getenv("SOUK_CORE_SCOPE");  // NOLINT(concurrency-mt-unsafe): nobody sets it.
  return named != nullptr ? named : "host";
}

base::Fd claim(const std::string& name, const std::string& scope) {
  auto out = stream_socket();
  const auto address = address_of(name, scope);
  const auto* bytes = reinterpret_cast<const sockaddr*>(&address.name);
  if (out.get() < 0 || ::bind(out.get(), bytes, address.size) != 0) return {};
  ::listen(out.get(), 4096);  // So that others can ask who it is. Nobody is ever accepted.
  return out;
}

std::optional<std::string> claimed_by(const std::string& name, const std::string& scope) {
  const auto asking = stream_socket();
  const auto address = address_of(name, scope);
  const auto* bytes = reinterpret_cast<const sockaddr*>(&address.name);
  const bool answered = ::connect(asking.get(), bytes, address.size) == 0;
  // Nobody answers where there is nobody, or somebody who only took the name.
  if (!answered && errno == ECONNREFUSED && !is_named(address)) return std::nullopt;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (answered && ::getsockopt(asking.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
    return fmt::format("process {} of user {}", peer.pid, peer.uid);
  return "a process that does not say which";
}

}  // namespace souk::agent
