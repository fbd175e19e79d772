#include "train/average.h"

#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "base/check.h"

namespace souk::train {
namespace {

constexpr double kPower = 10;    // Nine, and one for the integral.
constexpr double kStep = 0.005;  // Of the work: twenty looks in a tenth of it.

}  // namespace

bool RunningAverage::due(double work) const {
  return blocks_.empty() || work >= work_ * (1 + kStep);
}

void RunningAverage::add(const ParameterSnapshot& now, double work) {
  if (work <= work_ && !blocks_.empty()) return;
  if (blocks_.empty() || work_ <= 0) return restore(now.blocks, work);
  CHECK(now.blocks.size() == blocks_.size());
  const auto share = static_cast<float>(1 - std::pow(work_ / work, kPower));
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const auto& from = *now.blocks[i];
    CHECK(from.size() == blocks_[i]->size());
    if (now.blocks[i] == blocks_[i]) continue;  // It has not changed since the first look.
    Block next(std::span(blocks_[i]->data(), blocks_[i]->size()));
    const auto values = next.change();
    for (std::size_t k = 0; k < values.size(); ++k) values[k] += share * (from[k] - values[k]);
    blocks_[i] = std::make_shared<const Block>(std::move(next));
  }
  work_ = work;
}

void RunningAverage::restore(Blocks blocks, double work) {
  blocks_ = std::move(blocks);
  work_ = work;
}

}  // namespace souk::train
