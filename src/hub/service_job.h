#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/run/turns.h"
#include "hub/stores/store.h"
#include "train/codecs/codec.h"
#include "train/pull.h"

namespace souk::hub {

// An aggregator as a request names it, and the text by which two of them are the same.
struct NamedRule {
  std::shared_ptr<const train::Aggregator> rule;
  std::string key;
};

// What updates of a job must fit.
struct Shape {
  std::size_t size = 0, planes = 0;
  std::int64_t version = 0;
  std::string generation = {};  // That was asked about, if any.
};

// An update on its way, and who waits for it.
struct QueuedUpdate {
  Contribution contribution;
  NamedRule rule;
  std::shared_ptr<const train::Codec> codec;  // The update reads through it.
  std::unique_ptr<PreparedFold> prepared = {};
  std::function<void(const base::Result<std::int64_t>& version)> answer = {};
};

// The parameters of one job at a hub service. Thread-safe.
class ServiceJob {
 public:
  explicit ServiceJob(std::unique_ptr<ParameterStore> store) : store_(std::move(store)) {}

  base::Result<train::PackedBlocks> pull(std::int64_t since, std::optional<std::size_t> from) const;
  base::Result<> begin(const train::Aggregator& rule, std::string_view body);

  // Asks the store when it is not known, older than `base`, or perhaps of another generation.
  base::Result<Shape> shape(std::int64_t base, const std::string& generation);
  // As last heard, without asking.
  [[nodiscard]] std::optional<Shape> known_shape() const;

  // Takes the update's fold if it was prepared, and else folds it; whoever comes first folds for
  // all who wait behind.
  void fold(QueuedUpdate update);
  void prepare(PreparedFold& prepared, const train::Update& update) {
    store_->prepare(prepared, update);
  }

  // Bodies that are arriving. One that is alone is worth preparing: with others on their way it is
  // folded together with them.
  std::atomic<int> arriving = 0;

 private:
  void fold_waiting();
  std::vector<QueuedUpdate> take_batch();

  const std::unique_ptr<ParameterStore> store_;
  Turns folding_;             // Whoever folds does so in turn.
  mutable std::mutex mutex_;  // Guards what follows.
  Shape shape_;               // As last heard.
  std::deque<QueuedUpdate> waiting_;
};

}  // namespace souk::hub
