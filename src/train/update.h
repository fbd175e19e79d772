#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/codecs/codec.h"
#include "train/parameters.h"

namespace souk::train {

// One worker's contribution on its way into the parameters. Its values stay encoded until a fold
// reads them chunk by chunk, so that decoding and folding share the cache. Owns its bytes; may be
// moved and copied, and read on any thread.
class Update {
 public:
  // `body` is what pack() made; refuses bytes that do not decode to `size` floats with `codec`,
  // which outlives the update. What is compressed is expanded here, once.
  static base::Result<Update> read(std::string body, const Codec& codec, std::size_t size);

  // Block `i`, decoded into `scratch` (kBlock floats) or seen where it lies. Valid as long as both.
  [[nodiscard]] std::span<const float> block(std::size_t i, std::span<float> scratch) const;
  // The same for the values of block `i` from `from` on, a multiple of kChunk; `scratch` has kChunk
  // floats. At most that many are seen, fewer at the end of the block.
  [[nodiscard]] std::span<const float> chunk(std::size_t i, std::size_t from,
                                             std::span<float> scratch) const;
  [[nodiscard]] std::size_t count() const { return parts_.size(); }  // Of blocks.
  [[nodiscard]] std::size_t size() const { return size_; }           // Floats.

  double weight = 1;           // Samples behind it.
  std::int64_t staleness = 0;  // Folds between its base and its own; those of its batch count too.
  std::int32_t epoch = 1;      // Of its unit.
  std::int32_t at_work = 1;    // Workers among whom the work was shared.
  Blocks base = {};            // What the worker began from; empty unless the aggregator needs it.
  // Its Euclidean norm where it is known (stats_of), else negative: saves a pass to aggregators
  // that clip.
  double norm = -1;

 private:
  struct BlockBytes {
    std::size_t at, length;
  };
  [[nodiscard]] std::string_view bytes(std::size_t i) const {
    return std::string_view(body_).substr(parts_[i].at, parts_[i].length);
  }
  [[nodiscard]] std::size_t floats(std::size_t i) const {
    return std::min(kBlock, size_ - i * kBlock);
  }
  const Codec* codec_ = nullptr;
  std::string body_;
  std::vector<BlockBytes> parts_;  // Of body_, one for each block.
  std::size_t size_ = 0;
};

// The bytes of an update: blocks encoded one after the other, compressed where that helps. The
// format is described in update.cc.
// `residual` (as long as `values`, or empty if the codec keeps none) goes from update to update.
[[nodiscard]] std::string pack(std::span<const float> values, const Codec& codec,
                               std::span<float> residual);

}  // namespace souk::train
