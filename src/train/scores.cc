#include "train/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "train/lanes.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

constexpr double kDeviation = 1.5;       // Spreads.
constexpr double kTooFar = 5;            // Deviations.
constexpr double kLeastDeviation = 0.1;  // Of what is usual: few scores may be alike by chance.
constexpr double kLossRounding = 1e-7;   // Of a loss.
constexpr int kProbation = 3;            // Good scores in a row, after one that was refused.
constexpr std::size_t kMostSuspected = 1'000;

}  // namespace

ParameterSnapshot with_update(const ParameterSnapshot& now, const Update& update, Sends sends) {
  CHECK(update.count() == now.blocks.size());
  const auto share = 1.0F / static_cast<float>(std::max(update.at_work, 1));
  auto out = now;
  std::vector<float> scratch(kChunk);
  for (std::size_t i = 0; i < out.blocks.size(); ++i) {
    Block block(std::span(now.blocks[i]->data(), now.blocks[i]->size()));
    const auto weights = block.change();
    for (std::size_t from = 0; from < weights.size(); from += kChunk) {
      const auto values = update.chunk(i, from, scratch);
      for (std::size_t k = 0; k < values.size(); ++k) {
        auto& w = weights[from + k];
        w += share * (sends == Sends::weights ? values[k] - w : values[k]);
      }
    }
    out.blocks[i] = std::make_shared<const Block>(std::move(block));
  }
  return out;
}

double Score::rise() const {
  const auto size = std::max(std::abs(before), 1e-12);
  return (after - before) / size / static_cast<double>(std::max<std::int64_t>(steps, 1));
}

bool Scores::choose(std::int64_t worker, std::int64_t streak, base::Random& random) const {
  if (notes_.size() < kEnoughScores || suspected_.contains(worker)) return true;
  return Replication(share_).check(streak, random);
}

std::string Scores::judge(const Score& score) const {
  if (!std::isfinite(score.after) || !std::isfinite(score.before))
    return "with it the loss is no finite number";
  std::deque<double> others;
  for (const auto& note : notes_)
    if (note.worker != score.worker) others.push_back(note.rise);
  if (others.size() < kEnoughScores) return "";
  const auto usual = median(others);
  const auto deviation =
      std::max(kDeviation * spread(others), kLeastDeviation * std::abs(usual)) + kLossRounding;
  if (score.rise() <= usual + kTooFar * deviation) return "";
  return fmt::format(
      "it takes the loss on held-out samples from {:.6g} to {:.6g}: {:.3g} of it a step, where "
      "{:.3g} is usual and up to {:.3g} is accepted",
      score.before, score.after, score.rise(), usual, usual + kTooFar * deviation);
}

void Scores::note(const Score& score, bool refused) {
  if (std::isfinite(score.rise())) notes_.push_back({score.worker, score.rise()});
  if (notes_.size() > kRemembered) notes_.pop_front();
  if (refused) {
    suspected_[score.worker] = kProbation;
    if (suspected_.size() > kMostSuspected) suspected_.erase(suspected_.begin());
  } else if (const auto it = suspected_.find(score.worker); it != suspected_.end()) {
    if (--it->second == 0) suspected_.erase(it);
  }
}

}  // namespace souk::train
