#include "journal/snapshot.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "journal/files.h"

// The file: magic (8 bytes), seq (u64 little-endian), size of the bytes (u64 little-endian), a
// BLAKE2b-256 digest of the bytes keyed with the digest of what stands before it, the bytes.

namespace souk::journal {
namespace {

constexpr std::string_view kMagic = "SoukSnp1";
constexpr std::size_t kPrefixBytes = 24;
constexpr std::size_t kHeader = kPrefixBytes + 32;

std::string prefix(std::uint64_t seq, std::uint64_t size) {
  std::string out(kMagic);
  for (const auto value : {seq, size})
    for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

std::uint64_t little(std::string_view bytes) {
  std::uint64_t out = 0;
  for (int i = 7; i >= 0; --i)
    out = out << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  return out;
}

std::string seal(std::string_view head, std::string_view bytes) {
  const auto digest = base::blake2b(bytes, base::blake2b(head));
  return {digest.bytes.begin(), digest.bytes.end()};
}

}  // namespace

base::Result<> save_snapshot(const std::string& path, std::uint64_t seq, std::string_view bytes) {
  auto content = prefix(seq, bytes.size());
  content += seal(content, bytes);
  content += bytes;
  const auto aside = path + ".new";
  SOUK_TRY(write_synced(aside, content));
  if (std::rename(aside.c_str(), path.c_str()) != 0) return system_failure("rename", aside);
  return sync_folder(folder_of(path));
}

LoadedSnapshot load_snapshot(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {std::nullopt, fmt::format("there is no snapshot at {}", path)};
  std::string content;
  for (char piece[65536]; file.read(piece, sizeof piece) || file.gcount() > 0;)
    content.append(piece, static_cast<std::size_t>(file.gcount()));
  const auto ignored = [&](std::string_view why) {
    return LoadedSnapshot{std::nullopt, fmt::format("the snapshot {} is ignored: {}", path, why)};
  };
  const std::string_view view = content;
  if (file.bad()) return ignored("it cannot be read");
  if (view.size() < kHeader) return ignored("it is cut short");
  const auto head = view.substr(0, kPrefixBytes);
  if (!head.starts_with(kMagic)) return ignored("it is not a snapshot of this version");
  const auto bytes = view.substr(kHeader);
  if (little(head.substr(16)) != bytes.size())
    return ignored(
        fmt::format("it should have {} bytes and has {}", little(head.substr(16)), bytes.size()));
  if (view.substr(kPrefixBytes, 32) != seal(head, bytes))
    return ignored("it does not match its digest");
  const auto seq = little(head.substr(8));
  content.erase(0, kHeader);
  return {Snapshot{seq, std::move(content)}, {}};
}

}  // namespace souk::journal
