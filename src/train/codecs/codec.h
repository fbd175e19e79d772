#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameter.h"
#include "base/result.h"

namespace souk::train {

// Folds work on this many floats at a time, so that what is decoded is still in the nearest cache
// when it is used. Codecs can begin at any multiple of it.
inline constexpr std::size_t kChunk = 4096;

// How a block of floats becomes bytes and back. One file each, listed in table.cc. Pure,
// thread-safe, holds nothing. Values that are no numbers, or infinite, never come back as plain
// numbers, so that a validator behind a codec still sees them.
class Codec {
 public:
  virtual ~Codec() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // At most 8 characters.
  // Not every value comes back as it was.
  [[nodiscard]] virtual bool lossy() const = 0;
  // What a block loses is kept by the sender and added to the next block of the same place. Such a
  // codec can carry changes only, never whole weights.
  [[nodiscard]] virtual bool keeps_residual() const = 0;
  // Appends `values` to `out`, in at most most_bytes(). `residual` is empty unless
  // keeps_residual(), else as long.
  virtual void encode(std::span<const float> values, std::span<float> residual,
                      std::string& out) const = 0;
  // Refuses bytes that are not a block of `size` values. What passes can be decoded.
  [[nodiscard]] virtual base::Result<> check(std::string_view bytes, std::size_t size) const = 0;
  // Fills `out` (at most kChunk) with the values from `from` on, a multiple of kChunk. Requires
  // check(bytes, size).
  virtual void decode_chunk(std::string_view bytes, std::size_t size, std::size_t from,
                            std::span<float> out) const = 0;
  // The values where they lie, if bytes and values are the same thing; else empty.
  [[nodiscard]] virtual std::span<const float> view(std::string_view /*bytes*/) const { return {}; }

  // Fills all of `out`; refuses bytes that are not a block of this length.
  [[nodiscard]] base::Result<> decode(std::string_view bytes, std::span<float> out) const;
  // No codec takes more than this for `size` values, so a reader knows what to refuse.
  [[nodiscard]] static constexpr std::size_t most_bytes(std::size_t size) {
    return 4 * size + 1024;
  }
};

using MakeCodec = std::unique_ptr<Codec>(const base::Arguments& given);

// What a job says that leaves the choice to the platform, for each worker by its link. No codec.
inline constexpr std::string_view kAutoCodec = "auto";

// One row of the table of codecs.
struct CodecInfo {
  std::string_view name;
  std::string_view what;                // One sentence.
  base::ParameterList parameters = {};  // At most one: what follows the colon of a spec.
  MakeCodec* make;
};

[[nodiscard]] std::span<const CodecInfo> codecs();
[[nodiscard]] std::vector<std::string_view> codec_names();
// A name, or a name and a value behind a colon: "fp32", "top-k", "top-k:0.01".
[[nodiscard]] base::Result<std::unique_ptr<Codec>> make_codec(std::string_view spec);

}  // namespace souk::train
