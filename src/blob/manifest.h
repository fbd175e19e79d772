#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blob/chunk.h"

namespace souk::blob {

inline constexpr std::size_t kMostEntries = 1'000'000;
inline constexpr std::size_t kMostPathBytes = 4'095;  // Linux takes no more.
// Of all paths together: those that share all but a byte take little in a manifest, not in memory.
inline constexpr std::size_t kMostAllPathsBytes = 64 << 20;
inline constexpr std::size_t kMostNameBytes = 255;
inline constexpr std::size_t kMostDepth = 100;  // Bounds how many folders are open at once.

enum class Kind : unsigned char { file, executable, link, empty_folder };

struct Entry {
  std::string path;  // Relative, with '/': "src/main.py".
  Kind kind = Kind::file;
  std::uint64_t size = 0;      // Files only.
  std::vector<Digest> chunks;  // Files only.
  // Of each chunk, where they were cut by content (cutter.h); never more than kChunkBytes. Empty:
  // all have kChunkBytes but the last, which has the rest.
  std::vector<std::uint32_t> lengths;
  std::string target;  // Links only.

  [[nodiscard]] std::uint64_t chunk_bytes(std::size_t index) const;
  bool operator==(const Entry&) const = default;
};

// The content of a folder: its files, links and empty folders, in the order of path_before(). Other
// folders are implied by the paths in them. Owners, times and modes other than the executable bit
// are left out, so that the same content has the same name wherever it was packed.
struct Manifest {
  std::vector<Entry> entries;

  [[nodiscard]] std::uint64_t total_bytes() const;  // Of all files.
  // The names of all chunks of all files, each once, in order of their bytes. Not the manifest's.
  [[nodiscard]] std::vector<Digest> chunks() const;
  bool operator==(const Manifest&) const = default;
};

// Byte order with '/' before all other bytes: what is in a folder follows the folder at once.
[[nodiscard]] bool path_before(std::string_view a, std::string_view b);

// May `path` be written below a folder? Relative, no empty, "." or ".." component, within limits.
[[nodiscard]] Result<> check_path(std::string_view path);

// May a link at `path` (itself accepted) point to `target`? Only to what is inside the same folder,
// whatever other accepted links there are. So ".." may only stand at the front: after the name of
// another link it would not lead where it seems to.
[[nodiscard]] Result<> check_target(std::string_view path, std::string_view target);

// May a folder of that size be written somewhere? Asked before anything of it is fetched or
// written, as a few chunks named many times unpack to half a terabyte. too_large if not.
[[nodiscard]] Result<> check_size(const Manifest& manifest, std::uint64_t most_bytes);

// All that parse_manifest() demands of content, for a manifest made by hand.
[[nodiscard]] Result<> check(const Manifest& manifest);

// How the large files of a folder are cut: by content, or every kChunkBytes.
enum class Cutting : unsigned char { by_content, fixed };

// Will a manifest of these entries fit into one chunk? Those that are still without chunks count as
// they will about be when they are cut that way. too_large if not: worth asking before hours of
// hashing.
[[nodiscard]] Result<> check_fits(std::span<const Entry> entries, Cutting cutting = Cutting::fixed);

// The content of the one chunk that a manifest is stored as; its digest names the folder.
// too_large when it would not fit into one. Requires check(manifest).
[[nodiscard]] Result<Bytes> to_bytes(const Manifest& manifest);

// For bytes from strangers: accepts exactly what to_bytes() writes of a manifest that passes
// check(), so that a folder has one name, and takes little memory whatever they claim.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view bytes);

}  // namespace souk::blob
