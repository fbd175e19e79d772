#include "train/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <span>

#include "base/check.h"

namespace souk::train {
namespace {

using base::Code;
using base::fail;

constexpr double kMostLengths = 100;
// Rounding of different processors, through some dozens of layers.
constexpr double kSame = 0.02;

double length(const std::vector<float>& values) {
  double sum = 0;
  for (const auto v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum);
}

// The parts of `runs` that lie in block `i`: where in the block, where in the state, how many.
void for_each_part(
    const StateRuns& runs, std::size_t i,
    const std::function<void(std::size_t in_block, std::size_t in_state, std::size_t size)>& use) {
  const auto first = i * kBlock, last = first + kBlock;
  std::size_t before = 0;
  for (const auto& run : runs.runs) {
    const auto from = std::max(run.at, first), to = std::min(run.at + run.size, last);
    if (from < to) use(from - first, before + (from - run.at), to - from);
    before += run.size;
  }
}

bool touches(const StateRuns& runs, std::size_t i) {
  bool out = false;
  for_each_part(runs, i, [&](std::size_t, std::size_t, std::size_t) { out = true; });
  return out;
}

}  // namespace

std::size_t StateRuns::size() const {
  return std::accumulate(runs.begin(), runs.end(), std::size_t{0},
                         [](std::size_t sum, const Run& run) { return sum + run.size; });
}

StateRuns state_runs(const Layout& layout) {
  StateRuns out;
  std::size_t at = 0;
  for (const auto& tensor : layout.tensors) {
    const auto size = Layout{{tensor}}.size();
    if (tensor.state && !out.runs.empty() && out.runs.back().at + out.runs.back().size == at)
      out.runs.back().size += size;
    else if (tensor.state)
      out.runs.push_back({at, size});
    at += size;
  }
  return out;
}

base::Result<std::vector<float>> measured_state(const StateRuns& runs,
                                                const ParameterSnapshot& base,
                                                const Update& change) {
  CHECK(change.count() == base.blocks.size());
  std::vector<float> before(runs.size()), after(runs.size()), scratch(kBlock);
  for (std::size_t i = 0; i < base.blocks.size(); ++i) {
    if (!touches(runs, i)) continue;
    const auto values = change.block(i, scratch);
    const auto& block = *base.blocks[i];
    for_each_part(runs, i, [&](std::size_t in_block, std::size_t in_state, std::size_t size) {
      for (std::size_t k = 0; k < size; ++k) {
        before[in_state + k] = block[in_block + k];
        after[in_state + k] = block[in_block + k] + values[in_block + k];
      }
    });
  }
  const auto found = length(after);
  if (!std::isfinite(found))
    return fail(Code::invalid, "the model's statistics are not finite", "the trainer's, not yours");
  // A model that has not learnt yet has variances of one, so no state is short.
  const auto most = kMostLengths * (length(before) + std::sqrt(static_cast<double>(after.size())));
  if (found > most)
    return fail(
        Code::invalid,
        fmt::format("the model's statistics have a length of {:.3g}; at most {:.3g} is believed",
                    found, most),
        "the trainer's, not yours");
  return after;
}

bool same_state(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  auto difference = a;
  std::ranges::transform(a, b, difference.begin(), std::minus<>());
  return length(difference) <= kSame * std::max(length(a), length(b));
}

ParameterSnapshot with_state(const ParameterSnapshot& base, const StateRuns& runs,
                             const std::vector<float>& state, std::int64_t version) {
  CHECK(state.size() == runs.size());
  auto out = base;
  for (std::size_t i = 0; i < out.blocks.size(); ++i) {
    if (!touches(runs, i)) continue;
    Block block(std::span(base.blocks[i]->data(), base.blocks[i]->size()));
    const auto values = block.change();
    for_each_part(runs, i, [&](std::size_t in_block, std::size_t in_state, std::size_t size) {
      std::copy_n(state.begin() + static_cast<std::ptrdiff_t>(in_state), size,
                  values.begin() + static_cast<std::ptrdiff_t>(in_block));
    });
    out.blocks[i] = std::make_shared<const Block>(std::move(block));
  }
  out.version = version;
  out.versions.assign(out.blocks.size(), version);
  return out;
}

}  // namespace souk::train
