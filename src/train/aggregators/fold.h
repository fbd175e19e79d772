#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "base/check.h"
#include "train/aggregators/aggregator.h"
#include "train/lanes.h"

// What aggregators share: walking over parameters and updates chunk by chunk, so that each chunk is
// read from memory once and everything done to it happens in the nearest cache. The loops of
// aggregators run over plain pointers without branches, which compilers vectorise, or are those of
// lanes.h. No two operations are merged into one that rounds once (the build is for plain x86-64),
// so results agree on all processors.

namespace souk::train {

inline constexpr std::size_t kMostPlanes = 2;

// The part of the parameters, and of the planes of an aggregator, that is being folded.
struct Chunk {
  std::size_t block = 0, from = 0, size = 0;
  float* w = nullptr;
  std::array<float*, kMostPlanes> plane = {};
};

// Calls each(chunk) for all of `p`, and ends the fold. It counts as `folds`, and the blocks get the
// version of the last.
template <class Each>
void for_each_chunk(Parameters& p, std::size_t folds, Each each) {
  CHECK(p.planes() <= kMostPlanes);
  for (std::size_t k = 1; k < folds; ++k) p.advance();
  for (std::size_t i = 0; i < p.count(); ++i) {
    const auto w = p.change(i);
    std::array<float*, kMostPlanes> planes = {};
    for (std::size_t k = 0; k < p.planes(); ++k) planes[k] = p.change_plane(k, i).data();
    for (std::size_t from = 0; from < w.size(); from += kChunk) {
      Chunk chunk{i, from, std::min(kChunk, w.size() - from), w.data() + from, {}};
      for (std::size_t k = 0; k < p.planes(); ++k) chunk.plane[k] = planes[k] + from;
      each(chunk);
    }
  }
  p.advance();
}

// What is behind `chunk` is not read again: an update may lie in a file that is larger than memory.
inline void let_go_behind(std::span<const Update> updates, const Chunk& chunk) {
  if (chunk.from != 0 || chunk.block == 0) return;
  for (const auto& u : updates) {
    u.let_go(chunk.block - 1);
    if (!u.base.empty()) u.base[chunk.block - 1]->let_go();
  }
}

// For aggregators of arity 1: calls each(k, chunk, values of update k) for the updates in their
// order, and counts each as one fold.
template <class Each>
void fold_each(Parameters& p, std::span<const Update> updates, Each each) {
  for (const auto& u : updates) CHECK(u.size() == p.size());
  std::vector<float> scratch(kChunk);
  for_each_chunk(p, updates.size(), [&](const Chunk& chunk) {
    let_go_behind(updates, chunk);
    for (std::size_t k = 0; k < updates.size(); ++k)
      each(k, chunk, updates[k].chunk(chunk.block, chunk.from, scratch).data());
  });
}

// For buffered aggregators: calls step(chunk, sum), sum being that of the updates times their
// factors. What has the factor zero is not read, so that nothing in it matters.
template <class Step>
void fold_sum(Parameters& p, std::span<const Update> updates, std::span<const float> factors,
              Step step) {
  CHECK(updates.size() == factors.size());
  for (const auto& u : updates) CHECK(u.size() == p.size());
  std::vector<float> scratch(kChunk), sums(kChunk);
  for_each_chunk(p, 1, [&](const Chunk& chunk) {
    let_go_behind(updates, chunk);
    auto* sum = sums.data();
    std::fill_n(sum, chunk.size, 0.F);
    for (std::size_t k = 0; k < updates.size(); ++k) {
      if (factors[k] == 0) continue;
      const auto values = updates[k].chunk(chunk.block, chunk.from, scratch);
      add_times(sum, values.data(), factors[k], values.size());
    }
    step(chunk, sum);
  });
}

// Each update's share of the samples; the same for all where none has any.
[[nodiscard]] inline std::vector<float> shares_by_weight(std::span<const Update> updates) {
  double total = 0;
  for (const auto& u : updates) total += std::max(0.0, u.weight);
  std::vector<float> out;
  for (const auto& u : updates)
    out.push_back(static_cast<float>(total > 0 ? std::max(0.0, u.weight) / total
                                               : 1.0 / static_cast<double>(updates.size())));
  return out;
}

}  // namespace souk::train
