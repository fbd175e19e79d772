#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffers.h"
#include "base/fields.h"
#include "base/result.h"
#include "train/kept_bytes.h"

// A model's parameters as the hub keeps them: one run of floats cut into blocks of 1 MiB, each with
// the version at which it last changed. Blocks are what is sent, compared, folded and stored.

namespace souk::train {

inline constexpr std::size_t kBlock = std::size_t{1} << 18;  // Floats.

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  bool state = false;  // Measured rather than trained (statistics.h).
  bool operator==(const Tensor&) const = default;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"state"};
  SOUK_FIELDS(Tensor, name, shape, state)
};

// The tensors in their order; their values follow each other without gaps.
struct Layout {
  std::vector<Tensor> tensors;
  [[nodiscard]] std::size_t size() const;  // Floats.
  [[nodiscard]] std::size_t blocks() const { return (size() + kBlock - 1) / kBlock; }
  bool operator==(const Layout&) const = default;
  SOUK_FIELDS(Layout, tensors)
};

// Refuses names given twice, dimensions below one and more than `most` floats.
[[nodiscard]] base::Result<> check_layout(const Layout& layout, std::size_t most);

// Floats that readers share: in memory of their own, or seen where they lie in `keeper`.
class Block {
 public:
  explicit Block(std::size_t size);  // Zeros.
  explicit Block(std::span<const float> values);
  Block(std::shared_ptr<const KeptBytes> keeper, std::size_t at, std::size_t floats);

  [[nodiscard]] const float* data() const { return values_.data(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] const float* begin() const { return data(); }
  [[nodiscard]] const float* end() const { return data() + size(); }
  [[nodiscard]] float operator[](std::size_t i) const { return data()[i]; }
  // To change, by the only one who has it. Requires memory of its own.
  [[nodiscard]] std::span<float> change();
  [[nodiscard]] bool is_elsewhere() const { return keeper_ != nullptr; }
  // See KeptBytes.
  void let_go() const;

 private:
  base::Buffer own_;
  std::span<const float> values_;
  std::shared_ptr<const KeptBytes> keeper_;
};
using Blocks = std::vector<std::shared_ptr<const Block>>;

// The parameters and, beside them, the planes of the same size that an aggregator keeps (momentum
// and the like). Copies on write: a reader that took blocks() keeps what it saw, at the cost of the
// blocks that change while it holds them; where nobody holds a block it is changed in place. Blocks
// of zeros are one until they change. Not thread-safe; the blocks handed out may be read on any
// thread.
class Parameters {
 public:
  Parameters() = default;
  // All zero, at version 0.
  Parameters(std::size_t size, std::size_t planes);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t count() const { return versions_.size(); }  // Of blocks.
  [[nodiscard]] std::size_t planes() const { return planes_.size() - 1; }
  // The number of folds so far, and that at which block `i` last changed.
  [[nodiscard]] std::int64_t version() const { return version_; }
  [[nodiscard]] std::int64_t version(std::size_t i) const { return versions_[i]; }

  [[nodiscard]] std::span<const float> block(std::size_t i) const { return *planes_[0][i]; }
  [[nodiscard]] std::span<const float> plane(std::size_t p, std::size_t i) const {
    return *planes_[p + 1][i];
  }
  // To change; `change` marks the block as changed by the fold under way.
  [[nodiscard]] std::span<float> change(std::size_t i);
  [[nodiscard]] std::span<float> change_plane(std::size_t p, std::size_t i);
  // Ends a fold: the blocks changed since the last call have the new version.
  void advance();

  // Block `i` alone, with its part of the planes, at the same version. Copies nothing.
  [[nodiscard]] Parameters only(std::size_t i) const;
  // Block `i`, and its part of the planes, are those of `one`, which has one block: changed by the
  // fold under way.
  void put(std::size_t i, Parameters one);

  // What the parameters are now, for readers on other threads.
  [[nodiscard]] Blocks blocks() const { return {planes_[0].begin(), planes_[0].end()}; }
  [[nodiscard]] Blocks plane_blocks(std::size_t p) const {
    return {planes_[p + 1].begin(), planes_[p + 1].end()};
  }

  // Begins anew from saved values. `values` has size() floats, in blocks, which are shared until
  // they change.
  void load(const Blocks& values, const std::vector<Blocks>& planes, std::int64_t version);

 private:
  using Plane = std::vector<std::shared_ptr<Block>>;
  std::size_t size_ = 0;
  std::vector<Plane> planes_{1};  // The parameters, then the aggregator's.
  std::vector<std::int64_t> versions_;
  std::int64_t version_ = 0;
};

// Values in one run, and cut into blocks.
[[nodiscard]] Blocks blocks_of(std::span<const float> values);
[[nodiscard]] Blocks blocks_of_zeros(std::size_t floats);  // Shares memory.
void copy_out(const Blocks& blocks, std::span<float> out);

}  // namespace souk::train
