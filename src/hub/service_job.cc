#include "hub/service_job.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/kill_point.h"
#include "hub/stores/stores.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

base::Failure not_begun() {
  return fail(Code::not_found, "the job has no parameters yet", "PUT them first");
}

}  // namespace

Result<train::PackedBlocks> ServiceJob::pull(std::int64_t since,
                                             std::optional<std::size_t> from) const {
  SOUK_ASSIGN(const auto taken, store_->take());
  if (taken.blocks.empty()) return not_begun();
  if (from) return train::share_piece(taken, since, *from, train::kMostPiece);
  if (taken.size() * sizeof(float) > train::kMostPulledWhole)
    return fail(Code::too_large,
                fmt::format("{} parameters cannot be sent in one answer", taken.size()),
                "ask for pieces of them, with from=0");
  return train::share_changed(taken, since);
}

Result<> ServiceJob::begin(const train::Aggregator& rule, std::string_view body) {
  const auto floats = body.size() / sizeof(float);
  SavedParameters saved;
  for (std::size_t at = 0; at < floats; at += train::kBlock) {
    const auto part = std::min(train::kBlock, floats - at);
    train::Block block(part);
    std::memcpy(block.change().data(), body.data() + at * sizeof(float), part * sizeof(float));
    saved.values.push_back(std::make_shared<train::Block>(std::move(block)));
  }
  for (std::size_t p = 0; p < rule.needs().planes; ++p)
    saved.planes.push_back(train::blocks_of_zeros(floats));
  const Turn folding(folding_);
  SOUK_TRY(store_->load(saved));
  const std::lock_guard lock(mutex_);
  shape_ = {floats, saved.planes.size(), saved.version};
  return {};
}

Result<Shape> ServiceJob::shape(std::int64_t base, const std::string& generation) {
  {
    const std::lock_guard lock(mutex_);
    if (shape_.size > 0 && base <= shape_.version &&
        (generation.empty() || generation == shape_.generation))
      return shape_;
  }
  SOUK_ASSIGN(const auto saved, store_->save());
  if (saved.values.empty()) return not_begun();
  const std::lock_guard lock(mutex_);
  shape_ = {size_of(saved), saved.planes.size(), saved.version, generation};
  return shape_;
}

std::optional<Shape> ServiceJob::known_shape() const {
  const std::lock_guard lock(mutex_);
  return shape_.size > 0 ? std::optional(shape_) : std::nullopt;
}

void ServiceJob::fold(QueuedUpdate update) {
  if (update.prepared) {
    Turn folding(folding_, std::defer_lock);
    if (folding.try_lock()) {
      if (const auto version = store_->commit_prepared(*update.prepared, update.contribution)) {
        {
          const std::lock_guard lock(mutex_);
          shape_.version = *version;
        }
        base::kill_point("update-folded");
        return update.answer(*version);
      }
    }
    update.prepared.reset();
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(update));
  }
  fold_waiting();
}

void ServiceJob::fold_waiting() {
  const Turn folding(folding_);
  while (true) {
    auto batch = take_batch();
    if (batch.empty()) return;
    std::vector<Contribution> contributions;
    contributions.reserve(batch.size());
    for (auto& w : batch) contributions.push_back(std::move(w.contribution));
    const auto version = store_->fold(*batch.front().rule.rule, contributions);
    {
      const std::lock_guard lock(mutex_);
      if (version)
        shape_.version = *version;
      else
        shape_ = {};  // Perhaps another hub has begun anew.
    }
    base::kill_point("update-folded");
    for (const auto& w : batch) w.answer(version);
  }
}

// Those in front that are folded by the same aggregator, and fit.
std::vector<QueuedUpdate> ServiceJob::take_batch() {
  const std::lock_guard lock(mutex_);
  std::vector<QueuedUpdate> out;
  while (!waiting_.empty() && (out.empty() || waiting_.front().rule.key == out.front().rule.key)) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (shape_.size == 0 || (next.contribution.update.size() == shape_.size &&
                             next.rule.rule->needs().planes == shape_.planes))
      out.push_back(std::move(next));
    else
      next.answer(fail(Code::conflict, "the parameters have begun anew meanwhile"));
  }
  return out;
}

}  // namespace souk::hub
