#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace souk::base {

using Bytes = std::string;  // Owned bytes; views of them are std::string_view.

// 256-bit BLAKE2b. Names content, chains journal rows, fingerprints states and requests.
struct Digest {
  std::array<unsigned char, 32> bytes{};
  auto operator<=>(const Digest&) const = default;
};

Digest blake2b(std::string_view data);
// Keyed (a MAC) or chained: the digest of `data` under `key`.
Digest blake2b(std::string_view data, const Digest& key);

std::string to_hex(std::string_view bytes);
std::string to_string(const Digest& d);  // 64 hex digits.

// The first eight bytes, for places where a collision is harmless or checked.
std::uint64_t short_hash(std::string_view data);

// For hash tables whose keys strangers choose: fast, and keyed with a secret of this process, so
// that nobody can make keys collide. Differs from run to run: such a table is never iterated.
std::size_t table_hash(std::string_view data);

}  // namespace souk::base
