#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "train/codecs/codec.h"
#include "train/kept_bytes.h"
#include "train/parameters.h"

namespace souk::train {

// One worker's contribution on its way into the parameters. Its values stay encoded until a fold
// reads them chunk by chunk, so that decoding and folding share the cache. Copies share the bytes.
// May be read on any thread, by one at a time.
class Update {
 public:
  // `body` is what pack() or Packing made; refuses bytes that do not decode to `size` floats with
  // `codec`, which outlives the update. What is compressed as a whole is expanded here, once; what
  // is compressed by blocks when it is read.
  static base::Result<Update> read(std::shared_ptr<const KeptBytes> body, const Codec& codec,
                                   std::size_t size);
  static base::Result<Update> read(std::string body, const Codec& codec, std::size_t size) {
    return read(kept(std::move(body)), codec, size);
  }

  // Block `i`, decoded into `scratch` (kBlock floats) or seen where it lies. Valid as long as both.
  [[nodiscard]] std::span<const float> block(std::size_t i, std::span<float> scratch) const;
  // The same for the values of block `i` from `from` on, a multiple of kChunk; `scratch` has kChunk
  // floats. At most that many are seen, fewer at the end of the block.
  [[nodiscard]] std::span<const float> chunk(std::size_t i, std::size_t from,
                                             std::span<float> scratch) const;
  // Block `i` alone, as an update of parameters of that one block (Parameters::only).
  [[nodiscard]] Update only(std::size_t i) const;
  // Block `i` is not needed soon (KeptBytes).
  void let_go(std::size_t i) const { body_->let_go(parts_[i].at, parts_[i].stored); }
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
  // Of the body. Fewer bytes are stored than the codec made where they are compressed.
  struct BlockBytes {
    std::size_t at = 0, stored = 0, length = 0;
  };
  friend class UpdateReader;
  base::Result<> add_block(BlockBytes block);
  [[nodiscard]] std::string_view stored(const BlockBytes& block) const {
    return body_->bytes().substr(block.at, block.stored);
  }
  [[nodiscard]] std::string_view bytes(std::size_t i) const;
  [[nodiscard]] std::size_t floats(std::size_t i) const {
    return std::min(kBlock, size_ - i * kBlock);
  }
  const Codec* codec_ = nullptr;
  std::shared_ptr<const KeptBytes> body_;
  std::vector<BlockBytes> parts_;  // One for each block.
  std::size_t size_ = 0;
  // The block that was expanded last.
  mutable std::string expanded_;
  mutable std::size_t expanded_at_ = 0;  // Its number, and one.
};

// Reads an update while it arrives: its blocks can be measured and folded as soon as they are
// there, when they are still in a cache. Not thread-safe.
class UpdateReader {
 public:
  // `body` is where it will lie, and has its final length. Otherwise as Update::read().
  UpdateReader(std::shared_ptr<const KeptBytes> body, const Codec& codec, std::size_t size);

  // The first `bytes` of the body are there. Nothing more may be called after a refusal.
  base::Result<> arrived(std::size_t bytes);
  // So many of its first blocks can be read. One that is compressed as a whole has none before
  // finish().
  [[nodiscard]] std::size_t ready() const { return update_.parts_.size(); }
  [[nodiscard]] const Update& update() const { return update_; }
  // Requires that all of it has arrived.
  [[nodiscard]] base::Result<Update> finish();

 private:
  enum class Format { listed, framed, compressed };
  base::Result<> expand_all();
  base::Result<> list_blocks(std::size_t bytes);  // After a table,
  base::Result<> list_framed(std::size_t bytes);  // or each after its lengths.
  [[nodiscard]] base::Result<> check_end(std::size_t size) const;

  Update update_;
  std::optional<Format> format_;  // Once it is known.
  std::size_t at_ = 0;            // Of the next block.
  std::size_t table_ = 0;         // One more than where the lengths of the blocks are listed.
};

// The bytes of an update: blocks encoded one after the other, compressed where that helps. The
// format is described in update.cc.
// `residual` (as long as `values`, or empty if the codec keeps none) goes from update to update.
[[nodiscard]] std::string pack(std::span<const float> values, const Codec& codec,
                               std::span<float> residual);

// An update of more floats than this is packed and sent block by block.
inline constexpr std::size_t kMostPackedWhole = 16 * kBlock;

// The bytes of an update in pieces, so that nobody needs all of them at once: what pack() makes for
// a small one, and its blocks each by itself for others. `values`, `codec` and `residual` outlive
// it, and stay as they are: packed again they give the same bytes.
class Packing {
 public:
  Packing(std::span<const float> values, const Codec& codec, std::span<const float> residual,
          std::size_t piece_bytes);
  // The next piece_bytes; fewer at the end, and then none. Valid until the next call.
  [[nodiscard]] std::string_view next();
  [[nodiscard]] std::size_t given() const { return given_; }  // Bytes so far.

 private:
  void fill();

  const std::span<const float> values_;
  const Codec& codec_;
  const std::span<const float> residual_;
  const std::size_t piece_bytes_;
  std::string made_;  // Not given yet, from at_ on.
  std::size_t at_ = 0, given_ = 0;
  std::size_t next_block_ = 0;
};

// What the codec leaves out of `values` after it left out `residual` before, in the same place.
void advance_residual(std::span<const float> values, const Codec& codec, std::span<float> residual);

}  // namespace souk::train
