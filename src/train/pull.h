#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/parameters.h"

// What a worker gets when it asks for the parameters: only the blocks that changed since the
// version it has.
//
//   version, size, count   64 bits each, little endian: of the parameters, of all floats, of blocks
//   indices                32 bits each, ascending, padded to a multiple of 8 bytes
//   blocks                 their floats, in the order of the indices
//
// Or a piece of that, so that nobody needs a large model at once: the same with a fourth number
// behind the count, from which block on to ask next; as many as there are blocks when that is all.
// Pieces say which version each of them is of.

namespace souk::train {

// The parameters at one moment, with the version at which each block last changed.
struct ParameterSnapshot {
  Blocks blocks;
  std::vector<std::int64_t> versions;
  std::int64_t version = 0;
  [[nodiscard]] std::size_t size() const;
};

[[nodiscard]] ParameterSnapshot take(const Parameters& parameters);

inline constexpr std::size_t kMostPulledWhole = std::size_t{256} << 20;  // Bytes.
// Bytes of blocks: small enough for a request over a slow line.
inline constexpr std::size_t kMostPiece = std::size_t{4} << 20;

// Such a message as it is sent: the blocks follow its beginning, from where they lie.
struct PackedBlocks {
  std::string head;
  Blocks blocks;
  [[nodiscard]] std::size_t size() const;  // Bytes.
  [[nodiscard]] std::string joined() const;
};

// What changed after `since`; -1: everything, for a newcomer.
[[nodiscard]] PackedBlocks share_changed(const ParameterSnapshot& taken, std::int64_t since);
[[nodiscard]] std::string pack_changed(const ParameterSnapshot& taken, std::int64_t since);

// Overwrites in `values` what changed; gives the new version. Refuses what is not such a message
// for parameters of this size, and then changes nothing.
[[nodiscard]] base::Result<std::int64_t> unpack_changed(std::string_view bytes,
                                                        std::span<float> values);

// What changed after `since` from block `from` on: blocks of at most `most_bytes` together, but one
// at least if there is one.
[[nodiscard]] PackedBlocks share_piece(const ParameterSnapshot& taken, std::int64_t since,
                                       std::size_t from, std::size_t most_bytes);
[[nodiscard]] std::string pack_piece(const ParameterSnapshot& taken, std::int64_t since,
                                     std::size_t from, std::size_t most_bytes);

struct PulledPiece {
  std::int64_t version = 0;
  std::size_t next = 0;  // To ask from. Parameters have count_blocks() of them.
  struct PulledBlock {
    std::size_t at = 0;       // Of its first float among all.
    std::string_view floats;  // Bytes, in the message.
  };
  std::vector<PulledBlock> blocks;
};
[[nodiscard]] constexpr std::size_t count_blocks(std::size_t floats) {
  return (floats + kBlock - 1) / kBlock;
}
// Refuses what is not such a message for `size` floats, asked from block `from` on.
[[nodiscard]] base::Result<PulledPiece> read_piece(std::string_view bytes, std::size_t size,
                                                   std::size_t from);

}  // namespace souk::train
