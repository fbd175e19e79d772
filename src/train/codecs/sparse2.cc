#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "train/codecs/makers.h"
#include "train/codecs/places.h"

namespace souk::train {
namespace {

// What stands in the table at the front of a block for each of its chunks.
struct Sparse2Head {
  std::uint16_t gap_bytes = 0, values = 0;
  std::array<float, 2> levels = {};  // The smaller one first.
  [[nodiscard]] std::size_t bytes() const { return gap_bytes + (values + 3UL) / 4; }
};
static_assert(sizeof(Sparse2Head) == 12);

Sparse2Head head_at(std::string_view bytes, std::size_t chunk) {
  Sparse2Head head;
  std::memcpy(&head, bytes.data() + chunk * sizeof head, sizeof head);
  return head;
}

std::size_t front_bytes(std::size_t size) {
  return (size + kChunk - 1) / kChunk * sizeof(Sparse2Head);
}

// The two numbers that stand for all of `sizes` with the least squared error: of all ways to part
// the small from the large ones the best, and the mean of either part. Sorts.
std::array<float, 2> two_levels(std::span<float> sizes) {
  if (sizes.empty()) return {};
  std::ranges::sort(sizes);
  // No mean of what is infinite helps. All of the chunk comes back as infinite.
  if (!std::isfinite(sizes.back())) return {sizes.back(), sizes.back()};
  const auto total = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  const auto n = static_cast<double>(sizes.size());
  std::array best{total / n, total / n};
  double most = total * total / n, below = 0, count = 0;
  for (const auto size : sizes.first(sizes.size() - 1)) {
    below += static_cast<double>(size);
    const auto low = below / ++count, high = (total - below) / (n - count);
    const auto gain = low * below + high * (total - below);
    if (gain > most) most = gain, best = {low, high};
  }
  return {static_cast<float>(best[0]), static_cast<float>(best[1])};
}

// Only the largest changes of a block, a given share of them, and each in two bits: its sign, and
// which of two levels is nearer to its size. The levels are chosen anew for each chunk. What is not
// sent, and what rounding to a level loses, stays in the residual and comes with later updates
// (error feedback). Hence for changes only, and a client that dies takes its residual with it.
//
// A block is a table with an entry for each kChunk values (bytes of gaps and number of values, 16
// bits each; two levels, floats), and for each chunk its gaps (places.h) and its values, four to a
// byte, the first in the lowest bits: 1 for the larger level, 2 for a minus.
//
// At the usual share of 1/64 a value sent takes 8.15 bits for its place, 2 for itself and 1.5 of
// the table: 11.7, where fp32 spends 64 x 32 = 2048 on the same part of the model. That is 175
// times less. (Places as 12 bits within a chunk, and nothing else, would make it 146.)
class Sparse2 final : public Codec {
 public:
  explicit Sparse2(double share) : share_(share) {}
  std::string_view name() const override { return "sparse2"; }
  bool lossy() const override { return true; }
  bool keeps_residual() const override { return true; }

  void encode(std::span<const float> values, std::span<float> residual,
              std::string& out) const override {
    if (values.empty()) return;
    std::ranges::transform(values, residual, residual.begin(), std::plus<>());
    Largest largest(residual, share_);
    const auto table = out.size();
    out.resize(table + front_bytes(values.size()));
    for (std::size_t from = 0; from < values.size(); from += kChunk) {
      const auto part = residual.subspan(from, std::min(kChunk, values.size() - from));
      const auto head = encode_chunk(part, largest, out);
      std::memcpy(out.data() + table + from / kChunk * sizeof head, &head, sizeof head);
    }
  }

  base::Result<> check(std::string_view bytes, std::size_t size) const override {
    auto at = front_bytes(size);
    if (bytes.size() < at) return not_a_block(bytes, size);
    for (std::size_t from = 0; from < size; from += kChunk) {
      const auto head = head_at(bytes, from / kChunk);
      if (bytes.size() - at < head.bytes() ||
          !are_gaps(bytes.substr(at, head.gap_bytes), head.values, std::min(kChunk, size - from)))
        return not_a_block(bytes, size);
      at += head.bytes();
    }
    if (at != bytes.size()) return not_a_block(bytes, size);
    return {};
  }

  void decode_chunk(std::string_view bytes, std::size_t size, std::size_t from,
                    std::span<float> out) const override {
    std::ranges::fill(out, 0.F);
    const auto chunk = from / kChunk;
    auto at = front_bytes(size);
    for (std::size_t i = 0; i < chunk; ++i) at += head_at(bytes, i).bytes();
    const auto head = head_at(bytes, chunk);
    const std::array values{head.levels[0], head.levels[1], -head.levels[0], -head.levels[1]};
    const auto* codes = bytes.data() + at + head.gap_bytes;
    std::size_t taken = 0;
    for_each_place(bytes.substr(at, head.gap_bytes), [&](std::size_t place) {
      const auto four = static_cast<unsigned char>(codes[taken / 4]);
      out[place] = values[four >> 2 * (taken % 4) & 3];
      ++taken;
    });
  }

 private:
  // Takes from `values` what is sent.
  static Sparse2Head encode_chunk(std::span<float> values, Largest& largest, std::string& out) {
    std::array<std::uint16_t, kChunk> places;
    std::array<float, kChunk> sizes;
    Sparse2Head head;
    GapWriter gaps(out);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!largest.take(values[i])) {
        gaps.leave_out();
        continue;
      }
      gaps.send();
      places[head.values] = static_cast<std::uint16_t>(i);
      sizes[head.values++] =
          std::isnan(values[i]) ? std::numeric_limits<float>::infinity() : std::abs(values[i]);
    }
    head.gap_bytes = static_cast<std::uint16_t>(gaps.bytes());
    head.levels = two_levels(std::span(sizes).first(head.values));
    const auto middle = std::midpoint(head.levels[0], head.levels[1]);
    const auto codes = out.size();
    out.resize(codes + (head.values + 3UL) / 4);
    for (std::size_t k = 0; k < head.values; ++k) {
      auto& v = values[places[k]];
      const bool large = std::abs(v) > middle, minus = std::signbit(v);
      out[codes + k / 4] |= static_cast<char>(((minus ? 2 : 0) + (large ? 1 : 0)) << 2 * (k % 4));
      v -= std::copysign(head.levels[large ? 1 : 0], v);
      if (!std::isfinite(v)) v = 0;
    }
    return head;
  }

  double share_;
};

}  // namespace

std::unique_ptr<Codec> make_sparse2(const base::Arguments& given) {
  return std::make_unique<Sparse2>(given.number("share"));
}

}  // namespace souk::train
